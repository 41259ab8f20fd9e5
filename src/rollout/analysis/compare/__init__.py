"""Two runs side by side: is the second better, where, how sure is that, and what would it take to know.

A :class:`Side` is a run, wherever it is kept; ``compare`` makes a :class:`Comparison` of two. Tasks are paired by their
content, and a task counts as much as any other, however many trials it has. What has no grade counts as neither passed
nor failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

from rollout.analysis.inference import SIGNIFICANT
from rollout.analysis.stats import Interval
from rollout.engine import Outcome


class Graded(NamedTuple):
    """How one rollout came out. ``content`` is the digest by which its task is found in the other run, ``task`` the
    name that people know it by. ``score`` is None unless it was graded; ``charged_to`` says whose fault that is."""

    content: str
    task: str
    outcome: Outcome
    score: float | None
    split: str
    template: str
    charged_to: str | None = None


class Pairing(IntEnum):
    """By what tasks are found in the other run; the more, the less is known: what is asked and wanted, what is asked
    (instruction and input), or their ids alone."""

    CONTENT = 0
    ASKED = 1
    ID = 2


@dataclass(frozen=True, slots=True)
class Side:
    """A run, to be compared.

    ``digest`` is of the environment, "" where nobody knows it, and ``parts`` are digests of parts of it by their names,
    as far as they are known; ``identity`` is what an endpoint knows the environment by, whatever it is called.
    ``settings`` is what it was run with besides. ``unfinished`` says in a sentence why it is not all of a run. ``run``
    is by what the run itself is known: the path of its folder, or its id.
    """

    label: str
    model: str
    environment: str
    digest: str
    rollouts: Sequence[Graded]
    parts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    unfinished: str | None = None
    identity: str = ""
    pairing: Pairing = Pairing.CONTENT
    run: str = ""


class Direction(StrEnum):
    """Which way a difference goes, if it is more than chance."""

    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"
    MIXED = "mixed"
    """Better in one of pass rate and score, and worse in the other."""


@dataclass(frozen=True, slots=True)
class Tally:
    """A run in numbers, all of its rollouts: ``errors`` and ``unscored`` by whom they are charged to."""

    label: str
    model: str
    environment: str
    digest: str
    all: int
    passed: int
    failed: int
    errors: Mapping[str, int]
    unscored: Mapping[str, int]
    unfinished: str | None

    @property
    def graded(self) -> int:
        """How many passed or failed."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True)
class Count:
    """The rollouts of one task in one run."""

    passed: int
    graded: int
    all: int
    mean_score: float

    @property
    def rate(self) -> float:
        """The pass rate of those graded."""
        return self.passed / self.graded


@dataclass(frozen=True, slots=True)
class Pair:
    """A task that both runs have a grade of. ``difference`` is of pass rates, with Newcombe's interval: of this task's
    trials alone, and not adjusted for there being many tasks. ``name`` is the trained run's."""

    name: str
    content: str
    split: str
    template: str
    baseline: Count
    trained: Count
    difference: float
    interval: Interval
    score_difference: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over tasks, and its 95 % interval."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a number is in both runs, as means over the same ``tasks``, and the difference.

    ``test`` says which test ``p`` is of; ``p`` is as it stands, and ``adjusted`` with the other questions in mind: the
    other slices, or of the pass rate the score and the other way round, unless they are one question.
    """

    tasks: int
    baseline: Estimate
    trained: Estimate
    difference: Estimate
    test: str
    p: float
    adjusted: float | None = None

    @property
    def direction(self) -> Direction:
        """Which way it goes, if the p-value lets it be said."""
        p = self.p if self.adjusted is None else self.adjusted
        if p > SIGNIFICANT or not self.difference.value:
            return Direction.UNDECIDED
        return Direction.BETTER if self.difference.value > 0 else Direction.WORSE


@dataclass(frozen=True, slots=True)
class Slice:
    """The pass rate of some of the tasks: those whose ``by`` (split or template) is ``name``."""

    by: str
    name: str
    contrast: Contrast


@dataclass(frozen=True, slots=True)
class Margin:
    """Whether it is shown that neither pass rate nor score is lower by ``size`` or more.

    ``least`` is the difference if all that has no grade in the trained run, or was not done, had failed; None where
    nothing can be compared. ``least_score`` is that of the score, with 0 for it; None where it is the same. It is shown
    when their intervals lie wholly above −size.
    """

    size: float
    least: Estimate | None
    least_score: Estimate | None = None

    @property
    def is_shown(self) -> bool:
        """Whether it is; what is not known shows nothing."""
        found = [each for each in (self.least, self.least_score) if each is not None]
        return self.least is not None and all(each.interval.low > -self.size for each in found)


@dataclass(frozen=True, slots=True)
class Power:
    """What could be found with these tasks, and what it takes to find what was seen, if it is real (8 times in 10).

    ``detectable`` is None where no difference could be. The other two are None where the matter is settled or nothing
    would do: so many tasks like these in all, with as many trials each; or so many trials of each of these tasks, in
    either run.
    """

    detectable: float | None
    tasks: int | None
    trials: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared. Regressions come first in ``pairs``.

    ``pass_rate``, ``score`` and ``power`` are None where no task has a grade in both. ``no_grade`` is the share of
    rollouts without a grade, over the tasks that were run in both, None where there are none. ``lost`` are the names of
    tasks that have a grade in the baseline and none in the trained run although they were run, ``ungraded`` those that
    were run in both and have none in the baseline; the others are in one run only. ``undone`` are those of the
    baseline's own that have a grade there and that the trained run could have done, since its version has the same
    tasks. ``merged`` are groups of names whose tasks are the same. ``versions`` names what differs of the environment,
    ``settings`` what else the runs differ in. ``is_version_known`` is False where neither says which version it is of,
    and ``pairing`` is how tasks were found. ``is_itself`` says that both are one run.
    """

    baseline: Tally
    trained: Tally
    pairs: Sequence[Pair]
    pass_rate: Contrast | None
    score: Contrast | None
    no_grade: Contrast | None
    slices: Sequence[Slice]
    power: Power | None
    margin: Margin | None
    lost: Sequence[str]
    ungraded: Sequence[str]
    only_baseline: Sequence[str]
    only_trained: Sequence[str]
    undone: Sequence[str]
    merged: Sequence[Sequence[str]]
    versions: Sequence[str]
    settings: Sequence[str]
    is_version_known: bool
    pairing: Pairing
    is_itself: bool

    @property
    def direction(self) -> Direction:
        """Whether the trained run is better, in pass rate or score and worse in neither."""
        ways = {each.direction for each in self.questions} - {Direction.UNDECIDED}
        if len(ways) == 2:
            return Direction.MIXED
        return ways.pop() if ways else Direction.UNDECIDED

    @property
    def questions(self) -> Sequence[Contrast]:
        """Pass rate and score, or the pass rate alone where the score says the same of every task."""
        if self.pass_rate is None or self.score is None:
            return ()
        return (self.pass_rate,) if self.score.adjusted is None else (self.pass_rate, self.score)


__all__ = [
    "Comparison",
    "Contrast",
    "Count",
    "Direction",
    "Estimate",
    "Graded",
    "Margin",
    "Pair",
    "Pairing",
    "Power",
    "Side",
    "Slice",
    "Tally",
]
