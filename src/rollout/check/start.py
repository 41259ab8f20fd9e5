"""What an agent that does nothing comes to: the score that is certain before any rollout."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from rollout.check.certainty import certain_outcome
from rollout.check.fields import fields_called, start_value
from rollout.check.grading import judging
from rollout.check.site import urls
from rollout.check.subject import Item, Subject
from rollout.language.compare import compare, lacking
from rollout.language.paths import MISSING, PathError, get, parse
from rollout.language.score import exact, reaches
from rollout.language.site import EmptyTruthError, compare_field, find_page, truth_by_key


def judged_by_state(subject: Subject) -> bool:
    """Whether the final state has to match each task's ground truth, key by key."""
    if not subject.is_stateful:
        return False
    if subject.document.value.get("verifier") is None:
        return True
    return any(each.value.get("type") == "ground_truth_match" for each in subject.primitives)


_OF_WORDS = frozenset({"answer_match", "contains_terms", "output_equals", "output_json", "output_matches"})


@dataclass(slots=True)
class IdleScore:
    """The least score of an agent that makes no call and says nothing.

    ``sure`` are the weights of the primitives it certainly satisfies, ``by_truth`` of those it satisfies in tasks
    whose ground truth already holds; ``comparisons`` are the options of the latter. ``names`` are those of the former.
    ``turned`` are weights and options of those it satisfies in tasks whose ground truth does not hold (``not: true``).
    """

    total: Fraction = Fraction(0)
    sure: Fraction = Fraction(0)
    by_truth: Fraction = Fraction(0)
    threshold: float = 1.0
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    turned: list[tuple[Fraction, dict[str, Any]]] = field(default_factory=list)

    def passes(self, *, with_ground_truth: bool = False) -> bool:
        """Whether that score is enough to pass."""
        reached = self.sure + (self.by_truth if with_ground_truth else 0)
        return self.total > 0 and reaches(reached / self.total, self.threshold)

    def passes_by_difference(self, truth: dict[str, Any], state: dict[str, Any]) -> bool:
        """Whether it is enough in a task whose ground truth must not be met, and is not at the start."""
        reached = self.sure + sum(
            weight for weight, options in self.turned if differs_from_start(truth, state, options)
        )
        return self.total > 0 and reaches(reached / self.total, self.threshold)


def idle_score(subject: Subject) -> IdleScore | None:
    """The idle agent's score; None where it cannot be said before the rollout.

    Primitives that no rollout can fail are left out: that they pass is a defect of theirs, not of the start state.
    """
    is_site = subject.template == "browser"
    part = () if is_site else (subject.state_key,)
    if not (subject.is_stateful or is_site) or not subject.is_sound("config", *part):
        return None
    if subject.document.value.get("verifier") is None:
        if is_site:
            return None  # truth_holds decides
        return IdleScore(total=Fraction(1), by_truth=Fraction(1), comparisons=[{}])
    if not subject.is_sound("verifier"):
        return None
    verifier = subject.verifier or {}
    score = IdleScore(threshold=float(verifier.get("passThreshold", 1)))
    for primitive in subject.primitives:
        weight = exact(primitive.value.get("weight", 1))
        certain = certain_outcome(subject, primitive)
        if weight <= 0 or (certain is not None and certain.passes):
            continue
        score.total += weight
        turned = primitive.value.get("not") is True
        if primitive.value.get("type") == "ground_truth_match":
            if turned and not is_site:
                score.turned.append((weight, comparison(primitive.value)))
            elif not is_site:
                score.by_truth += weight
                score.comparisons.append(comparison(primitive.value))
        elif lets_idle_pass(subject, primitive):
            score.sure += weight
            score.names.append(str(primitive.value.get("name")))
    return score


def comparison(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a primitive as :func:`rollout.language.compare.compare` takes them."""
    return {
        "ignore_order": options.get("ignoreOrder") is True,
        "tolerance": options.get("tolerance", 0.0),
        "subset": options.get("subset") is True,
    }


def matches_start(truth: dict[str, Any], state: dict[str, Any], options: dict[str, Any]) -> bool:
    """Whether every key of the ground truth is in the start state already, by the terms of ground_truth_match."""
    return all(compare(wanted, state.get(name, MISSING), **options) is None for name, wanted in truth.items())


def differs_from_start(truth: dict[str, Any], state: dict[str, Any], options: dict[str, Any]) -> bool:
    """Whether the start state is another, though all is there that the ground truth names: ``not`` asks for both."""
    is_whole = lacking(truth, state, ignore_order=options["ignore_order"]) is None
    return is_whole and not matches_start(truth, state, options)


def truth_holds(subject: Subject) -> Callable[[Any], bool] | None:
    """Says of a ground truth of files, or of a site, whether it lets the start pass; None where it does not decide.

    It decides where all primitives that count compare it. A task without a ground truth holds nowhere.
    """
    counted = [each.value for each in judging(subject) if each.value.get("weight", 1) != 0]
    if not counted or not subject.is_sound("config") or not subject.is_sound("verifier"):
        return None
    kinds = {each.get("type") for each in counted}
    turned = {each.get("not") is True for each in counted}
    if len(turned) > 1 or any(each.keys() & {"files", "groundTruth"} for each in counted):
        return None
    holds: Callable[[Any], bool | None] | None = None
    if subject.template == "code-editing" and kinds <= {"ground_truth_match", "files_match"}:
        files = subject.files
        holds = lambda truth: _files_hold(truth, files, turned=True in turned)  # noqa: E731
    elif subject.template == "browser" and kinds == {"ground_truth_match"}:
        holds = _site_holds(subject, [comparison(each) for each in counted], turned=True in turned)
    if holds is None:
        return None
    wanted = True not in turned
    return lambda truth: holds(truth) is wanted


def _files_hold(truth: Any, files: dict[str, Any], *, turned: bool) -> bool | None:
    wanted = truth.get("files") if isinstance(truth, dict) else None
    if not isinstance(wanted, dict) or not wanted:
        return None
    if turned and any(content is not None and path not in files for path, content in wanted.items()):
        return None  # it passes neither way
    return all(files.get(path) == wanted[path] for path in wanted)


def _site_holds(
    subject: Subject, options: list[dict[str, Any]], *, turned: bool
) -> Callable[[Any], bool | None] | None:
    start = _first_page(subject)
    if start is None:
        return None
    own: dict[str, Any] = {"url": start.text("url"), "title": start.value.get("title")}
    state = subject.initial_state | own

    def holds(truth: Any) -> bool | None:
        # What stands in fields is for the world to say; a title that is filled in, too.
        if not isinstance(truth, dict) or not truth or "values" in truth or (turned and "title" in truth):
            return None
        try:
            flat = truth_by_key(truth, subject.initial_state)
        except EmptyTruthError:
            return None
        if turned and lacking(flat, state) is not None:
            return None  # it passes neither way
        found = [matches_start(flat, state, each) for each in options]
        # Where each has to be missed, one that is met is enough.
        return any(found) if turned else all(found)

    return holds


def lets_idle_pass(subject: Subject, primitive: Item) -> bool:
    """Whether an agent that makes no call certainly passes the primitive, ``not`` applied."""
    satisfied, turned = _satisfied(subject, primitive), primitive.value.get("not") is True
    if turned and primitive.value.get("type") in _OF_WORDS:
        return False  # it says nothing, which “not” makes no pass of
    return satisfied is not None and satisfied is not turned


def _satisfied(subject: Subject, primitive: Item) -> bool | None:
    """Whether an idle agent satisfies the primitive, before ``not``; None where that is not certain."""
    value = primitive.value
    match value.get("type"):
        case "no_tool_errors" | "tool_not_called" | "state_unchanged":
            return True
        case "tool_was_called" | "tool_called_with":
            return False
        case "tool_order":
            return False if value.get("tools") else None
        case "tool_call_count":
            return not value.get("min", 0) > 0
        case "calls_match":
            return False if value.get("calls") else None
        case "output_equals" if value.get("expected") not in (None, ""):
            return False
        case "output_json":
            return False
        case "output_matches" if isinstance(pattern := value.get("pattern"), str):
            return _matches_nothing(pattern)
        case "contains_terms" if value.get("field", "finalOutput") == "finalOutput":
            return False if value.get("terms") else None
        case "state_match" if subject.is_stateful:
            return _state_matches(subject.initial_state, value)
        case "page_reached" if (start := _first_page(subject)) is not None:
            return value.get("url") == start.text("url")
        case "element_value" if (start := _first_page(subject)) is not None:
            return _holds_at_first(start, value)
    return None


def _matches_nothing(pattern: str) -> bool | None:
    """Whether a pattern is found in no text at all, which is what an idle agent says."""
    try:
        return re.search(pattern, "") is not None
    except (re.error, OverflowError, RecursionError):
        return None


def _first_page(subject: Subject) -> Item | None:
    """The page that a site opens at; None where that is not plain to see."""
    start = find_page(str(subject.config.get("initialUrl", "")), "", urls(subject))
    found = [page for page in subject.pages if page.text("url") == start]
    return found[0] if start is not None and len(found) == 1 else None


def _holds_at_first(page: Item, options: dict[str, Any]) -> bool | None:
    if options.get("page", page.text("url")) != page.text("url"):
        return None if options.get("not") is True else False  # cannot be judged before the page is opened
    found, by_id = fields_called(page, str(options.get("element")))
    if not found:
        return None
    value = start_value(found, by_id=by_id)
    return None if value is MISSING else compare_field(options.get("value"), value) is None


def _state_matches(state: dict[str, Any], options: dict[str, Any]) -> bool | None:
    expected = options.get("expected")
    if not isinstance(expected, dict) or not expected:
        return None
    terms, same = comparison(options), True
    for text, wanted in expected.items():
        try:
            found = get(state, parse(text).steps)
        except PathError:
            return None
        if lacking(wanted, found, ignore_order=terms["ignore_order"]) is not None:
            return None if options.get("not") is True else False  # it passes neither way
        same = same and compare(wanted, found, **terms) is None
    return same


__all__ = [
    "IdleScore",
    "comparison",
    "differs_from_start",
    "idle_score",
    "judged_by_state",
    "lets_idle_pass",
    "matches_start",
    "truth_holds",
]
