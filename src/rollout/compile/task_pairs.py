"""Which task of one version is which task of the other, so that a reworded task is not a lost and a new one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from rollout.environment import Task
from rollout.language.canonical import canonical

LIKENESS = 0.75
"""How alike (difflib's ratio, 0 to 1) two instructions must be to be taken for one task that was reworded."""

_MOST_COMPARED = 10_000


@dataclass(frozen=True, slots=True)
class Pair:
    """One task in both versions, by its indexes; None on the side where there is no such task."""

    before: int | None
    after: int | None


def pair_tasks(before: Sequence[Task], after: Sequence[Task]) -> list[Pair]:
    """Pairs the tasks of two versions: in the order of ``after``, then those that are gone.

    Tasks are one when they have the same id (for tasks without one, the same instruction and input). What is left is
    paired by the same instruction and input, then, where one of the two has no id of its own, by a ground truth that
    no other task left has, then by the likeness of the instructions. The order of tasks plays no part.
    """
    pairing = _Pairing(before, after)
    pairing.by(lambda task: task.key)
    pairing.by(lambda task: canonical([task.instruction, task.input or {}]))
    pairing.by(
        lambda task: canonical(task.hidden_ground_truth) if task.hidden_ground_truth else None, alone=True
    )
    pairing.by_likeness()
    return pairing.result()


class _Pairing:
    def __init__(self, before: Sequence[Task], after: Sequence[Task]) -> None:
        self.before, self.after = before, after
        self.home: dict[int, int] = {}
        self.old = dict.fromkeys(range(len(before)))
        self.new = dict.fromkeys(range(len(after)))

    def by(self, trait: Callable[[Task], Hashable], *, alone: bool = False) -> None:
        """Pairs what is left by ``trait`` (None: never); with ``alone`` only where it is unique on both sides."""
        if not self.old or not self.new:
            return
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for index in self.old:
            waiting[trait(self.before[index])].append(index)
        wanted: dict[Hashable, list[int]] = defaultdict(list)
        for index in self.new:
            wanted[trait(self.after[index])].append(index)
        for value, news in wanted.items():
            olds = waiting.get(value, [])
            if value is None or (alone and (len(news) != 1 or len(olds) != 1)):
                continue
            for old, new in zip(olds, news, strict=False):
                if not alone or self._may_be_one(old, new):
                    self._pair(old, new)

    def by_likeness(self) -> None:
        """Pairs what is left by how alike the instructions are, the likest first."""
        if not self.old or not self.new or len(self.old) * len(self.new) > _MOST_COMPARED:
            return
        from difflib import SequenceMatcher

        likely: list[tuple[float, int, int]] = []
        matcher = SequenceMatcher(autojunk=False)
        for new in self.new:
            matcher.set_seq2(self.after[new].instruction[:2_000])
            for old in self.old:
                if not self._may_be_one(old, new):
                    continue
                matcher.set_seq1(self.before[old].instruction[:2_000])
                if matcher.real_quick_ratio() >= LIKENESS and matcher.quick_ratio() >= LIKENESS:
                    ratio = matcher.ratio()
                    if ratio >= LIKENESS:
                        likely.append((-ratio, old, new))
        for _, old, new in sorted(likely):
            if old in self.old and new in self.new:
                self._pair(old, new)

    def result(self) -> list[Pair]:
        """All pairs and all tasks without one."""
        pairs = [Pair(self.home.get(new), new) for new in range(len(self.after))]
        return pairs + [Pair(old, None) for old in self.old]

    def _may_be_one(self, old: int, new: int) -> bool:
        # Two ids that differ say that the author holds them for two tasks.
        return self.before[old].id is None or self.after[new].id is None

    def _pair(self, old: int, new: int) -> None:
        self.home[new] = old
        del self.old[old], self.new[new]


__all__ = ["LIKENESS", "Pair", "pair_tasks"]
