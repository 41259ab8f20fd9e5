"""How a value that was found, and the type that was expected, are put into a sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rollout.check.wording import quoted

_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object (key: value)",
    "string": "text",
}


def shown(value: Any, limit: int = 40) -> str:
    """``value`` as it might have been written: text in “…”, the rest as JSON, cut after ``limit`` characters."""
    # Space that a reader could not see is shown as JSON writes it.
    if isinstance(value, str) and value == " ".join(value.split()):
        return quoted(value, limit)
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def described(value: Any) -> str:
    """What ``value`` is: “the text “abc””, “the number 3”, “a list”."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return shown(value)
    if isinstance(value, str):
        return f"the text {shown(value)}" if value else "an empty text"
    if isinstance(value, int | float):
        return f"the number {shown(value)}"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "an object" if value else "an empty object"


def types_in_words(types: Sequence[str], last: str = "or") -> str:
    """JSON Schema's ``types`` in words: “text or a list”."""
    words = [_TYPES[each] for each in types]
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def sentence(text: str) -> str:
    """``text`` with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def first_sentence(text: str | None) -> str | None:
    """The first sentence of a description, or None when there is none."""
    if not text:
        return None
    head, stop, _ = text.partition(". ")
    return head + "." if stop else text


__all__ = ["described", "first_sentence", "sentence", "shown", "types_in_words"]
