"""Reads TOML 1.0 and remembers where every key and value stands.

The parsers that exist give values without places, or places without columns; this one gives both. It accepts what
``tomllib`` accepts and refuses what it refuses, except that infinities and NaN, which JSON does not have, are
problems, and that dates and times are read as their ISO 8601 text.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from rollout.diagnostics import Span
from rollout.source.place import Parsed, Place, Problem
from rollout.source.text import SourceFile
from rollout.source.toml_scalars import Fault, is_finite, read_bare, read_string

_MAX_DEPTH = 100
_BLANK = re.compile(r"[ \t]*")
_LINE_START = re.compile(r"(?:[ \t\n]|\r\n)*")
_FILLER = re.compile(r"(?:[ \t\n]|\r\n|#[^\x00-\x08\x0a-\x1f\x7f]*)*")
_LINE_END = re.compile(r"[ \t]*(?:#[^\x00-\x08\x0a-\x1f\x7f]*)?(?:\r?\n|\Z)")
_COMMENT = re.compile(r"[ \t]*#[^\x00-\x08\x0a-\x1f\x7f]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_REST_OF_LINE = re.compile(r"[^\n]*")
# Faults that every format can have: rules of their own have the words.
_SHARED = frozenset({"control-character", "too-deep"})


class _Key(NamedTuple):
    """One part of a key, such as ``b`` in ``a.b = 1``."""

    name: str
    start: int
    end: int


class _Table:
    """A table while it is being read. ``state`` says what may still be added to it:

    ``implied``: only named on the way to another (may still get its header or dotted keys);
    ``dotted``: made by dotted keys of ``section`` (only that section may add more);
    ``headed``: has had its header; ``closed``: an inline table, complete as it stands.
    """

    __slots__ = ("members", "place", "places", "section", "state", "value")

    def __init__(self, place: Place, state: str, section: object = None) -> None:
        self.value: dict[str, Any] = {}
        self.places: dict[str, Place] = {}
        self.place = place
        place.children = self.places
        self.state = state
        self.section = section
        self.members: dict[str, _Table | list[_Table]] = {}

    def put(self, key: _Key, value: Any, place: Place) -> None:
        place.key_start, place.key_end = key.start, key.end
        self.value[key.name] = value
        self.places[key.name] = place


def parse(source: SourceFile, problems: list[Problem]) -> Parsed | None:
    """The document as plain values beside their places; None when it is no TOML.

    What is wrong goes to ``problems``: ``toml-syntax``, ``control-character`` and ``too-deep`` (the first fault
    only; the rest of the file is not read), ``duplicate-key`` and ``bad-number`` (the reading goes on).
    """
    reader = _Reader(source, problems)
    try:
        reader.read_document()
    except Fault as fault:
        slug, facts = fault.kind, fault.facts
        if slug not in _SHARED:
            slug, facts = "toml-syntax", {"kind": slug, **facts}
        problems.append(Problem(slug, source.span(fault.start, fault.end), facts))
        return None
    return Parsed(reader.root.value, reader.root.place)


class _Reader:
    def __init__(self, source: SourceFile, problems: list[Problem]) -> None:
        self.source = source
        self.text = source.text
        self.problems = problems
        self.root = _Table(Place(source, 0, len(source.text)), "headed")
        self.repeated: set[Span] = set()

    # Statements

    def read_document(self) -> None:
        text, at, length = self.text, 0, len(self.text)
        table, depth = self.root, 0
        section: object = object()
        while True:
            match = _LINE_START.match(text, at)
            at = match.end() if match else at
            if at == length:
                return
            if text[at] == "[":
                table, depth, at = self.read_header(at)
                section = object()
            elif text[at] != "#":
                at = self.read_pair(table, section, at, depth)
            at = self.end_statement(at)

    def end_statement(self, at: int) -> int:
        match = _LINE_END.match(self.text, at)
        if match is not None:
            return match.end()
        comment = _COMMENT.match(self.text, at)
        if comment is not None:
            bad = comment.end()
            raise Fault("control-character", bad, bad + 1, code=ord(self.text[bad]))
        at = self.skip_blank(at)
        if self.text[at] == "\r":
            raise Fault("control-character", at, at + 1, code=13)
        raise Fault("text-after-value", at, self.line_end(at), rest=self.text[at : self.line_end(at)])

    def read_header(self, start: int) -> tuple[_Table, int, int]:
        of_array = self.text.startswith("[[", start)
        close = "]]" if of_array else "]"
        keys, at = self.read_key(start + len(close))
        if not self.text.startswith(close, at):
            raise Fault("unclosed-header", start, at, close=close)
        end = at + len(close)
        if len(keys) > _MAX_DEPTH:
            raise Fault("too-deep", start, end, max_depth=_MAX_DEPTH)
        table = self.root
        for key in keys[:-1]:
            table = self.step_through(table, key, start, end)
        last = keys[-1]
        if of_array:
            return self.add_to_array(table, last, start, end), len(keys) + 1, end
        return self.open_table(table, last, start, end), len(keys), end

    def step_through(self, table: _Table, key: _Key, start: int, end: int) -> _Table:
        member = table.members.get(key.name)
        if isinstance(member, list):
            return member[-1]
        if member is not None and member.state != "closed":
            return member
        if key.name in table.value:
            self.duplicate(table, key)
            return _Table(Place(self.source, start, end), "implied")
        return self.new_table(table, key, Place(self.source, start, end), "implied")

    def open_table(self, table: _Table, key: _Key, start: int, end: int) -> _Table:
        member = table.members.get(key.name)
        if isinstance(member, _Table) and member.state == "implied":
            member.state = "headed"
            member.place.start, member.place.end = start, end
            member.place.key_start, member.place.key_end = key.start, key.end
            return member
        if key.name in table.value:
            self.duplicate(table, key, header=self.text[start:end])
            return _Table(Place(self.source, start, end), "headed")
        return self.new_table(table, key, Place(self.source, start, end), "headed")

    def add_to_array(self, table: _Table, key: _Key, start: int, end: int) -> _Table:
        members = table.members.get(key.name)
        element = _Table(Place(self.source, start, end), "headed")
        if isinstance(members, list):
            members.append(element)
            table.value[key.name].append(element.value)
            children = table.places[key.name].children
            assert isinstance(children, list)
            children.append(element.place)
        elif key.name in table.value:
            self.duplicate(table, key)
        else:
            table.members[key.name] = [element]
            table.put(key, [element.value], Place(self.source, start, end, [element.place]))
        return element

    def read_pair(self, table: _Table, section: object, start: int, depth: int) -> int:
        """Reads ``key = value`` into ``table``."""
        keys, at = self.read_key(start)
        if not self.text.startswith("=", at):
            raise Fault("no-equals", keys[0].start, keys[-1].end, key=self.text[keys[0].start : keys[-1].end])
        depth += len(keys)
        if depth > _MAX_DEPTH:
            raise Fault("too-deep", keys[0].start, keys[-1].end, max_depth=_MAX_DEPTH)
        value_start = self.skip_blank(at + 1)
        value, place, at = self.read_value(value_start, depth)
        for key in keys[:-1]:
            below = self.step_by_dots(table, key, section, keys)
            if below is None:
                return at
            table = below
        last = keys[-1]
        if last.name in table.value:
            self.duplicate(table, last)
        else:
            table.put(last, value, place)
        return at

    def step_by_dots(self, table: _Table, key: _Key, section: object, keys: list[_Key]) -> _Table | None:
        member = table.members.get(key.name)
        if isinstance(member, _Table):
            if member.state == "implied":
                member.state, member.section = "dotted", section
                return member
            if member.state == "dotted" and member.section is section:
                return member
        if key.name in table.value:
            self.duplicate(table, key)
            return None
        return self.new_table(table, key, Place(self.source, key.start, keys[-1].end), "dotted", section)

    def new_table(self, table: _Table, key: _Key, place: Place, state: str, section: object = None) -> _Table:
        made = _Table(place, state, section)
        table.members[key.name] = made
        table.put(key, made.value, place)
        return made

    # Keys and values

    def read_key(self, start: int) -> tuple[list[_Key], int]:
        """The parts of a key, and where the blank after it ends."""
        text = self.text
        keys: list[_Key] = []
        at = start
        while True:
            at = self.skip_blank(at)
            match = _BARE_KEY.match(text, at)
            if match is not None:
                keys.append(_Key(match[0], at, match.end()))
                at = match.end()
            elif text[at : at + 1] in ('"', "'"):
                name, end = read_string(text, at, is_key=True)
                keys.append(_Key(name, at, end))
                at = end
            else:
                found = text[at : at + 1]
                raise Fault("no-key", at, min(at + 1, len(text)), found=found, after_dot=bool(keys))
            at = self.skip_blank(at)
            if not text.startswith(".", at):
                return keys, at
            at += 1

    def read_value(self, at: int, depth: int) -> tuple[Any, Place, int]:
        text = self.text
        first = text[at : at + 1]
        value: Any
        if first in ('"', "'"):
            value, end = read_string(text, at)
            return value, Place(self.source, at, end), end
        if first == "[":
            return self.read_array(at, depth + 1)
        if first == "{":
            return self.read_inline_table(at, depth + 1)
        value, end = read_bare(text, at)
        if not is_finite(value):
            span = self.source.span(at, end)
            self.problems.append(Problem("bad-number", span, {"written": text[at:end]}))
            value = 0
        return value, Place(self.source, at, end), end

    def read_array(self, start: int, depth: int) -> tuple[list[Any], Place, int]:
        self.check_depth(start, depth)
        values: list[Any] = []
        places: list[Place] = []
        at = self.skip_filler(start + 1)
        while not self.text.startswith("]", at):
            self.check_open(start, at, "unclosed-array")
            value, place, at = self.read_value(at, depth)
            values.append(value)
            places.append(place)
            at = self.skip_filler(at)
            if self.text.startswith(",", at):
                at = self.skip_filler(at + 1)
            elif not self.text.startswith("]", at):
                self.check_open(start, at, "unclosed-array")
                raise Fault("no-comma-in-array", at, at + 1, found=self.text[at])
        return values, Place(self.source, start, at + 1, places), at + 1

    def read_inline_table(self, start: int, depth: int) -> tuple[dict[str, Any], Place, int]:
        self.check_depth(start, depth)
        table = _Table(Place(self.source, start, start), "closed")
        section = object()
        at = self.skip_blank(start + 1)
        while not self.text.startswith("}", at):
            self.check_open_inline(start, at)
            at = self.skip_blank(self.read_pair(table, section, at, depth - 1))
            if self.text.startswith(",", at):
                comma = at
                at = self.skip_blank(at + 1)
                self.check_open_inline(start, at)
                if self.text.startswith("}", at):
                    raise Fault("comma-before-brace", comma, comma + 1)
            elif not self.text.startswith("}", at):
                self.check_open_inline(start, at)
                raise Fault("no-comma-in-table", at, at + 1, found=self.text[at])
        table.place.end = at + 1
        return table.value, table.place, at + 1

    # Small steps

    def skip_blank(self, at: int) -> int:
        match = _BLANK.match(self.text, at)
        return match.end() if match else at

    def skip_filler(self, at: int) -> int:
        match = _FILLER.match(self.text, at)
        return match.end() if match else at

    def line_end(self, at: int) -> int:
        match = _REST_OF_LINE.match(self.text, at)
        rest = match[0].rstrip() if match else ""
        return at + max(1, len(rest))

    def check_depth(self, at: int, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise Fault("too-deep", at, at + 1, max_depth=_MAX_DEPTH)

    def check_open(self, start: int, at: int, kind: str) -> None:
        if at == len(self.text):
            raise Fault(kind, start, start + 1)

    def check_open_inline(self, start: int, at: int) -> None:
        self.check_open(start, at, "unclosed-table")
        if self.text[at] in "\r\n#":
            raise Fault("line-break-in-table", start, start + 1)

    def duplicate(self, table: _Table, key: _Key, header: str | None = None) -> None:
        first = table.places[key.name].span("key")
        if header is not None:
            if first in self.repeated:
                # The third header of a table has the same cause as the second.
                return
            self.repeated.add(first)
        span = self.source.span(key.start, key.end)
        facts = {"key": key.name, "first": first, "see": ((first, "the first one"),), "header": header}
        self.problems.append(Problem("duplicate-key", span, facts))


__all__ = ["parse"]
