"""The scalars of TOML 1.0: strings of all four kinds, numbers, booleans, dates and times.

Each function takes the text and where the scalar starts, and returns its value and where it ends. Dates and times
become strings, since JSON has none: as they are written, so that they mean the same as the same text in YAML.
"""

from __future__ import annotations

import math
import re
from datetime import date
from typing import Any

_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?"
_DATE = r"(?P<year>[0-9]{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"
_ZONE = r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_MOMENT = re.compile(rf"{_DATE}(?:[Tt ]{_TIME}{_ZONE}?)?")
_CLOCK = re.compile(_TIME)
_INTEGER = re.compile(r"[+-]?(?:0|[1-9](?:_?[0-9])*)")
_PREFIXED = re.compile(r"0x[0-9A-Fa-f](?:_?[0-9A-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*")
_FLOAT = re.compile(
    r"[+-]?(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9](?:_?[0-9])*)?(?:[eE][+-]?[0-9](?:_?[0-9])*)?|[+-]?(?:inf|nan)"
)
_BARE = re.compile(r"[^\s,\[\]{}#=\"']+")
_DATE_SPACE_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[^\s,\[\]{}#=\"']*")

_PLAIN = {
    '"': re.compile(r'[^"\\\x00-\x08\x0a-\x1f\x7f]*'),
    "'": re.compile(r"[^'\x00-\x08\x0a-\x1f\x7f]*"),
    '"""': re.compile(r'(?:[^"\\\x00-\x08\x0b-\x1f\x7f]+|\r\n|"(?!""))*'),
    "'''": re.compile(r"(?:[^'\x00-\x08\x0b-\x1f\x7f]+|\r\n|'(?!''))*"),
}
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_LINE_ENDING_BACKSLASH = re.compile(r"\\[ \t]*\r?\n(?:[ \t\n]|\r\n)*")
_TRAILING_BACKSLASH = re.compile(r"\\[ \t]+\Z")


class Fault(Exception):
    """The text is no TOML: ``kind`` of fault from ``start`` to ``end``. The rule toml-syntax has the words."""

    def __init__(self, kind: str, start: int, end: int, **facts: Any) -> None:
        super().__init__(kind)
        self.kind = kind
        self.start = start
        self.end = end
        self.facts = facts


def read_string(text: str, start: int, *, is_key: bool = False) -> tuple[str, int]:
    """The string that begins with the quote at ``start``. Raises Fault; a key may not be a multi-line string."""
    quote = text[start]
    delimiter = quote * 3 if text.startswith(quote * 3, start) and not is_key else quote
    several_lines = len(delimiter) == 3
    at = start + len(delimiter)
    if several_lines:
        at += 2 if text.startswith("\r\n", at) else text.startswith("\n", at)
    parts: list[str] = []
    while True:
        match = _PLAIN[delimiter].match(text, at)
        assert match is not None, "a pattern that may be empty always matches"
        parts.append(match[0])
        at = match.end()
        if text.startswith(delimiter, at):
            break
        if at == len(text):
            raise Fault("unclosed-string", start, start + len(delimiter), delimiter=delimiter)
        if text[at] == "\\" and quote == '"':
            value, at = _read_escape(text, at, several_lines)
            parts.append(value)
        elif text[at] == "\n" or text.startswith("\r\n", at):
            raise Fault("line-break-in-string", start, at, delimiter=delimiter)
        else:
            raise Fault("control-character", at, at + 1, code=ord(text[at]))
    at += len(delimiter)
    if several_lines:
        # Up to two quotes may stand directly before the closing three.
        extra = 2 if text.startswith(quote * 2, at) else int(text.startswith(quote, at))
        parts.append(quote * extra)
        at += extra
        return "".join(parts).replace("\r\n", "\n") if "\r" in text else "".join(parts), at
    return "".join(parts), at


def _read_escape(text: str, at: int, several_lines: bool) -> tuple[str, int]:
    kind = text[at + 1 : at + 2]
    if kind in _ESCAPES and kind:
        return _ESCAPES[kind], at + 2
    if kind in ("u", "U"):
        length = 4 if kind == "u" else 8
        digits = text[at + 2 : at + 2 + length]
        end = at + 2 + length
        if len(digits) != length or not re.fullmatch(r"[0-9A-Fa-f]+", digits):
            raise Fault("short-code-point", at, at + 2, digits=length, letter=kind)
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise Fault("no-code-point", at, end, escape=text[at:end])
        return chr(code), end
    if several_lines and (match := _LINE_ENDING_BACKSLASH.match(text, at)):
        return "", match.end()
    if several_lines and (match := _TRAILING_BACKSLASH.match(text, at)):
        return "", match.end()
    raise Fault("bad-escape", at, min(at + 2, len(text)), escape=text[at : at + 2].rstrip())


def read_bare(text: str, start: int) -> tuple[Any, int]:
    """The number, boolean, date or time at ``start``. Raises Fault when it is none of them.

    An infinity or NaN is returned as the float it is; the caller knows that JSON has none.
    """
    match = _DATE_SPACE_TIME.match(text, start) or _BARE.match(text, start)
    if match is None:
        raise Fault("no-value", start, min(start + 1, len(text)))
    word, end = match[0], match.end()
    if word == "true" or word == "false":
        return word == "true", end
    try:
        if _INTEGER.fullmatch(word):
            return int(word.replace("_", "")), end
        if _FLOAT.fullmatch(word):
            return float(word.replace("_", "")), end
        if _PREFIXED.fullmatch(word):
            return int(word.replace("_", ""), 0), end
    except ValueError:
        raise Fault("number-too-long", start, end, digits=len(word)) from None
    if _CLOCK.fullmatch(word):
        return word, end
    if (moment := _MOMENT.fullmatch(word)) is not None:
        try:
            date(int(moment["year"]), int(moment["month"]), int(moment["day"]))
        except ValueError:
            raise Fault("no-such-date", start, end, word=word) from None
        return word, end
    raise Fault("bad-value", start, end, word=word)


def is_finite(value: Any) -> bool:
    """Whether JSON can hold the scalar: everything but an infinity or NaN."""
    return not isinstance(value, float) or math.isfinite(value)


__all__ = ["Fault", "is_finite", "read_bare", "read_string"]
