"""Keys that are given twice: which of the two was meant nobody can say, so what stands there is not judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rollout.diagnostics import Span
from rollout.source.document import Document
from rollout.source.place import Place, Problem, Route


class Doubled:
    """The keys of ``document`` that are given twice; ``problems`` may grow between questions."""

    def __init__(self, document: Document, problems: Sequence[Problem]) -> None:
        self._document = document
        self._problems = problems
        self._seen = 0
        self._keys: dict[str, set[Span]] = {}
        self._headers: set[Span] = set()

    def holds(self, route: Route) -> bool:
        """Whether ``route`` is that of a key which is given twice, or of something in what stands there."""
        if not self._known():
            return False
        return any(
            isinstance(step, str) and step in self._keys and self._is_doubled(route, number + 1)
            for number, step in enumerate(route)
        )

    def _is_doubled(self, route: Route, depth: int) -> bool:
        span = self._document.span(route[:depth], "key")
        # A second header of a table may be that of a list, which is told of the table itself.
        return span in self._keys[str(route[depth - 1])] and (depth < len(route) or span not in self._headers)

    def routes(self) -> Iterator[Route]:
        """The routes of those keys, but for the ones in tasks."""
        pending: list[tuple[Route, Place]] = [((), self._document.place)] if self._known() else []
        while pending:
            route, place = pending.pop()
            children = place.children
            if isinstance(children, dict):
                for key, child in children.items():
                    if key in self._keys and child.span("key") in self._keys[key]:
                        yield (*route, key)
                    else:
                        pending.append(((*route, key), child))
            elif isinstance(children, list):
                pending += [((*route, index), child) for index, child in enumerate(children)]

    def _known(self) -> bool:
        for problem in self._problems[self._seen :] if len(self._problems) > self._seen else ():
            if problem.slug == "duplicate-key" and "key" in problem.facts:
                self._keys.setdefault(problem.facts["key"], set()).add(problem.facts["first"])
                if problem.facts.get("header"):
                    self._headers.add(problem.facts["first"])
        self._seen = len(self._problems)
        return bool(self._keys)


__all__ = ["Doubled"]
