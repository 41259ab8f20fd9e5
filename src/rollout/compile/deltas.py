"""Where two JSON values part, as deep as it goes: lists of rows are paired by their ids, other lists by likeness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.compile.change import Kind
from rollout.language.canonical import canonical
from rollout.language.paths import write
from rollout.source.place import Route

ID_KEYS = ("id", "key", "name", "slug", "code", "sku", "number", "uuid", "email", "url", "path", "topic")
"""The keys that a list's rows may be known by, the likeliest first; any key that ends in ``_id`` or ``Id`` too."""

_LONGEST_ALIGNED = 2_000
# Of pairs of equal items: lists that repeat a few items have so many that aligning them takes minutes.
_MOST_PAIRS = 100_000


@dataclass(frozen=True, slots=True)
class Delta:
    """One difference. ``path`` is for people (rows by id: ``orders["O-1"].amount``), ``route`` leads there."""

    kind: Kind
    path: tuple[str | int, ...]
    route: Route
    before: Any
    after: Any

    @property
    def written(self) -> str:
        """The path as text."""
        return write(self.path)


def deltas(
    before: Any, after: Any, *, path: tuple[str | int, ...] = (), route: Route = ()
) -> Iterator[Delta]:
    """Every difference between two JSON values, in the order of ``after``.

    Numbers are equal by value, true is not 1. A row that moved in a list whose rows have ids is no difference by
    itself: the list is told once, with the ids in both orders.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _objects(before, after, path, route)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _lists(before, after, path, route)
    elif not same(before, after):
        yield Delta(Kind.CHANGED, path, route, before, after)


def same(before: Any, after: Any) -> bool:
    """Whether two JSON values are equal by value and type: 1 is 1.0, true is not 1."""
    if before is after:
        return True
    if isinstance(before, dict):
        return (
            isinstance(after, dict)
            and before.keys() == after.keys()
            and all(same(value, after[key]) for key, value in before.items())
        )
    if isinstance(before, list):
        return isinstance(after, list) and len(before) == len(after) and all(map(same, before, after))
    return isinstance(before, bool) == isinstance(after, bool) and bool(before == after)


def _objects(
    before: dict[str, Any], after: dict[str, Any], path: tuple[str | int, ...], route: Route
) -> Iterator[Delta]:
    for key in (*before, *(key for key in after if key not in before)):
        here, there = (*path, key), (*route, key)
        if key not in after:
            yield Delta(Kind.REMOVED, here, there, before[key], None)
        elif key not in before:
            yield Delta(Kind.ADDED, here, there, None, after[key])
        else:
            yield from deltas(before[key], after[key], path=here, route=there)


def _lists(before: list[Any], after: list[Any], path: tuple[str | int, ...], route: Route) -> Iterator[Delta]:
    if same(before, after):
        return
    if (key := shared_id(before, after)) is not None:
        yield from _rows(before, after, key, path, route)
        return
    for kind, start, end, low, high in _aligned(before, after):
        paired = min(end - start, high - low) if kind == "replace" else 0
        for step in range(paired):
            here = low + step
            yield from deltas(before[start + step], after[here], path=(*path, here), route=(*route, here))
        for index in range(start + paired, end):
            yield Delta(Kind.REMOVED, (*path, index), (*route, index), before[index], None)
        for index in range(low + paired, high):
            yield Delta(Kind.ADDED, (*path, index), (*route, index), None, after[index])


def _rows(
    before: list[Any], after: list[Any], key: str, path: tuple[str | int, ...], route: Route
) -> Iterator[Delta]:
    old = {_known_by(row[key]): (index, row) for index, row in enumerate(before)}
    new = {_known_by(row[key]): (index, row) for index, row in enumerate(after)}
    for name, (index, row) in old.items():
        if name not in new:
            yield Delta(Kind.REMOVED, (*path, name), (*route, index), row, None)
    for name, (index, row) in new.items():
        if name in old:
            yield from deltas(old[name][1], row, path=(*path, name), route=(*route, index))
        else:
            yield Delta(Kind.ADDED, (*path, name), (*route, index), None, row)
    order_before = [name for name in old if name in new]
    order_after = [name for name in new if name in old]
    if order_before != order_after:
        yield Delta(Kind.CHANGED, (*path, "(order)"), route, order_before, order_after)


def shared_id(before: Sequence[Any], after: Sequence[Any]) -> str | None:
    """The key by which the rows of both lists can be told apart; None when there is no such key."""
    rows = [*before, *after]
    if not before or not after or not all(isinstance(row, dict) for row in rows):
        return None
    others = [key for key in rows[0] if key.endswith(("_id", "Id")) and key not in ID_KEYS]
    return next((key for key in (*ID_KEYS, *others) if _tells_apart(key, before, after)), None)


def _tells_apart(key: str, before: Sequence[Any], after: Sequence[Any]) -> bool:
    for side in (before, after):
        names = [row.get(key) for row in side]
        if not all(isinstance(name, str | int) and not isinstance(name, bool) for name in names):
            return False
        if len({_known_by(name) for name in names}) < len(names):
            return False
    return True


def _known_by(value: str | int) -> str:
    return str(value)


def _aligned(before: list[Any], after: list[Any]) -> Iterator[tuple[str, int, int, int, int]]:
    if len(before) > _LONGEST_ALIGNED or len(after) > _LONGEST_ALIGNED:
        yield ("replace", 0, len(before), 0, len(after))
        return
    from collections import Counter
    from difflib import SequenceMatcher

    old, new = [canonical(item) for item in before], [canonical(item) for item in after]
    counts = Counter(old)
    if sum(counts[item] for item in new) > _MOST_PAIRS:
        yield ("replace", 0, len(before), 0, len(after))
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    yield from (block for block in matcher.get_opcodes() if block[0] != "equal")


__all__ = ["ID_KEYS", "Delta", "deltas", "same", "shared_id"]
