"""Makes a comparison of two sides: pairs their tasks, works out the differences, and says how sure they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rollout.analysis.bootstrap import mean_interval, spread
from rollout.analysis.compare import (
    Comparison,
    Contrast,
    Count,
    Direction,
    Estimate,
    Margin,
    Pair,
    Power,
    Side,
    Slice,
    Tally,
)
from rollout.analysis.inference import (
    holm,
    mcnemar,
    minimum_detectable,
    newcombe,
    sign_flip,
    tasks_needed,
    trials_needed,
    within_task_variance,
)
from rollout.engine import Outcome
from rollout.engine.inputs import changes

MCNEMAR, FLIPS = "exact McNemar", "paired permutation"
"""The names of the tests: the first where each task has one trial in either run, the second otherwise."""

_LEAST_TASKS = 6
"""Fewer never show a difference: signs of five can be flipped in 32 ways, and two of them are as extreme as any."""


def compare(baseline: Side, trained: Side, *, margin: float | None = None) -> Comparison:
    """What the trained run is against the baseline. ``margin`` is by how much the pass rate may be lower, over 0.

    The versions need not be the same: whoever asks for it says so, by :func:`other_version`.
    """
    before, after = _by_content(baseline), _by_content(trained)
    versions = other_version(baseline, trained)
    undone = [
        was
        for content, was in before.items()
        if was.graded and content not in after and _has_same_tasks(baseline, trained, versions)
    ]
    both = [(before[content], after[content]) for content in before if content in after]
    pairs = sorted(
        (_pair(was, now) for was, now in both if was.graded and now.graded),
        key=lambda pair: (pair.difference, pair.score_difference, pair.interval.high, pair.name),
    )
    rate, score = _questions(pairs) if pairs else (None, None)
    return Comparison(
        baseline=_tally(baseline),
        trained=_tally(trained),
        pairs=pairs,
        pass_rate=rate,
        score=score,
        no_grade=_no_grade(both),
        slices=_slices(pairs),
        power=None if rate is None else _power(pairs, rate),
        margin=None if margin is None else _margin(margin, both, undone),
        lost=[now.name for was, now in both if was.graded and not now.graded],
        ungraded=[now.name for was, now in both if not was.graded],
        only_baseline=[each.name for content, each in before.items() if content not in after],
        only_trained=[each.name for content, each in after.items() if content not in before],
        undone=[was.name for was in undone],
        merged=_merged(before, after),
        versions=versions,
        settings=changes(baseline.settings, trained.settings),
        is_version_known=bool(baseline.digest or trained.digest),
        pairing=max(baseline.pairing, trained.pairing),
        is_itself=bool(baseline.run) and baseline.run == trained.run,
    )


def is_other_environment(baseline: Side, trained: Side) -> bool:
    """Whether two runs are of different environments: by name, or by what an endpoint knows them by."""
    if baseline.environment != trained.environment:
        return True
    return bool(baseline.identity and trained.identity) and baseline.identity != trained.identity


def other_version(baseline: Side, trained: Side) -> list[str]:
    """What differs of the environment that two runs are of, by its name; empty where they are of the same."""
    differing = [
        name
        for name in ("environment", "tasks", "verifier")
        if name in baseline.parts and name in trained.parts and baseline.parts[name] != trained.parts[name]
    ]
    if baseline.digest != trained.digest or (not baseline.digest and is_other_environment(baseline, trained)):
        return differing or ["environment"]
    # Only what tasks are called can still be another: all else of them is in the digest.
    return [name for name in differing if name != "tasks"]


def _has_same_tasks(baseline: Side, trained: Side, versions: Sequence[str]) -> bool:
    known = baseline.parts.get("tasks")
    return not versions or (known is not None and known == trained.parts.get("tasks"))


@dataclass(slots=True)
class _Tries:
    """The rollouts of one task, whatever it is called."""

    content: str
    split: str
    template: str
    names: dict[str, None] = field(default_factory=dict)
    passed: int = 0
    graded: int = 0
    all: int = 0
    score: float = 0.0

    @property
    def name(self) -> str:
        return next(iter(self.names))

    def count(self) -> Count:
        return Count(self.passed, self.graded, self.all, min(1.0, self.score / self.graded))


def _by_content(side: Side) -> dict[str, _Tries]:
    found: dict[str, _Tries] = {}
    for each in side.rollouts:
        tries = found.get(each.content)
        if tries is None:
            tries = found[each.content] = _Tries(each.content, each.split, each.template)
        tries.names[each.task] = None
        tries.all += 1
        if each.score is not None:
            tries.graded += 1
            tries.passed += each.outcome is Outcome.PASSED
            tries.score += each.score
    return found


def _merged(*sides: dict[str, _Tries]) -> list[list[str]]:
    groups = {tuple(tries.names): None for side in sides for tries in side.values() if len(tries.names) > 1}
    return [list(names) for names in groups]


def _tally(side: Side) -> Tally:
    outcomes = Counter(each.outcome for each in side.rollouts)

    def charged(outcome: Outcome, otherwise: str) -> dict[str, int]:
        who = Counter(each.charged_to or otherwise for each in side.rollouts if each.outcome is outcome)
        return dict(sorted(who.items()))

    return Tally(
        side.label,
        side.model,
        side.environment,
        side.digest,
        len(side.rollouts),
        outcomes[Outcome.PASSED],
        outcomes[Outcome.FAILED],
        charged(Outcome.ERROR, "infrastructure"),
        charged(Outcome.UNSCORED, "verifier"),
        side.unfinished,
    )


def _pair(was: _Tries, now: _Tries) -> Pair:
    before, after = was.count(), now.count()
    interval = newcombe(before.passed, before.graded, after.passed, after.graded)
    assert interval is not None
    return Pair(
        now.name,
        now.content,
        now.split,
        now.template,
        before,
        after,
        round(after.rate - before.rate, 12),
        interval,
        round(after.mean_score - before.mean_score, 12),
    )


class _Values(NamedTuple):
    before: list[float]
    after: list[float]
    differences: list[float]


def _values(pairs: Sequence[Pair], of: Callable[[Count], float]) -> _Values:
    before, after = [of(pair.baseline) for pair in pairs], [of(pair.trained) for pair in pairs]
    # Thirds that are equal on paper are to be equal here, since equal ones are counted together.
    differences = [round(now - was, 12) for was, now in zip(before, after, strict=True)]
    return _Values(before, after, differences)


def _estimate(values: Sequence[float], low: float, high: float) -> Estimate:
    interval = mean_interval(values, low, high)
    assert interval is not None
    return Estimate(sum(values) / len(values), interval)


def _contrast(values: _Values, test: str, p: float) -> Contrast:
    return Contrast(
        len(values.differences),
        _estimate(values.before, 0.0, 1.0),
        _estimate(values.after, 0.0, 1.0),
        _estimate(values.differences, -1.0, 1.0),
        test,
        p,
    )


def _rates(pairs: Sequence[Pair]) -> Contrast:
    values = _values(pairs, lambda count: count.rate)
    if all(pair.baseline.graded == pair.trained.graded == 1 for pair in pairs):
        worse, better = (sum(each == sign for each in values.differences) for sign in (-1, 1))
        return _contrast(values, MCNEMAR, mcnemar(worse, better))
    return _permuted(values)


def _questions(pairs: Sequence[Pair]) -> tuple[Contrast, Contrast]:
    """Pass rate and score. Where no task's score says other than whether it passed, the two are one question; else a
    verdict may come of either, and Holm's adjustment keeps it as rarely wrong as one test would be."""
    rate, score = _rates(pairs), _permuted(_values(pairs, lambda count: count.mean_score))
    if all(pair.score_difference == pair.difference for pair in pairs):
        return rate, score
    first, second = holm([rate.p, score.p])
    return replace(rate, adjusted=first), replace(score, adjusted=second)


def _permuted(values: _Values) -> Contrast:
    found = sign_flip(values.differences)
    return _contrast(
        values, FLIPS if found.draws is None else f"{FLIPS}, {found.draws:,} drawn from seed 0", found.p
    )


def _slices(pairs: Sequence[Pair]) -> list[Slice]:
    found: list[Slice] = []
    kinds: dict[str, Callable[[Pair], str]] = {
        "split": lambda pair: pair.split,
        "template": lambda pair: pair.template,
    }
    for by, of in kinds.items():
        names = sorted({of(pair) for pair in pairs})
        if len(names) > 1:
            found += [Slice(by, name, _rates([pair for pair in pairs if of(pair) == name])) for name in names]
    adjusted = holm([each.contrast.p for each in found])
    told = [
        replace(each, contrast=replace(each.contrast, adjusted=p))
        for each, p in zip(found, adjusted, strict=True)
    ]
    order = (Direction.WORSE, Direction.UNDECIDED, Direction.BETTER)
    return sorted(
        told, key=lambda each: (order.index(each.contrast.direction), each.contrast.difference.value)
    )


def _no_grade(both: Sequence[tuple[_Tries, _Tries]]) -> Contrast | None:
    if not both:
        return None
    before, after = ([1 - tries.graded / tries.all for tries in side] for side in zip(*both, strict=True))
    differences = [round(now - was, 12) for was, now in zip(before, after, strict=True)]
    return _permuted(_Values(before, after, differences))


def _margin(size: float, both: Sequence[tuple[_Tries, _Tries]], undone: Sequence[_Tries]) -> Margin:
    """That it is not worse by so much, as in G. Piaggio and others, “Reporting of Noninferiority and Equivalence
    Randomized Trials: Extension of the CONSORT 2010 Statement”, JAMA 308 (2012), p. 2594–2604: by the lower end of the
    two-sided 95 % interval. What has no grade is taken at its worst, as C. F. Manski, “Nonparametric Bounds on
    Treatment Effects”, The American Economic Review 80 (1990), p. 319–323, bounds what was not observed.

    Of pass rate and score each has to be shown, so neither is adjusted: R. L. Berger, “Multiparameter Hypothesis
    Testing and Acceptance Sampling”, Technometrics 24 (1982), p. 295–300."""
    if not any(was.graded and now.graded for was, now in both):
        return Margin(size, None)
    rates = [round(now.passed / now.all - was.passed / was.graded, 12) for was, now in both if was.graded]
    rates += [round(-was.passed / was.graded, 12) for was in undone]
    scores = [round(now.score / now.all - was.score / was.graded, 12) for was, now in both if was.graded]
    scores += [round(-was.score / was.graded, 12) for was in undone]
    return Margin(
        size, _estimate(rates, -1.0, 1.0), None if scores == rates else _estimate(scores, -1.0, 1.0)
    )


def _power(pairs: Sequence[Pair], rate: Contrast) -> Power:
    differences = _values(pairs, lambda count: count.rate).differences
    varies = spread(differences, -1.0, 1.0)
    detectable = minimum_detectable(varies, len(pairs))
    seen = rate.difference.value
    open_ = rate.direction is Direction.UNDECIDED and seen != 0
    return Power(
        detectable if detectable < 1 and len(pairs) >= _LEAST_TASKS else None,
        max(tasks_needed(varies, seen), len(pairs) + 1, _LEAST_TASKS) if open_ else None,
        _trials(pairs, varies, seen) if open_ and len(pairs) >= _LEAST_TASKS else None,
    )


def _trials(pairs: Sequence[Pair], varies: float, seen: float) -> int | None:
    sides = [[pair.baseline for pair in pairs], [pair.trained for pair in pairs]]
    within, noise = 0.0, 0.0
    for counts in sides:
        variance = within_task_variance([(count.passed, count.graded) for count in counts])
        if variance is None:
            return None
        within += variance
        noise += variance * sum(1 / count.graded for count in counts) / len(counts)
    trials = trials_needed(max(0.0, varies**2 - noise), within, len(pairs), seen)
    most = max(count.graded for counts in sides for count in counts)
    # As many as there are have not settled it.
    return None if trials is None else max(trials, most + 1)


__all__ = ["FLIPS", "MCNEMAR", "compare", "is_other_environment", "other_version"]
