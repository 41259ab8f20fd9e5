"""Tells whether a regular expression can backtrack without bound, from its parse tree.

A repetition whose body can match one text in several ways is ambiguous: the engine tries them all, and their number
grows exponentially with the text (Cox, "Regular Expression Matching Can Be Simple And Fast", 2007). The body is
ambiguous when it holds another unbounded repetition that nothing separates from its next turn, or alternatives that
begin alike and can both be gone round again.
"""

from __future__ import annotations

import re
import re._constants as op
import re._parser as parser
import warnings
from collections.abc import Iterable
from typing import Any

_MANY = 20
"""Repetitions up to this many times are bounded enough to be harmless."""

_ALPHABET = frozenset(range(0x250))
"""The code points that stand for all of them when two character sets are compared."""


def runs_away(pattern: str) -> bool:
    """Whether ``pattern`` has an ambiguous unbounded repetition; False for one that does not compile."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(pattern)
        return _has_ambiguous_loop(tree)
    except (re.error, RecursionError, OverflowError):
        return False


def _has_ambiguous_loop(items: Iterable[Any]) -> bool:
    for kind, value in items:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            _, most, body = value
            if most > _MANY and _is_ambiguous(list(body)):
                return True
        if any(_has_ambiguous_loop(part) for part in _parts(kind, value)):
            return True
    return False


def _parts(kind: Any, value: Any) -> list[list[Any]]:
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return [list(value[2])]
    if kind is op.SUBPATTERN:
        return [list(value[3])]
    if kind is op.ATOMIC_GROUP:
        return [list(value)]
    if kind is op.BRANCH:
        return [list(branch) for branch in value[1]]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [list(value[1])]
    if kind is op.GROUPREF_EXISTS:
        return [list(branch) for branch in value[1:] if branch is not None]
    return []


def _is_ambiguous(body: list[Any]) -> bool:
    body = _flat(body)
    for index, (kind, value) in enumerate(body):
        beside = body[:index] + body[index + 1 :]
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT) and value[1] > _MANY:
            inner = _characters(list(value[2]))
            if not any(_least(one) > 0 and not (_characters([one]) & inner) for one in beside):
                return True
        if _varies(kind, value) and any(_least(one) > 0 for one in beside):
            optional = _characters([(kind, value)])
            if all(_characters([one]) & optional for one in beside if _least(one) > 0):
                return True
        if kind is op.BRANCH:
            branches = [list(branch) for branch in value[1]]
            if any(_is_ambiguous(branch) for branch in branches if len(body) == 1):
                return True
            if len(body) == 1 and _alike(branches):
                return True
    return False


def _varies(kind: Any, value: Any) -> bool:
    # x? and (x|): there or not, so that what follows may take its place.
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
        return bool(value[0] == 0 and value[1] <= _MANY)
    return kind is op.BRANCH and any(not list(branch) for branch in value[1])


def _alike(branches: list[list[Any]]) -> bool:
    # Two alternatives over the same characters, one of them twice as long: aa is a, a or aa.
    for index, one in enumerate(branches):
        for other in branches[index + 1 :]:
            mine, theirs = _characters(one), _characters(other)
            if mine and theirs and (mine <= theirs or theirs <= mine) and _first(one) & _first(other):
                return True
    return False


def _flat(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for kind, value in items:
        if kind is op.SUBPATTERN:
            found.extend(_flat(list(value[3])))
        else:
            found.append((kind, value))
    return found


def _least(item: Any) -> int:
    kind, value = item
    if kind in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
        return 1
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return int(value[0]) * sum(_least(one) for one in value[2])
    if kind is op.BRANCH:
        return min((sum(_least(one) for one in branch) for branch in value[1]), default=0)
    return (
        sum(_least(one) for part in _parts(kind, value)[:1] for one in part) if kind is op.SUBPATTERN else 0
    )


def _first(items: list[Any]) -> frozenset[int]:
    found: frozenset[int] = frozenset()
    for item in _flat(items):
        found |= _characters([item])
        if _least(item) > 0:
            break
    return found


def _characters(items: list[Any]) -> frozenset[int]:
    found: set[int] = set()
    for kind, value in items:
        if kind is op.LITERAL:
            found.add(value)
        elif kind is op.NOT_LITERAL:
            found |= _ALPHABET - {value}
        elif kind is op.ANY:
            found |= _ALPHABET
        elif kind is op.IN:
            found |= _members(value)
        else:
            for part in _parts(kind, value):
                if kind not in (op.ASSERT, op.ASSERT_NOT):
                    found |= _characters(part)
    return frozenset(found)


def _members(members: list[Any]) -> frozenset[int]:
    found: set[int] = set()
    for kind, value in members:
        if kind is op.LITERAL:
            found.add(value)
        elif kind is op.RANGE:
            found |= set(range(value[0], min(value[1], 0x250) + 1)) | {value[0]}
        elif kind is op.CATEGORY:
            found |= _CATEGORIES.get(value, _ALPHABET)
    if members and members[0][0] is op.NEGATE:
        return _ALPHABET - found
    return frozenset(found)


def _matching(text: str) -> frozenset[int]:
    pattern = re.compile(text)
    return frozenset(point for point in _ALPHABET if pattern.match(chr(point)))


_CATEGORIES = {
    op.CATEGORY_DIGIT: _matching(r"\d"),
    op.CATEGORY_NOT_DIGIT: _matching(r"\D"),
    op.CATEGORY_SPACE: _matching(r"\s"),
    op.CATEGORY_NOT_SPACE: _matching(r"\S"),
    op.CATEGORY_WORD: _matching(r"\w"),
    op.CATEGORY_NOT_WORD: _matching(r"\W"),
}

__all__ = ["runs_away"]
