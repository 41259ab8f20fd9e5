"""Writes TOML for people to review: tables for what is large, one line for what is short, blocks for text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from rollout.source.place import Route

_WIDTH = 100
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_UNSAFE_IN_LITERAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]|'''|'$")
_INT64 = 2**63


def write_toml(value: Mapping[str, Any], *, comments: Mapping[Route, str] | None = None) -> str:
    """The TOML text of a JSON object, ending in a line break. Keys may move: TOML wants tables after plain values.

    Raises ValueError for what TOML cannot say: null, a whole number beyond 64 bits, NaN.
    """
    lines = list(_table(value, (), comments or {}))
    return "\n".join(lines).strip("\n") + "\n" if lines else ""


def assign_toml(key: str, value: Any) -> str:
    """``key = value``, on several lines where it is long; raises ValueError as :func:`write_toml` does."""
    return "\n".join(_assignment(key, value))


def _table(table: Mapping[str, Any], route: Route, comments: Mapping[Route, str]) -> Iterator[str]:
    tables: list[tuple[str, Any]] = []
    for key, value in table.items():
        below = (*route, key)
        if _is_table(value, below, comments):
            tables.append((key, value))
        else:
            yield from _comment(below, comments)
            yield from _assignment(key, value)
    for key, value in tables:
        below = (*route, key)
        header = ".".join(_key(step) for step in below if isinstance(step, str))
        if isinstance(value, dict):
            yield from ("", *_comment(below, comments), f"[{header}]")
            yield from _table(value, below, comments)
        else:
            for index, member in enumerate(value):
                yield ""
                if index == 0:
                    yield from _comment(below, comments)
                yield from (*_comment((*below, index), comments), f"[[{header}]]")
                yield from _table(member, (*below, index), comments)


def _comment(route: Route, comments: Mapping[Route, str]) -> Iterator[str]:
    if (text := comments.get(route)) is not None:
        yield from (f"# {line}".rstrip() for line in text.split("\n"))


def _is_table(value: Any, route: Route, comments: Mapping[Route, str]) -> bool:
    if isinstance(value, dict):
        if any(len(other) > len(route) and other[: len(route)] == route for other in comments):
            return True
        return bool(value) and len(inline_toml(value)) > _WIDTH // 2
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        if any(len(other) > len(route) and other[: len(route)] == route for other in comments):
            return True
        return any(len(inline_toml(item)) > _WIDTH - 4 for item in value)
    return False


def _assignment(key: str, value: Any) -> Iterator[str]:
    head = f"{_key(key)} = "
    if isinstance(value, list) and value and len(head) + len(inline_toml(value)) > _WIDTH:
        yield f"{head}["
        yield from (f"  {inline_toml(item)}," for item in value)
        yield "]"
    elif isinstance(value, str) and "\n" in value.rstrip("\n"):
        yield from f"{head}{_block(value)}".split("\n")
    else:
        yield f"{head}{inline_toml(value)}"


def inline_toml(value: Any) -> str:
    """The TOML text of a JSON value on one line; raises ValueError as :func:`write_toml` does."""
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and -_INT64 <= value < _INT64:
        return str(value)
    if isinstance(value, float):
        return json.dumps(value, allow_nan=False)
    if isinstance(value, list):
        return f"[{', '.join(map(inline_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {inline_toml(member)}' for key, member in value.items())}}}"
    raise ValueError("TOML has no null, and no whole number beyond 64 bits.")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    return _ESCAPED.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    if "\ud800" <= match[0] <= "\udfff":
        raise ValueError("A lone surrogate is no text.")
    return f"\\u{ord(match[0]):04x}"


def _block(text: str) -> str:
    if ("\\" in text or '"' in text) and not _UNSAFE_IN_LITERAL.search(text):
        return f"'''\n{text}'''"
    body = _string(text)[1:-1]
    # Only an escaped line break that is not itself behind an escaped backslash becomes a real one.
    return '"""\n' + re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[0], body) + '"""'


__all__ = ["assign_toml", "inline_toml", "write_toml"]
