"""The functions that an expression has beyond CEL's own, and the measure of what its loops may go over.

A function of the evaluator must not raise: the evaluator would write to stderr, and ``||`` would forgive it. What goes
wrong is noted in the :class:`Meter`, and the whole expression then counts as one that cannot be told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from math import isfinite
from typing import Any, Final

from rollout.language.arithmetic import ArithmeticTextError, evaluate
from rollout.language.room import weight

MOST_WORK: Final = 50_000_000
"""How much the loops of an expression may go over: about the bytes that are copied, one round after another."""

LONGEST_RANGE: Final = 10_000

COUNTED: Final = "counted"
MAPPED: Final = "mapped"
KEPT: Final = "kept"
CHOSEN: Final = "chosen"
"""What every loop's list is passed through, a map's apart, and what a map and a filter gather: names of no user."""

SIZE: Final = "size_in_characters"
"""What takes the place of ``size``: the evaluator's own counts the bytes of a text."""

_ROUND: Final = 200
_NULL: Final = 8


class Meter:
    """What one evaluation has done so far. ``fault`` is a sentence without its subject when something went wrong."""

    def __init__(self) -> None:
        self.fault: str | None = None
        self._weights: Sequence[int] = ()
        self._rounds: dict[int, int] = {}
        self._left = MOST_WORK
        self.functions: dict[str, Callable[..., Any]] = {
            SIZE: _size,
            COUNTED: partial(self._count, False),
            MAPPED: partial(self._count, True),
            KEPT: self._keep,
            CHOSEN: self._gather,
            **{name: partial(self._call, name, function) for name, function in _FUNCTIONS.items()},
        }

    def start(self, weights: Sequence[int]) -> None:
        """Begins an evaluation; ``weights`` are the bytes that one round of each loop looks at."""
        self.fault, self._weights, self._left = None, weights, MOST_WORK

    def _count(self, maps: bool, members: Any, loop: int) -> Any:
        if isinstance(members, dict):
            # The evaluator goes through an object in another order every time.
            members = sorted(members, key=str)
        if isinstance(members, list):
            self._rounds[loop] = rounds = len(members)
            work = rounds * (_ROUND + self._weights[loop])
            if not self._may(work + (rounds * rounds * _NULL // 2 if maps else 0)):
                return []
        return members

    def _keep(self, member: Any, loop: int) -> Any:
        self._rounds[loop] -= 1
        return member if self._gather(member, loop) else None

    def _gather(self, member: Any, loop: int) -> bool:
        # What is gathered is copied in every round that is still to come.
        return self._may(weight(member) * self._rounds[loop])

    def _may(self, work: int) -> bool:
        self._left -= work
        if self._left >= 0:
            return True
        self.fault = "its loops go over too much."
        return False

    def _call(self, name: str, function: Callable[..., Any], *given: Any) -> Any:
        try:
            return function(*given)
        except (TypeError, OverflowError, RecursionError):
            self.fault = f"“{name}” takes {_TAKES[name]}."
        except ArithmeticTextError as error:
            self.fault = str(error)
        return None


def _size(value: Any) -> int | None:
    return len(value) if isinstance(value, str | bytes | list | dict | tuple) else None


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise TypeError
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _abs(number: Any) -> int | float:
    return abs(_number(number))


def _calculate(text: Any) -> float:
    if not isinstance(text, str):
        raise TypeError
    return evaluate(text)


def _entries(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, dict):
        raise TypeError
    return [{"key": key, "value": value[key]} for key in sorted(value, key=str)]


def _lower(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError
    return text.lower()


def _merge(*objects: Any) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for each in objects:
        if not isinstance(each, dict):
            raise TypeError
        merged.update(each)
    return merged


def _object(pairs: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for pair in _list(pairs):
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise TypeError
        made[pair[0]] = pair[1]
    return made


def _range(count: Any) -> list[int]:
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= LONGEST_RANGE:
        raise TypeError
    return list(range(count))


def _round(number: Any, digits: Any = 0) -> float:
    if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 12:
        raise TypeError
    # As a person rounds what is written: 2.675 is 2.68, although the nearest binary fraction lies below it.
    value = Decimal(repr(_number(number)))
    if abs(value) >= Decimal(10) ** 15:
        return float(value)
    return float(value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _sort(members: Any) -> list[Any]:
    found = _list(members)
    if not all(isinstance(each, str) for each in found):
        found = [_number(each) for each in found]
    return sorted(found)


def _sum(members: Any) -> int | float:
    total = sum(_number(each) for each in _list(members))
    if isinstance(total, int) and abs(total) >= 2**63:
        raise OverflowError
    return total


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": _abs,
    "calculate": _calculate,
    "entries": _entries,
    "lower": _lower,
    "merge": _merge,
    "object": _object,
    "range": _range,
    "round": _round,
    "sort": _sort,
    "sum": _sum,
}
_TAKES: Mapping[str, str] = {
    "abs": "a number",
    "calculate": "a text such as 2 * (3 + 4)",
    "entries": "an object",
    "lower": "a text",
    "merge": "objects",
    "object": "a list of pairs of a name and a value",
    "range": f"a whole number from 0 to {LONGEST_RANGE}",
    "round": "a number, and how many digits after the point, from 0 to 12",
    "sort": "a list of texts, or of numbers",
    "sum": "a list of numbers",
}
NAMES: Final = frozenset(_FUNCTIONS)
"""The names of the functions that an expression may call beyond CEL's own."""

__all__ = [
    "CHOSEN",
    "COUNTED",
    "KEPT",
    "LONGEST_RANGE",
    "MAPPED",
    "MOST_WORK",
    "NAMES",
    "SIZE",
    "Meter",
]
