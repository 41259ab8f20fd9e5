"""Comparing what is with what was expected, by value and type, down to the first difference.

1 equals 1.0 but not ``"1"``; true is not 1; null is not the same as missing; objects are equal by their keys, lists
item by item unless ``ignore_order``. ``tolerance`` is the largest difference between two numbers that still counts as
equal. With ``subset`` the actual value may hold more: objects further keys, lists further items, in between.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import category, combining, normalize

from rollout.language.canonical import canonical, whole_numbers
from rollout.language.paths import MISSING, Step, kind, write

Why = Literal["missing", "unexpected", "type", "value", "length", "unmatched"]

Tolerance = float | Callable[[float], float]
"""How far from a number one may be that counts as equal: the same for all, or worked out from what is expected."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two values part: its path, and what stands there on either side (or MISSING)."""

    path: tuple[Step, ...]
    why: Why
    expected: Any
    actual: Any

    def sentence(self, at: Sequence[Step] = ()) -> str:
        """Says the difference; ``at`` is where the compared values stand themselves."""
        path = (*at, *self.path)
        name = f"“{write(path)}”" if path else "It"
        if self.why == "missing":
            return f"{name} is missing; {show(self.expected)} was expected."
        if self.why == "unexpected":
            return f"{name} is there ({show(self.actual)}), but was not expected."
        if self.why == "length":
            return (
                f"{name} has {_items(self.actual)}, not {len(self.expected)}: "
                f"{show(self.actual)} where {show(self.expected)} was expected."
            )
        if self.why == "unmatched":
            return f"{name} has no item like {show(self.expected)}: {show(self.actual)}."
        if self.why == "type":
            return f"{name} is {_with_kind(self.actual)}; {_with_kind(self.expected, ',')} was expected."
        if (apart := unseen_difference(self.expected, self.actual)) is not None:
            return f"{name} is {show(self.actual)}, which only looks like what was expected: {apart}."
        return f"{name} is {show(self.actual)}; {show(self.expected)} was expected."


def _with_kind(value: Any, after: str = "") -> str:
    # “null, null” says nothing more.
    return show(value) if value is None else f"{show(value)}, {kind(value)}{after}"


def unseen_difference(expected: Any, actual: Any) -> str | None:
    """What parts two texts that look the same, as code points; None where they can be told apart, or are equal."""
    if not isinstance(expected, str) or not isinstance(actual, str) or expected == actual:
        return None
    if _seen(expected) != _seen(actual):
        return None
    pairs = enumerate(zip(expected, actual, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(expected), len(actual)))
    return f"it has {_code_points(actual[at:])} where {_code_points(expected[at:])} was expected"


def _seen(text: str) -> str:
    """``text`` as a reader sees it: composed, with plain spaces, and without what is not drawn."""
    drawn = (" " if category(each) == "Zs" else each for each in text if category(each) != "Cf")
    return normalize("NFC", "".join(drawn))


def _code_points(text: str) -> str:
    # A character and the marks upon it.
    end = next((at for at, each in enumerate(text) if at and not combining(each)), len(text))
    return " ".join(f"U+{ord(each):04X}" for each in text[:end]) or "nothing"


def _items(value: Sequence[Any]) -> str:
    return f"{len(value)} item{'' if len(value) == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class _Terms:
    ignore_order: bool
    tolerance: Tolerance
    subset: bool


def compare(
    expected: Any,
    actual: Any,
    *,
    ignore_order: bool = False,
    tolerance: Tolerance = 0.0,
    subset: bool = False,
) -> Difference | None:
    """The first difference between two JSON values, in the order of ``expected``; None when they are equal.

    ``tolerance`` may depend on the number that is expected.
    """
    return _compare(expected, actual, _Terms(ignore_order, tolerance, subset), ())


def lacking(
    expected: Any, actual: Any, *, ignore_order: bool = False, path: tuple[Step, ...] = ()
) -> Difference | None:
    """The first key that ``expected`` names and that is not there, whatever else differs; None where all are.

    The items of a list have no names: lists are looked into where they are as long as one another and have an order.
    """
    if actual is MISSING:
        return Difference(path, "missing", expected, actual)
    pairs: Iterable[tuple[Step, Any, Any]] = ()
    if isinstance(expected, dict) and isinstance(actual, dict):
        pairs = ((key, value, actual.get(key, MISSING)) for key, value in expected.items())
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = () if ignore_order else zip(range(len(expected)), expected, actual, strict=True)
    found = (
        lacking(wanted, held, ignore_order=ignore_order, path=(*path, step)) for step, wanted, held in pairs
    )
    return next((each for each in found if each is not None), None)


def _compare(expected: Any, actual: Any, terms: _Terms, path: tuple[Step, ...]) -> Difference | None:
    if actual is MISSING or expected is MISSING:
        if actual is expected:
            return None
        return Difference(path, "missing" if actual is MISSING else "unexpected", expected, actual)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _objects(expected, actual, terms, path)
    if isinstance(expected, list) and isinstance(actual, list):
        return _lists(expected, actual, terms, path)
    if kind(expected) != kind(actual):
        return Difference(path, "type", expected, actual)
    if expected == actual or (_is_number(expected) and _within(expected, actual, terms.tolerance)):
        return None
    return Difference(path, "value", expected, actual)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _within(expected: float, actual: float, tolerance: Tolerance) -> bool:
    if callable(tolerance):
        tolerance = tolerance(expected)
    if tolerance <= 0:
        return False
    try:
        apart = abs(expected - actual)
        # 1.1 and 1.0 are 0.10000000000000009 apart, which is within 0.1 to everyone but a computer.
        return apart <= tolerance or math.isclose(apart, tolerance, rel_tol=1e-9)
    except OverflowError:
        return False


def _objects(
    expected: dict[str, Any], actual: dict[str, Any], terms: _Terms, path: tuple[Step, ...]
) -> Difference | None:
    for key, value in expected.items():
        difference = _compare(value, actual.get(key, MISSING), terms, (*path, key))
        if difference is not None:
            return difference
    if not terms.subset and len(actual) != len(expected):
        extra = next(key for key in actual if key not in expected)
        return Difference((*path, extra), "unexpected", MISSING, actual[extra])
    return None


def _lists(
    expected: list[Any], actual: list[Any], terms: _Terms, path: tuple[Step, ...]
) -> Difference | None:
    if len(actual) < len(expected) or (len(actual) > len(expected) and not terms.subset):
        return Difference(path, "length", expected, actual)
    if terms.ignore_order:
        return _in_any_order(expected, actual, terms, path)
    if len(actual) > len(expected):
        return _in_order(expected, actual, terms, path)
    for index, (wanted, found) in enumerate(zip(expected, actual, strict=True)):
        difference = _compare(wanted, found, terms, (*path, index))
        if difference is not None:
            return difference
    return None


def _in_any_order(
    expected: list[Any], actual: list[Any], terms: _Terms, path: tuple[Step, ...]
) -> Difference | None:
    wanted, found = expected, actual
    if not terms.subset and not callable(terms.tolerance) and terms.tolerance <= 0:
        # Equal is then equal for good, so that twins can be paired off first and long lists stay quick.
        wanted, found = _without_twins(expected, actual)
    lonely = unmatched(wanted, found, lambda a, b: _compare(a, b, terms, ()) is None)
    return None if lonely is None else Difference(path, "unmatched", wanted[lonely], actual)


def _without_twins(expected: list[Any], actual: list[Any]) -> tuple[list[Any], list[Any]]:
    twins: dict[str, list[int]] = {}
    for index, value in enumerate(actual):
        twins.setdefault(_print(value), []).append(index)
    paired: set[int] = set()
    left: list[Any] = []
    for value in expected:
        places = twins.get(_print(value))
        if places:
            paired.add(places.pop())
        else:
            left.append(value)
    return left, [value for index, value in enumerate(actual) if index not in paired]


def _print(value: Any) -> str:
    return json.dumps(whole_numbers(value))


def _in_order(
    expected: list[Any], actual: list[Any], terms: _Terms, path: tuple[Step, ...]
) -> Difference | None:
    rest = iter(actual)
    for wanted in expected:
        if not any(_compare(wanted, found, terms, ()) is None for found in rest):
            return Difference(path, "unmatched", wanted, actual)
    return None


def unmatched(
    expected: Sequence[Any], actual: Sequence[Any], equal: Callable[[Any, Any], bool]
) -> int | None:
    """The index of an expected item that is left over when each is paired with an actual one of its own, or None.

    Pairs are sought one to one and for all at once (Kuhn's augmenting paths), so that an item that fits two
    places does not take the only one of another.
    """
    owner: dict[int, int] = {}
    taken: dict[int, int] = {}
    candidates: dict[int, list[int]] = {}

    def options(number: int) -> list[int]:
        if number not in candidates:
            candidates[number] = [n for n, found in enumerate(actual) if equal(expected[number], found)]
        return candidates[number]

    for number in range(len(expected)):
        parents: dict[int, int] = {}
        frontier = [number]
        free: int | None = None
        while frontier and free is None:
            current = frontier.pop()
            for option in options(current):
                if option in parents:
                    continue
                parents[option] = current
                if option not in owner:
                    free = option
                    break
                frontier.append(owner[option])
        if free is None:
            return number
        place: int | None = free
        while place is not None:
            taker = parents[place]
            previous = taken.get(taker)
            owner[place], taken[taker] = taker, place
            place = previous
    return None


_LONGEST = 200


def _beginning(value: Any, room: int) -> tuple[Any, int]:
    """As much of a value as so many characters show, and how many are left; a value may have millions of parts."""
    if isinstance(value, str):
        return value[: room + 1], room - len(value) - 1
    if isinstance(value, list):
        begun = []
        for item in value:
            if room < 0:
                break
            part, room = _beginning(item, room - 1)
            begun.append(part)
        return begun, room
    if isinstance(value, dict):
        members = {}
        for key in sorted(value):
            if room < 0:
                break
            members[key], room = _beginning(value[key], room - len(key) - 1)
        return members, room
    return value, room - 1


def show(value: Any, longest: int = _LONGEST) -> str:
    """A value as a reason shows it: JSON, cut with a mark when it is longer than ``longest``."""
    if value is MISSING:
        return "nothing"
    begun, _ = _beginning(value, longest)
    try:
        text = canonical(begun).decode("utf-8")
    except ValueError:
        text = repr(begun)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


__all__ = ["Difference", "compare", "lacking", "show", "unmatched", "unseen_difference"]
