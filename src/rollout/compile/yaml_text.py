"""Writes YAML for people to review: blocks for text, short things on one line, quotes wherever YAML could misread.

Every reader of YAML 1.1 or 1.2 takes the same value from it, and every string survives: ``no``, ``012``, ``12:30``,
white space at the ends, control characters, U+2028.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rollout.source.place import Route

_WIDTH = 88
_LONGEST_SIMPLE_KEY = 200

# What libyaml calls printable, without the separators that YAML 1.1 takes for line breaks.
_UNPRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_READS_BETTER_IN_SINGLE = re.compile(r'["\\]')
_UNFIT_FOR_SINGLE = re.compile(f"{_UNPRINTABLE.pattern}|['\n\t]")
_PLAIN = re.compile(r"[^\W\d][^\n\t]*|[$/(][^\n\t]*", re.ASCII)
_BREAKS_PLAIN = re.compile(r": |:$| #| $|\xa0$")
_MISREAD = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_WORD = re.compile(r"[A-Za-z_$/][A-Za-z0-9_$/.+@-]*(?: [A-Za-z0-9_$/.+@-]+)*", re.ASCII)


def write_yaml(value: Any, *, comments: Mapping[Route, str] | None = None) -> str:
    """The YAML text of a JSON value, ending in a line break.

    ``comments`` are put above what stands at their route, each line behind ``# ``. Raises ValueError for NaN,
    an infinity, or a value that is no JSON.
    """
    writer = _Writer(comments or {})
    if _holds_something(value):
        return "".join(f"{line}\n" for line in writer.block(value, 0, ()))
    return f"{flow_yaml(value)}\n"


class _Writer:
    def __init__(self, comments: Mapping[Route, str]) -> None:
        self._comments = comments
        self._commented = {route[:depth] for route in comments for depth in range(len(route))}

    def block(self, value: Any, indent: int, route: Route) -> Iterator[str]:
        if isinstance(value, dict):
            for key, member in value.items():
                yield from self._mapping_entry(key, member, indent, (*route, key))
        else:
            for index, member in enumerate(value):
                yield from self._sequence_entry(member, indent, (*route, index))

    def _mapping_entry(self, key: str, member: Any, indent: int, route: Route) -> Iterator[str]:
        margin = " " * indent
        yield from self._comment(route, margin)
        head = f"{margin}{_key(key)}:"
        if len(head) - indent > _LONGEST_SIMPLE_KEY:
            yield f"{margin}? {_key(key)}"
            head = f"{margin}:"
        yield from self._valued(head, member, indent, route)

    def _valued(self, head: str, member: Any, indent: int, route: Route) -> Iterator[str]:
        if isinstance(member, str) and _is_block(member):
            yield from _block_text(head, member, indent + 2)
        elif not _holds_something(member) or self.fits(member, len(head) + 1, route):
            yield f"{head} {flow_yaml(member)}" if _holds_something(member) else f"{head} {_scalar(member)}"
        else:
            yield head
            yield from self.block(member, indent + 2, route)

    def _sequence_entry(self, member: Any, indent: int, route: Route) -> Iterator[str]:
        margin = " " * indent
        yield from self._comment(route, margin)
        if not _holds_something(member) or self.fits(member, indent + 2, route):
            yield from self._valued(f"{margin}-", member, indent, route)
            return
        opened = False
        for line in self.block(member, indent + 2, route):
            if opened:
                yield line
            elif line.lstrip().startswith("# "):
                # The first key's comment would stand between the dash and the key.
                yield margin + line.lstrip()
            else:
                yield f"{margin}- {line[indent + 2 :]}"
                opened = True

    def fits(self, value: Any, column: int, route: Route) -> bool:
        """Whether a list or object is short and simple enough to stand on one line."""
        if route in self._commented or not _is_simple(value):
            return False
        return column + len(flow_yaml(value)) <= _WIDTH

    def _comment(self, route: Route, margin: str) -> Iterator[str]:
        if (text := self._comments.get(route)) is not None:
            for line in text.split("\n"):
                yield f"{margin}# {line}".rstrip() if line else f"{margin}#"


def _holds_something(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def _is_simple(value: Any) -> bool:
    # One level of words and numbers, or a list of such: what a reader takes in at a glance.
    if isinstance(value, list):
        return len(value) <= 12 and all(_is_simple_scalar(item) for item in value)
    if isinstance(value, dict):
        return len(value) <= 8 and all(
            _WORD.fullmatch(key) and key.lower() not in _MISREAD and _is_simple_scalar(item)
            for key, item in value.items()
        )
    return False


def _is_simple_scalar(value: Any) -> bool:
    return not isinstance(value, str | dict | list) or (
        isinstance(value, str) and len(value) <= 40 and "\n" not in value
    )


def flow_yaml(value: Any) -> str:
    """The YAML text of a JSON value on one line, to stand within what is written on one line itself."""
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{_flow_text(key)}: {flow_yaml(member)}" for key, member in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(flow_yaml, value)) + "]"
    return _flow_text(value) if isinstance(value, str) else _scalar(value)


def _flow_text(text: str) -> str:
    return text if _WORD.fullmatch(text) and text.lower() not in _MISREAD else _quoted(text)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value if _is_plain(value) else _quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = json.dumps(value, allow_nan=False)
        mantissa, e, exponent = text.partition("e")
        # YAML 1.1 takes 1e+16 for text; 1.0e+16 is a number everywhere.
        return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else text
    if isinstance(value, dict | list):
        return "{}" if isinstance(value, dict) else "[]"
    raise ValueError(f"YAML cannot say {type(value).__name__}.")


def _key(key: str) -> str:
    return key if _is_plain(key) and len(key) <= _LONGEST_SIMPLE_KEY else _quoted(key)


def _is_plain(text: str) -> bool:
    return bool(
        _PLAIN.fullmatch(text)
        and not _BREAKS_PLAIN.search(text)
        and not _UNPRINTABLE.search(text)
        and text.lower() not in _MISREAD
    )


def _quoted(text: str) -> str:
    if _READS_BETTER_IN_SINGLE.search(text) and not _UNFIT_FOR_SINGLE.search(text):
        return f"'{text}'"
    return _UNPRINTABLE.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("A lone surrogate is no text.")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_block(text: str) -> bool:
    lines = text.split("\n")
    return (
        len(lines) > 1
        and not _UNPRINTABLE.search(text)
        and any(lines)
        and all(not line or line.strip(" \t\xa0") for line in lines)
    )


def _block_text(head: str, text: str, indent: int) -> Iterator[str]:
    lines = text.split("\n")
    chomp = "-"
    if not lines[-1]:
        lines.pop()
        chomp = "" if lines[-1] else "+"
    # Without an indicator the first line's own white space would be taken for indentation.
    indicator = "2" if not lines[0] or lines[0][0] in " \t" else ""
    yield f"{head} |{indicator}{chomp}"
    for line in lines:
        yield " " * indent + line if line else ""


__all__ = ["flow_yaml", "write_yaml"]
