"""Makes whatever a model, a tool or an author wrote fit for a page: no control characters, no secrets, no megabytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import orjson

from rollout.check.secrets import find_secrets
from rollout.diagnostics._visible import visible
from rollout.language.depth import is_deeper

HIDDEN = "[hidden]"

Text = str | tuple[str, int]
"""A text as it is in the page: whole, or its beginning and how many characters more there were."""

Content = Text | dict[str, list[tuple[str, Text]]]
"""A text, or ``{"fields": …}``: an object whose values are shown one by one, since there are texts of several lines."""

_LAYOUT = re.compile("([\n\t])")
_LONGEST_LINE = 300
_SHORT_JSON = 76
_DEEPEST = 254
_LONGEST_MARKUP = 200_000
# Shorter ones would blot out ordinary words.
_SHORTEST_SECRET = 6


class Texts:
    """Shows texts of up to ``longest`` characters; ``secrets`` and whatever has the shape of a key are hidden."""

    def __init__(self, secrets: Iterable[str] = (), *, longest: int = 50_000) -> None:
        self._secrets = sorted(
            {each for each in secrets if len(each) >= _SHORTEST_SECRET}, key=len, reverse=True
        )
        self._longest = longest

    def up_to(self, longest: int) -> Texts:
        """The same, with another length."""
        return Texts(self._secrets, longest=longest)

    def line(self, text: Any, longest: int = _LONGEST_LINE) -> str:
        """A text on one line, cut with ``…`` where it is too long."""
        shown = visible(self._masked(str(text), longest))
        return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"

    def block(self, text: Any) -> Text:
        """A text with its line breaks and tabs."""
        whole = text if isinstance(text, str) else _pretty(text)
        kept = self._masked(whole, self._longest)[: self._longest]
        shown = "".join(part if part in ("\n", "\t") else visible(part) for part in _LAYOUT.split(kept))
        left = len(whole) - self._longest
        return (shown, left) if left > 0 else shown

    def json(self, value: Any) -> Text:
        """A JSON value, indented."""
        return self.block(_pretty(value))

    def value(self, value: Any) -> Text:
        """A JSON value: a text of several lines as it stands, any other with its quotes, so that "1" is not 1."""
        return self.block(value) if isinstance(value, str) and "\n" in value else self.json(value)

    def content(self, value: Any) -> Content:
        """A JSON value; of an object with texts of several lines each value by its name."""
        if isinstance(value, dict) and any(isinstance(each, str) and "\n" in each for each in value.values()):
            return {"fields": [(self.line(name), self.value(each)) for name, each in value.items()]}
        return self.json(value)

    def markup(self, html: str) -> str | None:
        """HTML that is to be shown in a frame, without keys; None where it is too long for a page."""
        return self._masked(html, len(html)) if len(html) <= _LONGEST_MARKUP else None

    def _masked(self, text: str, longest: int) -> str:
        # A secret at the place of the cut is to be seen whole, so that it can be told.
        text = text[: longest + 4_096]
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        for found in reversed(list(find_secrets(text))):
            text = f"{text[: found.start]}{HIDDEN}{text[found.end :]}"
        return text


def _pretty(value: Any) -> str:
    """JSON with indents, or on one line where it is short."""
    try:
        short = orjson.dumps(value)
        if len(short) <= _SHORT_JSON:
            return json.dumps(value, ensure_ascii=False)
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        # Whole numbers past 64 bits, halves of characters, and what is nested deeply.
        if is_deeper(value, _DEEPEST):
            return "(nested too deeply to be shown)"
        return json.dumps(value, indent=2, ensure_ascii=False)


__all__ = ["HIDDEN", "Content", "Text", "Texts"]
