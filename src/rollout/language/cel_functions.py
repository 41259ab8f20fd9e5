"""The functions that an expression has beyond CEL's own, and the measure of what its loops may go over.

A function of the evaluator must not raise: the evaluator would write to stderr, and ``||`` would forgive it. What goes
wrong is noted in the :class:`Meter`, and the whole expression then counts as one that cannot be told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache, partial
from math import isfinite
from typing import Any, Final

from rollout.language.arithmetic import ArithmeticTextError, evaluate
from rollout.language.room import Room, weight

LONGEST_RANGE: Final = 10_000

COUNTED: Final = "counted"
MAPPED: Final = "mapped"
KEPT: Final = "kept"
CHOSEN: Final = "chosen"
"""What every loop's list is passed through, a map's apart, and what a map and a filter gather: names of no user."""

SIZE: Final = "size_in_characters"
"""What takes the place of ``size``: the evaluator's own counts the bytes of a text."""

MATCHES: Final = "has_a_match"
"""What takes the place of ``matches``: the evaluator's own compiles the pattern anew in every round."""

_ROUND: Final = 200
_NULL: Final = 8
# What is handed to a function and back is made anew, value by value.
_HANDED: Final = 4
_HANDED_ITEM: Final = 40
_LARGEST_PATTERN: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Shape:
    """What of an expression says how much it goes over.

    ``around`` has for each loop the one around it, or None; ``joins`` is how many ``+`` there are.
    """

    around: tuple[int | None, ...] = ()
    joins: int = 0


class Meter:
    """What one evaluation has done so far. ``fault`` is a sentence without its subject when something went wrong.

    ``room`` says how much may be gone over, in this evaluation and in others that have the same one. When it is used up
    ``is_overworked`` is set, and every function gives back nothing, so that what is left of the loops is soon over.
    """

    def __init__(self, room: Room | None = None) -> None:
        self.fault: str | None = None
        self.is_overworked = False
        self._given = room
        self._room = room or Room()
        self._shape = Shape()
        self._weights: Sequence[int] = ()
        self._rounds: dict[int, int] = {}
        self._widest: dict[int, int] = {}
        self.functions: dict[str, Callable[..., Any]] = {
            SIZE: self._size,
            MATCHES: partial(self._call, "matches", _matches),
            COUNTED: partial(self._count, False),
            MAPPED: partial(self._count, True),
            KEPT: self._keep,
            CHOSEN: self._gather,
            **{name: partial(self._call, name, function) for name, function in _FUNCTIONS.items()},
        }

    def start(self, shape: Shape, weights: Sequence[int], joined: int) -> None:
        """Begins an evaluation; ``weights`` are the bytes that one round of each loop looks at.

        ``joined`` are the bytes of all that it looks at, each as often as it does.
        """
        self.fault, self.is_overworked = None, False
        self._shape, self._weights = shape, weights
        if self._given is None:
            self._room = Room()
        # What is joined is copied once more with each part that is added to it.
        self._may(joined * shape.joins)

    def _count(self, maps: bool, members: Any, loop: int) -> Any:
        if self.is_overworked:
            return []
        if isinstance(members, dict):
            # The evaluator goes through an object in another order every time.
            members = sorted(members, key=str)
        if isinstance(members, list):
            self._rounds[loop] = rounds = len(members)
            around = self._shape.around[loop]
            if loop in self._shape.around:
                self._widest[loop] = max(map(weight, members), default=0)
            a_round = _ROUND + self._weights[loop] + (0 if around is None else self._widest.get(around, 0))
            work = rounds * a_round + weight(members) * (_HANDED + self._shape.joins)
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
        self._room.work -= work
        if self._room.work >= 0:
            return True
        self.is_overworked = True
        return False

    def _size(self, value: Any) -> int | None:
        if not isinstance(value, str | bytes | list | dict | tuple):
            return None
        return len(value) if self._may(_handed(value)) else 0

    def _call(self, name: str, function: Callable[..., Any], *given: Any) -> Any:
        if not self._may(sum(map(_handed, given))):
            return None
        try:
            found = function(*given)
            return found if self._may(_handed(found)) else None
        except (TypeError, OverflowError, RecursionError):
            self.fault = f"“{name}” takes {_TAKES[name]}."
        except ArithmeticTextError as error:
            self.fault = str(error)
        return None


def _handed(value: Any) -> int:
    return _HANDED * weight(value) + (_HANDED_ITEM * len(value) if isinstance(value, list) else 0)


def _matches(text: Any, pattern: Any) -> bool:
    if not isinstance(text, str) or not isinstance(pattern, str):
        raise TypeError
    return is_match(pattern, text)


def is_match(pattern: str, text: str) -> bool:
    """Whether a pattern is found somewhere in a text. Raises TypeError for a pattern that cannot be used.

    Its language is RE2's, as CEL has it: without look-ahead and back references, so that no text takes it long.
    """
    return bool(_compiled(pattern).is_valid(text))


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> Any:
    import jsonschema_rs

    options = jsonschema_rs.RegexOptions(size_limit=_LARGEST_PATTERN, dfa_size_limit=_LARGEST_PATTERN)
    try:
        return jsonschema_rs.validator_for({"pattern": pattern}, offline=True, pattern_options=options)
    except ValueError:
        raise TypeError from None


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
    "matches": "a text, and a pattern without look-ahead and back references that is not too large",
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
    "MATCHES",
    "NAMES",
    "SIZE",
    "Meter",
    "Shape",
    "is_match",
]
