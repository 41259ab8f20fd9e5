"""Tells whether a regular expression can backtrack without bound, from its parse tree.

The expression is made into an automaton with a state for each character that is written in it (Glushkov, 1961), whose
edges keep count of the ways that lead along them. A text can go round a loop in two ways where the loop has an edge of
two ways, or where two paths through it read the same text: then the ways double with every turn (Weber and Seidl, “On
the degree of ambiguity of finite automata”, 1991). Where several loops in a row read the same text, the ways grow with
a power of its length instead, one for each. Where a repetition that has an end holds another, such as
``(a{1,20}){1,20}``, the ways end too, but at a number that no search comes to the end of: they are counted.
"""

from __future__ import annotations

import re
import re._constants as op
import re._parser as parser
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_MANY: Final = 20
"""Repetitions up to this many times are bounded enough to be harmless."""

_IN_A_ROW: Final = 4
"""So many loops over the same text, one behind the other, take too long on a text of some thousand characters."""

_MOST_WAYS: Final = 1_000_000_000
"""So many ways to read one text take a search minutes at least."""

_MOST_STATES: Final = 400
_MOST_STEPS_COUNTED: Final = 3_000_000
_MOST_IN_LOOP: Final = 120

_PLAIN: Final = 0x250
_WIDTH: Final = _PLAIN + 512
_ANY: Final = (1 << _WIDTH) - 1


class _TooLargeError(Exception):
    """An expression with more states than are looked at."""


def runs_away(pattern: str) -> bool:
    """Whether matching ``pattern`` can take time beyond all bounds; False for one that does not compile."""
    # What Python does not know is taken for the next best: \\p{Lu} of other dialects for a letter.
    readable = re.sub(r"\\[pP]\{[^{}]*\}", r"\\w", pattern).replace(r"\z", r"\Z")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parser.parse(readable)
        return any(_is_ambiguous(part) for part in _parts_alone(tree))
    except (re.error, RecursionError, OverflowError, _TooLargeError):
        return False


def _parts_alone(tree: Iterable[Any]) -> list[list[Any]]:
    """The tree, and what in it is matched by itself: what is looked ahead at, and atomic groups."""
    found = [list(tree)]
    for items in found:
        pending = list(items)
        while pending:
            kind, value = pending.pop()
            if kind in (op.ASSERT, op.ASSERT_NOT):
                found.append(list(value[1]))
            elif kind is op.ATOMIC_GROUP:
                found.append(list(value))
            else:
                pending.extend(item for part in _parts(kind, value) for item in part)
                if kind is op.POSSESSIVE_REPEAT:
                    found.append([(op.MAX_REPEAT, value)])
    return found


def _parts(kind: Any, value: Any) -> list[list[Any]]:
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
        return [list(value[2])]
    if kind is op.SUBPATTERN:
        return [list(value[3])]
    if kind is op.BRANCH:
        return [list(branch) for branch in value[1]]
    if kind is op.GROUPREF_EXISTS:
        return [list(branch) for branch in value[1:] if branch is not None]
    return []


@dataclass(slots=True)
class _Piece:
    """Part of an automaton: the states it may begin and end with, and in how many ways; and the ways to be empty."""

    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    empty: int = 1


class _Automaton:
    """``is_endless`` takes every repetition that may be longer than another for one without an end."""

    def __init__(self, *, is_endless: bool = False) -> None:
        self.is_endless = is_endless
        self.reads: list[int] = []
        self.edges: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))

    def sequence(self, items: Sequence[Any]) -> _Piece:
        whole = _Piece()
        for kind, value in items:
            whole = self._join(whole, self._piece(kind, value))
        return whole

    def _piece(self, kind: Any, value: Any) -> _Piece:
        characters = _characters(kind, value)
        if characters is not None:
            state = len(self.reads)
            if state >= _MOST_STATES:
                raise _TooLargeError
            self.reads.append(characters)
            return _Piece({state: 1}, {state: 1}, 0)
        if kind is op.SUBPATTERN:
            return self.sequence(list(value[3]))
        if kind is op.BRANCH or kind is op.GROUPREF_EXISTS:
            pieces = [self.sequence(branch) for branch in _parts(kind, value)]
            if kind is op.GROUPREF_EXISTS and len(pieces) == 1:
                pieces.append(_Piece())
            return _Piece(
                _sum(*(piece.first for piece in pieces)),
                _sum(*(piece.last for piece in pieces)),
                sum(piece.empty for piece in pieces),
            )
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._repeat(*value)
        # Anchors, what is looked ahead at, atomic groups, what a group has matched: of these there is one way.
        return _Piece()

    def _repeat(self, least: int, most: int, body: Any) -> _Piece:
        items = list(body)
        if most <= _MANY and not (self.is_endless and 1 < most > least):
            # From the first to the last, so that what comes later has a higher number.
            pieces = [self.sequence(items) for _ in range(most)]
            whole = _Piece()
            for number in range(most, 0, -1):
                whole = self._join(pieces[number - 1], whole)
                if number > least:
                    whole.empty += 1
            return whole
        piece = self.sequence(items)
        self._connect(piece.last, piece.first)
        return _Piece(piece.first, piece.last, 1 if least == 0 or piece.empty else 0)

    def _join(self, one: _Piece, other: _Piece) -> _Piece:
        self._connect(one.last, other.first)
        return _Piece(
            _sum(one.first, _times(other.first, one.empty)),
            _sum(other.last, _times(one.last, other.empty)),
            min(one.empty * other.empty, 2),
        )

    def _connect(self, ends: dict[int, int], starts: dict[int, int]) -> None:
        for state, ways in ends.items():
            for following, more in starts.items():
                self.edges[state][following] += ways * more


def _sum(*counts: dict[int, int]) -> dict[int, int]:
    total: dict[int, int] = defaultdict(int)
    for each in counts:
        for state, ways in each.items():
            total[state] = min(total[state] + ways, 2)
    return {state: ways for state, ways in total.items() if ways}


def _times(counts: dict[int, int], factor: int) -> dict[int, int]:
    return {state: min(ways * factor, 2) for state, ways in counts.items()} if factor else {}


def _is_ambiguous(items: list[Any]) -> bool:
    try:
        automaton = _Automaton()
        whole = automaton.sequence(items)
    except _TooLargeError:
        # Repetitions that are written out in full are what makes it large.
        automaton = _Automaton(is_endless=True)
        whole = automaton.sequence(items)
    edges = {state: dict(following) for state, following in automaton.edges.items()}
    reach = {state: _reachable(edges, state) for state in edges}
    for loop in _loops(edges, reach):
        if any(edges[state].get(other, 0) > 1 for state in loop for other in loop if state in edges):
            return True
        if len(loop) <= _MOST_IN_LOOP and _has_two_ways(automaton.reads, edges, loop):
            return True
    if _most_in_a_row(automaton.reads, edges) >= _IN_A_ROW:
        return True
    return _most_ways(automaton.reads, edges, whole.first) > _MOST_WAYS


def _most_ways(reads: list[int], edges: dict[int, dict[int, int]], first: dict[int, int]) -> int:
    """In how many ways a text of one character over and over can be read, as far as that is counted."""
    steps = most = 0
    for character in _samples(list(set(reads))):
        able = {state for state in range(len(reads)) if reads[state] >> character & 1}
        ways = {state: count for state, count in first.items() if state in able}
        for _ in range(len(reads)):
            following: dict[int, int] = defaultdict(int)
            for state, count in ways.items():
                for other, more in edges.get(state, {}).items():
                    steps += 1
                    if other in able:
                        following[other] += count * more
            ways = following
            most = max(most, sum(ways.values()))
            if not ways or most > _MOST_WAYS or steps > _MOST_STEPS_COUNTED:
                break
        if most > _MOST_WAYS or steps > _MOST_STEPS_COUNTED:
            break
    return most


def _reachable(edges: dict[int, dict[int, int]], start: int) -> frozenset[int]:
    found: set[int] = set()
    pending = list(edges.get(start, ()))
    while pending:
        state = pending.pop()
        if state not in found:
            found.add(state)
            pending.extend(edges.get(state, ()))
    return frozenset(found)


def _loops(edges: dict[int, dict[int, int]], reach: dict[int, frozenset[int]]) -> list[list[int]]:
    """The states that can come back to themselves, those that can come to each other together."""
    found: dict[frozenset[int], list[int]] = {}
    for state in edges:
        if state in reach[state]:
            loop = frozenset(other for other in reach[state] if state in reach.get(other, ()))
            found.setdefault(loop, sorted(loop))
    return list(found.values())


def _has_two_ways(reads: list[int], edges: dict[int, dict[int, int]], loop: list[int]) -> bool:
    """Whether two different paths through a loop read one text and meet again."""
    inside = set(loop)
    following = {state: [each for each in edges[state] if each in inside] for state in loop}
    forward: set[tuple[int, int]] = set()
    back: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    pending = [(state, state) for state in loop]
    while pending:
        pair = pending.pop()
        if pair in forward:
            continue
        forward.add(pair)
        for one in following[pair[0]]:
            for other in following[pair[1]]:
                if reads[one] & reads[other]:
                    back[one, other].append(pair)
                    pending.append((one, other))
    pending = [(state, state) for state in loop]
    seen = set(pending)
    while pending:
        for pair in back[pending.pop()]:
            if pair[0] != pair[1]:
                return True
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return False


def _most_in_a_row(reads: list[int], edges: dict[int, dict[int, int]]) -> int:
    """How many states that repeat themselves come one behind the other while the same character is read."""
    repeating = [state for state in edges if state in edges[state]]
    if len(repeating) < _IN_A_ROW:
        return 0
    longest = 0
    for character in _samples(list(set(reads))):
        able = [state for state in range(len(reads)) if reads[state] >> character & 1]
        narrowed = {
            state: {each: 1 for each in edges.get(state, ()) if reads[each] >> character & 1}
            for state in able
        }
        length: dict[int, int] = {}
        # States are numbered as they are written, so what comes later has a higher number, but for outer loops.
        for state in sorted((each for each in repeating if each in narrowed), reverse=True):
            ahead = [length[each] for each in _reachable(narrowed, state) if each > state and each in length]
            length[state] = 1 + max(ahead, default=0)
        longest = max(longest, *length.values(), 0)
    return longest


def _samples(sets: list[int]) -> list[int]:
    """A character for each combination of ``sets`` that has one."""
    found: dict[int, int] = {}
    for character in range(_WIDTH):
        signature = sum(1 << number for number, each in enumerate(sets) if each >> character & 1)
        if signature:
            found.setdefault(signature, character)
    return list(found.values())


def _characters(kind: Any, value: Any) -> int | None:
    """The characters that one item reads, as bits; None for an item that is no single character."""
    if kind is op.LITERAL:
        return _bit(value)
    if kind is op.NOT_LITERAL:
        return _ANY & ~_bit(value)
    if kind is op.ANY:
        return _ANY
    if kind is not op.IN:
        return None
    found = 0
    for inner, each in value:
        if inner is op.LITERAL:
            found |= _bit(each)
        elif inner is op.RANGE:
            for point in range(each[0], min(each[1], each[0] + _WIDTH) + 1):
                found |= _bit(point)
        elif inner is op.CATEGORY:
            found |= _CATEGORIES.get(each, _ANY)
    return _ANY & ~found if value and value[0][0] is op.NEGATE else found


def _bit(point: int) -> int:
    # Characters beyond the Latin ones share a few bits; which of them they are seldom matters.
    return 1 << (point if point < _PLAIN else _PLAIN + point % (_WIDTH - _PLAIN))


def _matching(text: str) -> int:
    pattern = re.compile(text)
    return sum(1 << point for point in range(_PLAIN) if pattern.match(chr(point)))


_BEYOND: Final = _ANY & ~((1 << _PLAIN) - 1)
_CATEGORIES: Final = {
    op.CATEGORY_DIGIT: _matching(r"\d"),
    op.CATEGORY_NOT_DIGIT: _matching(r"\D") | _BEYOND,
    op.CATEGORY_SPACE: _matching(r"\s"),
    op.CATEGORY_NOT_SPACE: _matching(r"\S") | _BEYOND,
    op.CATEGORY_WORD: _matching(r"\w") | _BEYOND,
    op.CATEGORY_NOT_WORD: _matching(r"\W"),
}

__all__ = ["runs_away"]
