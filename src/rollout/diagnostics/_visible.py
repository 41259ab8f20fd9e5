"""Makes text from a user's file safe to show: nothing in it can move the cursor, recolour or reorder the line."""

from __future__ import annotations

import json
import re
from typing import Any

# Control characters (C0, DEL, C1), line and paragraph separators, what turns the direction of writing (the
# "Trojan Source" characters among them), lone surrogates and the two code points that XML and UTF-8 readers refuse.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
_PICTURES = 0x2400
"""U+2400 begins the Unicode block of control pictures, one for each C0 control: ␀ to ␟."""


def visible(text: str) -> str:
    """``text`` as one line without control characters: ``␛`` for an escape, ``<U+202E>`` for a bidi override."""
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_name, text)


def dump_json(value: Any) -> str:
    """Indented JSON with a line break at its end; only what :func:`visible` would replace is escaped."""
    return escaped_json(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def escaped_json(text: str) -> str:
    """JSON text that means the same, with what :func:`visible` would replace escaped."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _name(found: re.Match[str]) -> str:
    point = ord(found[0])
    if point < 0x20:
        return chr(_PICTURES + point)
    return "␡" if point == 0x7F else f"<U+{point:04X}>"


__all__ = ["dump_json", "escaped_json", "visible"]
