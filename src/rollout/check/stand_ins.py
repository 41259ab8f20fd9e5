"""Where something stands that could not be read, and was read as nothing or as 0 so that the rest could be checked.

What a rule says of a value that holds such a thing only follows from it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rollout.diagnostics import Span
from rollout.source.place import Place, Problem, Route

_REPLACED = frozenset(
    {"bad-number", "expanding-aliases", "lone-surrogate", "recursive-alias", "tag-mismatch", "unknown-alias"}
    | {"unknown-tag"}
)


class StandIns:
    """The places of values that stand for others, by file; ``problems`` may grow between questions."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self._problems = problems
        self._seen = 0
        self._starts: dict[str, list[tuple[int, int]]] = {}

    def __bool__(self) -> bool:
        self._take_new()
        return bool(self._starts)

    def are_in(self, span: Span) -> bool:
        """Whether one of them stands in the stretch that ``span`` covers."""
        self._take_new()
        starts = self._starts.get(span.path, ())
        first = bisect_left(starts, (span.line, span.column))
        return first < len(starts) and starts[first] < (span.end_line, span.end_column)

    def routes(self, root: Place) -> Iterator[Route]:
        """The routes of those that stand below ``root``."""
        pending: list[tuple[Route, Place]] = [((), root)] if self else []
        while pending:
            route, place = pending.pop()
            children = place.children
            if isinstance(children, dict):
                pending += [((*route, key), child) for key, child in children.items()]
            elif isinstance(children, list):
                pending += [((*route, index), child) for index, child in enumerate(children)]
            elif self.are_in(place.span()):
                yield route

    def _take_new(self) -> None:
        changed = set()
        for problem in self._problems[self._seen :] if len(self._problems) > self._seen else ():
            if problem.slug in _REPLACED:
                span = problem.span
                self._starts.setdefault(span.path, []).append((span.line, span.column))
                changed.add(span.path)
        self._seen = len(self._problems)
        for path in changed:
            self._starts[path].sort()


__all__ = ["StandIns"]
