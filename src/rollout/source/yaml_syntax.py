"""Finds out what is wrong with a YAML text that cannot be parsed, and where a person should look.

The parser's own message says what it expected at the place where it gave up, which is often far from the mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from yaml.error import MarkedYAMLError, YAMLError

from rollout.source.place import MAX_DEPTH, Problem
from rollout.source.text import SourceFile

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONFLICT = re.compile(r"^(?:<<<<<<<|>>>>>>>)[ \r\n]", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{0,2}|u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|.)?")
_SURROGATE = re.compile(r"(?<!\\)(?:\\\\)*(\\u[dD][89a-fA-F])")
_TAG = re.compile(r"![^\s,\[\]{}]*")
_CLOSERS = {"[": "]", "{": "}"}
# A key longer than this is not looked for (YAML 1.2.2, section 7.4.2).
_LONGEST_KEY = 1024


class Fault(NamedTuple):
    """One kind of mistake, its place, and what the sentence about it needs to know."""

    kind: str
    start: int
    end: int
    facts: dict[str, Any]


class Trail(NamedTuple):
    """How far the reading came: where the last scalar or alias stood, and where what is still open begins."""

    start: int
    end: int
    open: Sequence[int]


def explain(source: SourceFile, error: YAMLError, trail: Trail) -> Problem:
    """The problem that an exception of the parser stands for."""
    text = source.text
    if not isinstance(error, MarkedYAMLError):
        found = _UNPRINTABLE.search(text)
        at = found.start() if found else 0
        code = ord(found[0]) if found else 0
        return Problem("control-character", source.span(at, at + 1), {"code": code})
    mark: Any = error.problem_mark or error.context_mark
    context: Any = error.context_mark or error.problem_mark
    scene = _Scene(text, min(mark.index, len(text)), min(context.index, len(text)), trail)
    if text[scene.at : scene.at + 1] == "\t":
        return Problem("tab-indentation", source.span(scene.at, scene.at + 1))
    if "nesting depth" in str(error.problem):
        return Problem("too-deep", source.span(scene.at, scene.at + 1), {"max_depth": MAX_DEPTH})
    fault = scene.explain(f"{error.context or ''}: {error.problem or ''}")
    return Problem("yaml-syntax", source.span(fault.start, fault.end), {"kind": fault.kind, **fault.facts})


class _Scene:
    """The text around the place where the parser gave up (``at``), in what it had begun to read at ``context``."""

    def __init__(self, text: str, at: int, context: int, trail: Trail) -> None:
        self.text = text
        self.at = at
        self.context = context
        self.trail = trail
        self.found = text[at : at + 1]
        self.line_start = text.rfind("\n", 0, at) + 1
        self.line_end = self.end_of_line(at)

    def explain(self, message: str) -> Fault:
        conflict = _CONFLICT.search(self.text)
        if conflict is not None:
            return Fault("conflict", conflict.start(), self.end_of_line(conflict.start()), {})
        for needles, judge in _JUDGES:
            if any(needle in message for needle in needles):
                return judge(self)
        return self.fault("other")

    def fault(self, kind: str, start: int | None = None, end: int | None = None, **facts: Any) -> Fault:
        at = self.at if start is None else start
        return Fault(kind, at, min(at + 1, len(self.text)) if end is None else end, facts)

    def end_of_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if end > at and self.text[end - 1] == "\r" else end

    @property
    def begins_line(self) -> bool:
        """Whether only white space stands before the place on its line."""
        return not self.text[self.line_start : self.at].strip()

    def line_before(self) -> tuple[int, int]:
        """Where the last line with content before this one begins (behind its ``- ``) and ends."""
        end = self.line_start
        while end > 0:
            start = self.text.rfind("\n", 0, end - 1) + 1
            line = self.text[start:end].rstrip()
            content = line.lstrip(" -")
            if content and not content.startswith("#"):
                return start + len(line) - len(content), start + len(line)
            end = start
        return 0, 0

    # One function for each thing that the parser can have missed

    def open_quote(self) -> Fault:
        return self.fault("unclosed-quote", self.context, quote=self.text[self.context])

    def escape(self) -> Fault:
        start = self.text.rfind("\\", 0, self.at + 1)
        found = _ESCAPE.match(self.text, max(start, 0))
        written = found[0] if found else self.found
        return self.fault("bad-escape", start, start + len(written), written=written)

    def surrogate(self) -> Fault:
        start = self.text.rfind("\\", 0, self.at + 1)
        if start < self.context and (found := _SURROGATE.search(self.text, self.context)) is not None:
            start = found.start(1)
        end = start + (10 if self.text[start + 1 : start + 2] == "U" else 6)
        written = self.text[start:end]
        is_half = re.fullmatch(r"\\(?:u|U0000)[dD][89a-fA-F][0-9a-fA-F]{2}", written) is not None
        return self.fault("surrogate-escape" if is_half else "no-character", start, end, written=written)

    def reserved(self) -> Fault:
        return self.fault("reserved-character", written=self.found)

    def colon(self) -> Fault:
        before = self.text[self.line_start : self.at]
        if len(before) > _LONGEST_KEY and ": " not in before:
            return self.fault("long-key", self.line_start, self.line_end, limit=_LONGEST_KEY)
        value = before.find(": ")
        if value >= 0:
            start = self.line_start + len(before) - len(before[value + 2 :].lstrip())
            if start < self.at:
                return self.fault("colon-in-text", start, self.line_end)
        start = self.line_start + len(before) - len(before.lstrip(" -"))
        above, above_end = self.line_before()
        above_column = above - (self.text.rfind("\n", 0, above) + 1)
        if start - self.line_start <= above_column and ": " not in self.text[above:above_end]:
            return self.fault("missing-colon", above, above_end, written=self.text[above:above_end])
        return self.fault("indented-below-value", start, self.at, key=self.text[start : self.at].strip())

    def no_colon(self) -> Fault:
        end = self.end_of_line(self.context)
        if end - self.context > _LONGEST_KEY:
            return self.fault("long-key", self.context, end, limit=_LONGEST_KEY)
        written = self.text[self.context : end].rstrip()
        return self.fault("missing-colon", self.context, self.context + len(written), written=written)

    def block(self) -> Fault:
        if self.found in ("]", "}"):
            return self.fault("extra-closer", written=self.found)
        if self.found == ":":
            return self.fault("no-key")
        if self.found in ("", "\n") or self.begins_line:
            return self.misplaced_line()
        first = self.text[self.trail.start : self.trail.start + 1]
        if first in ("'", '"') and self.trail.end <= self.at:
            if "\n" in self.text[self.trail.start : self.trail.end]:
                return self.fault("unclosed-quote", self.trail.start, quote=first)
            return self.fault("text-after-quote", self.at, self.line_end, quote=first)
        if first == "*":
            return self.fault("text-after-alias", self.trail.start, self.line_end)
        return self.fault("unexpected", written=self.found)

    def misplaced_line(self) -> Fault:
        column = self.at - self.line_start + 1
        in_list = self.text.startswith("-", self.context)
        if column == self.context - (self.text.rfind("\n", 0, self.context) + 1) + 1:
            kind = "key-among-items" if in_list else "item-among-keys"
            return self.fault(kind, self.at, self.line_end)
        return self.fault("indentation", self.at, max(self.line_end, self.at), spaces=column - 1)

    def flow(self) -> Fault:
        opened = self.text[self.context : self.context + 1]
        if self.found in ("]", "}"):
            line = self.text.count("\n", 0, self.context) + 1
            return self.fault("mismatch", opened=opened, written=self.found, line=line)
        home = self.text.rfind("\n", 0, self.context) + 1
        if not self.found or (self.line_start > home and self.indent(self.line_start) <= self.indent(home)):
            return self.fault("unclosed", self.context, opened=opened, closer=_CLOSERS.get(opened, "]"))
        if (placeholder := self.placeholder()) is not None:
            return placeholder
        first_line = self.end_of_line(self.trail.start)
        if self.trail.start > self.context and first_line < self.trail.end:
            return self.fault("missing-comma", first_line - 1, first_line)
        return self.fault("missing-comma")

    def placeholder(self) -> Fault | None:
        """The ``${…}`` whose brace was taken for the beginning of an object; None where that is not what happened."""
        start = self.text.rfind("${", self.context, self.at + 1)
        end = self.text.find("}", start)
        if start < 0 or end < self.at or "\n" in self.text[start:end]:
            return None
        return self.fault("placeholder", start, end + 1, written=self.text[start : end + 1])

    def indent(self, line_start: int) -> int:
        line = self.text[line_start : self.end_of_line(line_start)]
        return len(line) - len(line.lstrip(" "))

    def no_content(self) -> Fault:
        if self.found:
            return self.fault("unexpected", written=self.found)
        opened = next((at for at in reversed(self.trail.open) if self.text[at : at + 1] in _CLOSERS), None)
        if opened is None:
            return self.fault("other")
        bracket = self.text[opened]
        return self.fault("unclosed", opened, opened=bracket, closer=_CLOSERS[bracket])

    def reference(self) -> Fault:
        written = self.text[self.context : self.end_of_line(self.context)].split(" #")[0].rstrip()
        return self.fault("reference", self.context, self.context + len(written), written=written)

    def tag(self) -> Fault:
        found = _TAG.match(self.text, self.context)
        written = found[0] if found else "!"
        return self.fault("tag", self.context, self.context + len(written), written=written)

    def block_header(self) -> Fault:
        return self.fault("block-header", self.context, self.line_end, mark=self.text[self.context])

    def after_document(self) -> Fault:
        first = re.match(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*( *)", self.text)
        if first is not None and first[1] and self.begins_line:
            return self.fault("indentation", self.at, self.line_end, spaces=self.at - self.line_start)
        return self.fault("after-end", self.at, self.line_end)

    def directive(self) -> Fault:
        return self.fault("directive", self.line_start, self.line_end)


_JUDGES: tuple[tuple[tuple[str, ...], Callable[[_Scene], Fault]], ...] = (
    (
        ("found unexpected end of stream", "unexpected document indicator", "unexpected document separator"),
        _Scene.open_quote,
    ),
    (("invalid Unicode character escape",), _Scene.surrogate),
    (("unknown escape", "hexdecimal", "hexadecimal"), _Scene.escape),
    (("cannot start any token",), _Scene.reserved),
    (("mapping values are not allowed",), _Scene.colon),
    (("could not find expected ':'",), _Scene.no_colon),
    (("sequence entries are not allowed",), lambda scene: scene.fault("inline-list")),
    (("mapping keys are not allowed",), lambda scene: scene.fault("question-mark")),
    (("expected ',' or",), _Scene.flow),
    (("expected node content", "expected the node content"), _Scene.no_content),
    (("scanning an alias", "scanning an anchor"), _Scene.reference),
    (("a tag:", "undefined tag handle"), _Scene.tag),
    (("a block scalar:",), _Scene.block_header),
    (("document start>",), _Scene.after_document),
    (("directive", "incompatible YAML document"), _Scene.directive),
    (("expected key", "'-' indicator", "expected <block end>"), _Scene.block),
)

__all__ = ["Trail", "explain"]
