"""Reads strict JSON (RFC 8259), and keeps the place of every key and value."""

from __future__ import annotations

import gc
import re
from math import isinf
from typing import Any, NoReturn

from rollout.source.place import MAX_DEPTH, Parsed, Place, Problem
from rollout.source.text import SourceFile

MAX_PROBLEMS = 1000
"""After how many problems the rest of a text is not read."""

_BLANK = re.compile(r"[ \t\n\r]*")
# Possessive, because a quote that is never closed would otherwise be tried in exponentially many ways.
_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"')
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![0-9A-Za-z_.+-])")
_CURLY = "“”„‟‘’‚«»"
_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_CONSTANTS = {"true": True, "false": False, "null": None}
_NOT_FINITE = re.compile(r"[-+]?(?:NaN|Infinity|inf|nan)\b")
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))"
)
_SHORT = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LONGEST_INT = 4300
"""How many digits a whole number may have: the bound Python sets to the time that reading one takes."""

# From here on, collecting garbage while many small objects are built that all stay takes longer than building them.
_SMALL = 100_000


class _Fatal(Exception):
    """The rest of the text cannot be read; a problem says why."""


def parse(source: SourceFile, problems: list[Problem]) -> Parsed | None:
    """The value of a JSON text with its places; None when it has none, and then a problem says why.

    A key given twice, a lone surrogate, NaN and the like are problems, and there is a value too, so that the rest
    of it can be checked. Whole numbers are exact, however large.
    """
    collecting = gc.isenabled() and len(source.text) > _SMALL
    if collecting:
        gc.disable()
    try:
        return _Reader(source, problems).read()
    except _Fatal:
        return None
    finally:
        if collecting:
            gc.enable()


class _Reader:
    """Walks over one text, from left to right and once."""

    def __init__(self, source: SourceFile, problems: list[Problem]) -> None:
        self.source = source
        self.text = source.text
        self.problems = problems
        self.told = 0

    def read(self) -> Parsed:
        start = self._skip(0)
        if start == len(self.text):
            self._fail("empty-file", 0, 0)
        value, place = self._value(start, ())
        end = self._skip(place.end)
        if end < len(self.text):
            self._comment(end)
            if self.text[end:].strip() == ",":
                self._syntax("comma-after-end", end, end + 1)
            self._syntax("trailing", end, len(self.text.rstrip()))
        return Parsed(value, place)

    def _skip(self, at: int) -> int:
        return _BLANK.match(self.text, at).end()  # type: ignore[union-attr]

    def _value(self, at: int, above: tuple[int, ...]) -> tuple[Any, Place]:
        """The value at ``at``, where something stands; ``above`` is where the objects and lists around it begin."""
        text = self.text
        first = text[at]
        if first == '"':
            value, end = self._string(at)
            return value, Place(self.source, at, end)
        if first == "{" or first == "[":
            if len(above) >= MAX_DEPTH:
                self._fail("too-deep", at, at + 1, max_depth=MAX_DEPTH)
            return self._object(at, (*above, at)) if first == "{" else self._list(at, (*above, at))
        number = _NUMBER.match(text, at)
        if number is not None:
            return self._number(number), Place(self.source, at, number.end())
        word = _WORD.match(text, at)
        if word is not None and word[0] in _CONSTANTS:
            return _CONSTANTS[word[0]], Place(self.source, at, word.end())
        special = _NOT_FINITE.match(text, at)
        if special is not None:
            self._problem("bad-number", at, special.end(), written=special[0])
            return 0, Place(self.source, at, special.end())
        return self._no_value(at, above)

    def _object(self, start: int, above: tuple[int, ...]) -> tuple[Any, Place]:
        text = self.text
        value: dict[str, Any] = {}
        children: dict[str, Place] = {}
        at = self._skip(start + 1)
        if text.startswith("}", at):
            return value, Place(self.source, start, at + 1, children)
        while True:
            if not text.startswith('"', at):
                self._no_key(at, above)
            key, key_end = self._string(at)
            colon = self._skip(key_end)
            if not text.startswith(":", colon):
                self._missing_colon(at, key_end, colon, above)
            begin = self._skip(colon + 1)
            if begin == len(text):
                self._unclosed(above)
            member, place = self._value(begin, above)
            place.key_start, place.key_end = at, key_end
            if key in children:
                first = children[key].span("key")
                see = ((first, "the first one"),)
                self._problem("duplicate-key", at, key_end, key=key, first=first, see=see)
            else:
                value[key], children[key] = member, place
            after = self._skip(place.end)
            if text.startswith("}", after):
                return value, Place(self.source, start, after + 1, children)
            at = self._comma(after, place.end, "}", above)

    def _list(self, start: int, above: tuple[int, ...]) -> tuple[Any, Place]:
        text = self.text
        value: list[Any] = []
        children: list[Place] = []
        at = self._skip(start + 1)
        if text.startswith("]", at):
            return value, Place(self.source, start, at + 1, children)
        while True:
            if at == len(text):
                self._unclosed(above)
            member, place = self._value(at, above)
            value.append(member)
            children.append(place)
            after = self._skip(place.end)
            if text.startswith("]", after):
                return value, Place(self.source, start, after + 1, children)
            at = self._comma(after, place.end, "]", above)

    def _comma(self, at: int, end: int, closer: str, above: tuple[int, ...]) -> int:
        """Behind the comma at ``at``, where the next member begins; ``end`` is the end of the one before."""
        text = self.text
        if at == len(text):
            self._unclosed(above)
        if text[at] != ",":
            self._comment(at)
            if text[at] in "]}":
                self._mismatch(at, above)
            self._syntax("missing-comma", end, end + 1)
        following = self._skip(at + 1)
        if text.startswith(closer, following):
            self._syntax("trailing-comma", at, at + 1)
        return following

    def _number(self, match: re.Match[str]) -> int | float:
        whole, fraction, exponent = match.groups()
        number: int | float
        if fraction is None and exponent is None:
            if len(whole) <= _LONGEST_INT:
                return int(whole)
            self._problem("bad-number", match.start(), match.end(), written=whole)
            return 0
        number = float(match[0])
        if isinf(number):
            self._problem("bad-number", match.start(), match.end(), written=match[0])
            return 0
        return number

    def _string(self, start: int) -> tuple[str, int]:
        match = _STRING.match(self.text, start)
        if match is None:
            self._bad_string(start)
        written = match[1]
        if "\\" not in written:
            return written, match.end()

        def decode(escape: re.Match[str]) -> str:
            high, low, single, short = escape.groups()
            if short is not None:
                return _SHORT[short]
            if single is None:
                return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
            code = int(single, 16)
            if 0xD800 <= code < 0xE000:
                at = start + 1 + escape.start()
                self._problem("lone-surrogate", at, at + 6, written=escape[0])
                return "\ufffd"
            return chr(code)

        return _ESCAPE.sub(decode, written), match.end()

    # What follows runs once a text, when it is known to be wrong, and finds out how to say so.

    def _bad_string(self, start: int) -> NoReturn:
        at = start + 1
        text = self.text
        while True:
            stop = re.compile(r'["\\\x00-\x1f]').search(text, at)
            if stop is None or stop[0] in "\n\r":
                self._syntax("unclosed-string", start, stop.start() if stop else len(text))
            if stop[0] == "\\":
                escape = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})').match(text, stop.start())
                if escape is None:
                    begin = stop.start()
                    if begin + 1 == len(text):
                        self._syntax("unclosed-string", start, len(text))
                    length = 6 if text[begin + 1] == "u" else 2
                    self._syntax("bad-escape", begin, min(begin + length, len(text)))
                at = escape.end()
            else:
                self._syntax("control-character", stop.start(), stop.end(), code=ord(stop[0]))

    def _no_value(self, at: int, above: tuple[int, ...]) -> NoReturn:
        text, first = self.text, self.text[at]
        self._comment(at)
        if first == "'":
            self._single_quotes(at)
        if first in "]}":
            before = text[:at].rstrip()
            if above and text[above[-1]] == ("[" if first == "]" else "{"):
                self._syntax("missing-value", at, at + 1, after=before[-1:])
            self._mismatch(at, above)
        if first == ",":
            self._syntax("missing-value", at, at + 1, after=text[:at].rstrip()[-1:])
        self._curly_quotes(at)
        number = re.compile(r"[-+.]?[0-9][0-9A-Za-z_.+-]*").match(text, at)
        if number is not None:
            self._syntax("bad-number", at, number.end(), written=number[0])
        word = _WORD.match(text, at)
        if word is not None:
            self._syntax("bare-word", at, word.end(), written=word[0])
        self._syntax("unexpected", at, at + 1, written=first)

    def _no_key(self, at: int, above: tuple[int, ...]) -> NoReturn:
        text = self.text
        if at == len(text):
            self._unclosed(above)
        self._comment(at)
        if text[at] == "'":
            self._single_quotes(at)
        if text[at] == "]":
            self._mismatch(at, above)
        self._curly_quotes(at)
        word = re.compile(r"[A-Za-z0-9_$.-]+").match(text, at)
        if word is not None:
            self._syntax("bare-key", at, word.end(), written=word[0])
        self._syntax("no-key", at, at + 1, written=text[at])

    def _missing_colon(self, start: int, end: int, at: int, above: tuple[int, ...]) -> NoReturn:
        if at == len(self.text):
            self._unclosed(above)
        self._comment(at)
        self._syntax("missing-colon", start, end, key=self.text[start + 1 : end - 1])

    def _single_quotes(self, at: int) -> NoReturn:
        quoted = re.compile(r"'(?:[^'\\\n]|\\.)*'?").match(self.text, at)
        self._syntax("single-quotes", at, quoted.end() if quoted else at + 1)

    def _curly_quotes(self, at: int) -> None:
        if self.text[at] in _CURLY:
            end = re.compile(f"[^{_CURLY}\n]*[{_CURLY}]?").match(self.text, at + 1)
            self._syntax("curly-quotes", at, end.end() if end else at + 1, written=self.text[at])

    def _comment(self, at: int) -> None:
        if self.text.startswith(("//", "/*", "#"), at):
            end = self.text.find("\n", at)
            self._syntax("comment", at, end if end >= 0 else len(self.text))

    def _mismatch(self, at: int, above: tuple[int, ...]) -> NoReturn:
        if not above:
            self._syntax("unexpected", at, at + 1, written=self.text[at])
        opened = self.text[above[-1]]
        line, _ = self.source.position(above[-1])
        self._syntax("mismatch", at, at + 1, written=self.text[at], opened=opened, line=line)

    def _unclosed(self, above: tuple[int, ...]) -> NoReturn:
        at = above[-1]
        self._syntax("unclosed", at, at + 1, opened=self.text[at])

    def _syntax(self, kind: str, start: int, end: int, **facts: Any) -> NoReturn:
        self._fail("json-syntax", start, end, kind=kind, **facts)

    def _fail(self, slug: str, start: int, end: int, **facts: Any) -> NoReturn:
        self._problem(slug, start, end, **facts)
        raise _Fatal

    def _problem(self, slug: str, start: int, end: int, **facts: Any) -> None:
        self.problems.append(Problem(slug, self.source.span(start, end), facts))
        self.told += 1
        if self.told > MAX_PROBLEMS:
            raise _Fatal


__all__ = ["MAX_PROBLEMS", "parse"]
