"""Rows as JSON, and the comparison of rows: as bags, by position, numbers as numbers and NULL only with NULL."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from rollout.language.compare import show, unmatched

Row = tuple[Any, ...]
"""One row: JSON values, by position."""

_MOST_PAIRED = 300
_EXACT = 2**53


def json_value(value: object) -> Any:
    """An SQLite value as JSON: a blob as ``x'…'``, an infinity as text; anything else is JSON already."""
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, float) and not math.isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def json_row(row: Sequence[object]) -> Row:
    """A row of SQLite values as JSON values."""
    return tuple([json_value(value) for value in row])


def equal(expected: Any, actual: Any, tolerance: float = 0.0) -> bool:
    """Whether two values of a cell are the same.

    Numbers are compared as numbers, whole ones exactly and others but for the noise of adding in another order (1 part
    in 10^9), or within ``tolerance``. Text is compared exactly, true and false equal themselves only.
    """
    if _is_number(expected) and _is_number(actual):
        if expected == actual:
            return True
        try:
            # 1.1 and 1.0 are 0.10000000000000009 apart, which is within 0.1 to everyone but a computer.
            apart = abs(expected - actual)
            if tolerance > 0 and (apart <= tolerance or math.isclose(apart, tolerance, rel_tol=1e-9)):
                return True
            both_whole = _is_whole(expected) and _is_whole(actual)
            return not both_whole and math.isclose(expected, actual, rel_tol=1e-9)
        except OverflowError:
            return False
    return type(expected) is type(actual) and bool(expected == actual)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: float) -> bool:
    return isinstance(value, int) or value.is_integer()


def key(value: Any) -> Hashable:
    """Something that is equal for values that are exactly equal, and for no others."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    return ("number", value) if _is_number(value) else (type(value).__name__, _hashable(value))


def _hashable(value: Any) -> Hashable:
    return show(value) if isinstance(value, list | dict) else value


def row_key(row: Row) -> Hashable:
    """:func:`key` of a whole row."""
    return tuple([key(value) for value in row])


def difference(
    expected: Sequence[Row],
    actual: Sequence[Row],
    *,
    groups: Sequence[int] | None = None,
    tolerance: float = 0.0,
) -> str | None:
    """Why ``actual`` has not the rows of ``expected``, in a sentence; None when it has.

    Without ``groups`` the order of rows does not matter, how often a row is there does. ``groups`` are the sizes of the
    runs of rows that may change places with each other, in the order in which the runs have to come.
    """
    if len(expected) != len(actual):
        return f"It has {_rows(len(actual))} where {len(expected)} were expected{_example(expected, actual)}."
    widths = {len(row) for row in expected}, {len(row) for row in actual}
    if widths[0] != widths[1]:
        return (
            f"Its rows have {_columns(widths[1])} where {_columns(widths[0])} "
            f"{'was' if widths[0] == {1} else 'were'} expected: {_shown(actual[0])}."
        )
    left = _left_over(expected, actual, tolerance)
    if left is not None:
        found = _closest(left, actual, expected, tolerance)
        return f"No row is {_shown(left)}{f'; the nearest is {_shown(found)}' if found else ''}."
    start = 0
    for size in groups or ():
        part = slice(start, start + size)
        missing = _left_over(expected[part], actual[part], tolerance)
        odd = _left_over(actual[part], expected[part], tolerance)
        if missing is not None and odd is not None:
            # Rows that are equal on what they are ordered by may change places, and need not be the first to differ.
            place = start + 1 + list(actual[part]).index(odd)
            return (
                f"The rows are right, but not their order: row {place} is {_shown(odd)} "
                f"where {_shown(missing)} was expected."
            )
        start += size
    return None


def _left_over(expected: Sequence[Row], actual: Sequence[Row], tolerance: float) -> Row | None:
    """An expected row that is left over when rows are paired off one to one, or None."""
    wanted = Counter(row_key(row) for row in expected)
    found = Counter(row_key(row) for row in actual)
    missing, extra = wanted - found, found - wanted
    if not missing and not extra:
        return None
    lonely, others = _rest(expected, missing), _rest(actual, extra)

    def same(a: Row, b: Row) -> bool:
        return len(a) == len(b) and all(equal(x, y, tolerance) for x, y in zip(a, b, strict=True))

    # Rows can only be paired where everything that is no number is the same, which keeps the search small.
    kinds: dict[Hashable, tuple[list[Row], list[Row]]] = {}
    for side, rows in enumerate((lonely, others)):
        for row in rows:
            kinds.setdefault(_print(row), ([], []))[side].append(row)
    for wants, haves in kinds.values():
        single = _pair(wants, haves, same)
        if single is not None:
            return single
    return None


def _pair(wants: list[Row], haves: list[Row], same: Callable[[Row, Row], bool]) -> Row | None:
    if len(wants) > _MOST_PAIRED or len(haves) > _MOST_PAIRED:
        wants, haves = sorted(wants, key=_numbers), sorted(haves, key=_numbers)
        for number, row in enumerate(wants):
            if number >= len(haves) or not same(row, haves[number]):
                return row
        return None
    lonely = unmatched(wants, haves, same)
    return None if lonely is None else wants[lonely]


def _rest(rows: Sequence[Row], wanted: Counter[Hashable]) -> list[Row]:
    counts = Counter(wanted)
    rest = []
    for row in rows:
        name = row_key(row)
        if counts[name] > 0:
            counts[name] -= 1
            rest.append(row)
    return rest


def _print(row: Row) -> Hashable:
    return tuple(["number" if _is_number(value) else key(value) for value in row])


def _numbers(row: Row) -> list[float]:
    return [value for value in row if _is_number(value)]


def _closest(left: Row, actual: Sequence[Row], expected: Sequence[Row], tolerance: float) -> Row | None:
    known = Counter(row_key(row) for row in expected)
    rest = _rest(actual, Counter(row_key(row) for row in actual) - known)

    def distance(row: Row) -> int:
        if len(row) != len(left):
            return len(left) + 1
        return sum(not equal(a, b, tolerance) for a, b in zip(left, row, strict=True))

    return min(rest, key=distance, default=None)


def _example(expected: Sequence[Row], actual: Sequence[Row]) -> str:
    wanted, found = (Counter(row_key(row) for row in rows) for rows in (expected, actual))
    if len(actual) > len(expected):
        rest = _rest(actual, found - wanted)
        return f"; {_shown(rest[0])} is one too many" if rest else ""
    rest = _rest(expected, wanted - found)
    return f"; {_shown(rest[0])} is missing" if rest else ""


def _shown(row: Row) -> str:
    return show(list(row))


def _rows(count: int) -> str:
    return "no rows" if not count else f"{count} row{'' if count == 1 else 's'}"


def _columns(widths: set[int]) -> str:
    many = " or ".join(str(width) for width in sorted(widths))
    return f"{many} column{'' if widths == {1} else 's'}"


__all__ = ["Row", "difference", "equal", "json_row", "json_value", "key", "row_key"]
