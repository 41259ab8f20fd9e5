"""Tells whether a regular expression can match no text at all, because of what it ties to the ends of the text.

The expression is gone through from left to right with what may hold by then: whether a character has been read, and
whether the end has been passed. Whatever is not followed (what is looked ahead at, what a group has matched, the edges
of words) is taken for possible.
"""

from __future__ import annotations

import re
import re._constants as op
import re._parser as parser
import warnings
from collections.abc import Iterable
from typing import Any, Final, Literal

End = Literal["open", "line", "closed"]
Reached = frozenset[tuple[bool, End]]
"""Whether something has been read, and what may follow: anything, one line break (after ``$``), or nothing."""

_START: Final[Reached] = frozenset({(False, "open")})
_LINE_BREAK: Final = 10


def never_matches(pattern: str) -> bool:
    """Whether ``pattern``, in Python's dialect, matches nowhere in any text; False for one that does not compile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(pattern)
        if tree.state.flags & re.MULTILINE or _has_multiline_group(tree):
            return False  # a line may begin and end anywhere
        return not _after(tree, _START)
    except (re.error, RecursionError, OverflowError):
        return False


def _has_multiline_group(items: Iterable[Any]) -> bool:
    return any(
        (kind is op.SUBPATTERN and value[1] & re.MULTILINE)
        or any(map(_has_multiline_group, _parts(kind, value)))
        for kind, value in items
    )


def _parts(kind: Any, value: Any) -> list[Any]:
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is op.SUBPATTERN:
        return [value[3]]
    if kind is op.BRANCH:
        return list(value[1])
    if kind is op.ATOMIC_GROUP:
        return [value]
    if kind is op.GROUPREF_EXISTS:
        return [branch for branch in value[1:] if branch is not None]
    return []


def _after(items: Iterable[Any], reached: Reached) -> Reached:
    for kind, value in items:
        if not reached:
            break
        reached = _step(kind, value, reached)
    return reached


def _step(kind: Any, value: Any, reached: Reached) -> Reached:
    if kind is op.AT:
        return _at(value, reached)
    if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
        return _read(reached, may_break=_may_break(kind, value))
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        least, most, body = value
        # What may hold after some turns is known after a few: there is little that can change.
        for _ in range(min(least, 6)):
            reached = _after(body, reached)
        if most > least:
            known: Reached = frozenset()
            while known != reached:
                known, reached = reached, reached | _after(body, reached)
        return reached
    if kind is op.SUBPATTERN:
        return _after(value[3], reached)
    if kind is op.ATOMIC_GROUP:
        return _after(value, reached)
    if kind is op.BRANCH:
        return frozenset().union(*(_after(branch, reached) for branch in value[1]))
    if kind is op.GROUPREF_EXISTS:
        branches = [_after(branch, reached) for branch in value[1:] if branch is not None]
        return reached.union(*branches)
    if kind is op.FAILURE or (kind is op.ASSERT_NOT and _holds_anywhere(value[1])):
        return frozenset()
    if kind is op.GROUPREF:
        return reached | _read(reached, may_break=True)
    return reached


def _holds_anywhere(items: Iterable[Any]) -> bool:
    """Whether all of what is looked ahead at may be left out, as in ``(?!.*)``."""
    return all(kind in (op.MAX_REPEAT, op.MIN_REPEAT) and value[0] == 0 for kind, value in items)


def _at(where: Any, reached: Reached) -> Reached:
    if where in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
        return frozenset(each for each in reached if not each[0])
    if where is op.AT_END:
        return frozenset((read, "line" if end == "open" else end) for read, end in reached)
    if where is op.AT_END_STRING:
        return frozenset((read, "closed") for read, _ in reached)
    return reached


def _read(reached: Reached, *, may_break: bool) -> Reached:
    found: set[tuple[bool, End]] = set()
    for _, end in reached:
        if end == "open":
            found.add((True, "open"))
        elif end == "line" and may_break:
            found.add((True, "closed"))
    return frozenset(found)


def _may_break(kind: Any, value: Any) -> bool:
    """Whether one item may read a line break."""
    if kind is op.LITERAL:
        return bool(value == _LINE_BREAK)
    if kind is not op.IN:
        return True
    is_named = any(_names_break(inner, each) for inner, each in value)
    return not is_named if value[0][0] is op.NEGATE else is_named


def _names_break(kind: Any, value: Any) -> bool:
    if kind is op.LITERAL:
        return bool(value == _LINE_BREAK)
    if kind is op.RANGE:
        return bool(value[0] <= _LINE_BREAK <= value[1])
    return value in (op.CATEGORY_SPACE, op.CATEGORY_NOT_DIGIT, op.CATEGORY_NOT_WORD)


__all__ = ["never_matches"]
