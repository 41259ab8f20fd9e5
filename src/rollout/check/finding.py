"""What a rule yields: where, said as a route of keys, and the sentence. Lines and columns are worked out later."""

from __future__ import annotations

from dataclasses import dataclass

from rollout.diagnostics import Span
from rollout.source.place import At, Route


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect at ``route`` (``at`` its key or its value).

    ``see`` are further places, each a route (or a span, where a rule only has that) with a few words.
    ``span`` is given instead of a route by rules that look inside a text, such as SQL.
    """

    route: Route
    message: str
    hint: str | None = None
    at: At = "value"
    see: tuple[tuple[Route | Span, str], ...] = ()
    span: Span | None = None


__all__ = ["Finding"]
