"""Where a piece of a text stands in its file, when the text is a value in YAML, TOML, JSON or a file of its own."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple

from rollout.diagnostics import Span
from rollout.source.place import Place

_QUOTES = ('"""', "'''", '"', "'")
# What stands for one character between quotes of a kind. White space is passed over: lines may be folded.
_WRITTEN = {
    '"': re.compile(
        r"\\(?:[ntr ]|\s+)|\s+"
        r"|(?P<char>\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|u\w{4}|U\w{8}|x\w\w|.)|.)",
        re.DOTALL,
    ),
    "'": re.compile(r"\s+|(?P<char>''|.)", re.DOTALL),
    "": re.compile(r"\s+|(?P<char>.)", re.DOTALL),
}
_INK = re.compile(r"\S")


def span_inside(place: Place, value: str, start: int, end: int) -> Span:
    """The span in the file of ``value[start:end]``, where ``value`` is the string read at ``place``.

    Exact where the file has the text with escapes, folded or indented too; else the span of the whole value.
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
            return _span_by_character(place, opening, len(quote), quote[0], value, (start, end))
    if raw.startswith(value):
        return source.span(place.start + start, place.start + end)
    if (found := _span_by_line(place, raw, value, start, end)) is not None:
        return found
    opening = raw.find("\n") + 1 if raw[:1] in ("|", ">") else 0
    return _span_by_character(place, opening, 0, "", value, (start, end))


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


def _span_by_character(
    place: Place, opening: int, closing: int, quote: str, value: str, piece: tuple[int, int]
) -> Span:
    # Quoted with escapes, or over several lines that are folded into one.
    begin = place.start + opening
    aligned = _aligned(place.source.text[begin : place.end - closing], quote, value)
    if aligned is None:
        return place.span()
    first, last = bisect_left(aligned.places, piece[0]), bisect_left(aligned.places, piece[1]) - 1
    if last < first:
        return place.span()
    return place.source.span(begin + aligned.starts[first], begin + aligned.ends[last])


class _Aligned(NamedTuple):
    """The characters of a value that are no white space: their places in it, and where each is written."""

    places: array[int]
    starts: array[int]
    ends: array[int]


@lru_cache(maxsize=1)
def _aligned(raw: str, quote: str, value: str) -> _Aligned | None:
    """How a value and what is written for it go together; None where that cannot be told."""
    aligned = _Aligned(array("q"), array("q"), array("q"))
    aligned.places.extend(found.start() for found in _INK.finditer(value))
    for number, found in enumerate(each for each in _WRITTEN[quote].finditer(raw) if each["char"]):
        char = found["char"]
        if number == len(aligned.places) or (len(char) == 1 and char != value[aligned.places[number]]):
            return None
        aligned.starts.append(found.start())
        aligned.ends.append(found.end())
    return aligned if len(aligned.starts) == len(aligned.places) else None


__all__ = ["span_inside"]
