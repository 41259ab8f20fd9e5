"""Canonical JSON: one meaning, one sequence of bytes, so that a digest can stand for the content.

Keys are sorted by code point, there is no white space, text is UTF-8 and unescaped where JSON allows, and a
number that is whole is written as a whole number (``100.0`` is ``100``), as in RFC 8785.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

_EXACT = 2**53


def whole_numbers(value: Any, *, in_order: bool = True) -> Any:
    """``value`` with every float that is a whole number (below 2^53) as an int.

    ``in_order`` sorts the keys of every object, else they stay as they are.
    """
    if isinstance(value, dict):
        keys = sorted(value) if in_order else value
        return {key: whole_numbers(value[key], in_order=in_order) for key in keys}
    if isinstance(value, list):
        return [whole_numbers(item, in_order=in_order) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    return value


def canonical(value: Any) -> bytes:
    """The canonical bytes of a JSON value, without a line break.

    Raises ValueError for NaN, an infinity or a lone surrogate: none of them is JSON.
    """
    return dump(whole_numbers(value))


def dump(value: Any) -> bytes:
    """Compact UTF-8 JSON that keeps the key order it is given; raises ValueError as :func:`canonical` does."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8")


def digest(data: bytes) -> str:
    """``sha256:`` and the 64 hex digits of ``data``."""
    return f"sha256:{sha256(data).hexdigest()}"


__all__ = ["canonical", "digest", "dump", "whole_numbers"]
