"""Where a piece of a text stands in its file, when the text is a value in YAML, TOML, JSON or a file of its own."""

from __future__ import annotations

from rollout.diagnostics import Span
from rollout.source.place import Place

_QUOTES = ('"""', "'''", '"', "'")


def span_inside(place: Place, value: str, start: int, end: int) -> Span:
    """The span in the file of ``value[start:end]``, where ``value`` is the string read at ``place``.

    Exact where the file holds the text as it is: a file of its own, a quoted string without escapes, a literal
    block. Where it does not (escapes, folded lines), the span of the line or of the whole value.
    """
    source = place.source
    raw = source.text[place.start : place.end]
    for quote in _QUOTES:
        if raw.startswith(quote) and raw.endswith(quote) and len(raw) >= 2 * len(quote):
            opening = len(quote)
            if len(quote) == 3 and raw[opening : opening + 1] == "\n":
                opening += 1
            if raw[opening : -len(quote)] == value:
                return source.span(place.start + opening + start, place.start + opening + end)
            return place.span()
    if raw.startswith(value):
        return source.span(place.start + start, place.start + end)
    return _span_by_line(place, raw, value, start, end) or place.span()


def _span_by_line(place: Place, raw: str, value: str, start: int, end: int) -> Span | None:
    # A literal block, or a file with \r\n: the same lines, each indented or ended differently.
    row = value.count("\n", 0, start)
    column = start - (value.rfind("\n", 0, start) + 1)
    line = value.split("\n")[row]
    lines = raw.split("\n")
    skipped = 1 if raw[:1] in ("|", ">") else 0
    if skipped + row >= len(lines):
        return None
    found = lines[skipped + row].removesuffix("\r").find(line)
    if found < 0:
        return None
    offset = sum(len(before) + 1 for before in lines[: skipped + row]) + found + column
    length = min(end - start, len(line) - column)
    return place.source.span(place.start + offset, place.start + offset + max(length, 0))


__all__ = ["span_inside"]
