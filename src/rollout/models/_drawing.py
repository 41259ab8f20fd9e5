"""Draws JSON values that a JSON Schema takes, at random but the same for the same seed.

What is drawn is a good guess, since a schema can ask for anything; whoever needs certainty validates it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from rollout.models._pattern import draw_match

_DEEPEST = 6
_WORDS = ("alpha", "bravo", "delta", "kilo", "lima", "north", "oscar", "river", "sierra", "tango")
_BY_KEYWORD = (
    ("properties", "object"),
    ("required", "object"),
    ("additionalProperties", "object"),
    ("items", "array"),
    ("prefixItems", "array"),
    ("minItems", "array"),
    ("minimum", "number"),
    ("maximum", "number"),
    ("multipleOf", "number"),
)
_FORMATS = {
    "date": "2025-0{d}-1{d}",
    "date-time": "2025-0{d}-1{d}T10:2{d}:00Z",
    "time": "10:2{d}:00Z",
    "duration": "P{d}D",
    "email": "{w}@example.com",
    "hostname": "{w}.example.com",
    "ipv4": "192.0.2.{d}",
    "ipv6": "2001:db8::{d}",
    "uri": "https://example.com/{w}",
    "url": "https://example.com/{w}",
    "uuid": "3f2b8c1{d}-5d4e-4a6f-9b7c-0d1e2f3a4b5{d}",
}


class Drawing:
    """Draws values for one schema, ``root``; ``words`` are texts that a value may be, besides made-up ones."""

    def __init__(self, random: Random, root: Any, words: Sequence[str] = ()) -> None:
        self.random = random
        self.root = root
        self.words = words

    def value(self, schema: Any = None, depth: int = 0) -> Any:
        """A value for ``schema``, which is ``root`` unless given."""
        told = self._flat(self.root if schema is None else schema, depth)
        if "const" in told:
            return told["const"]
        if isinstance(choices := told.get("enum"), list) and choices:
            return self.random.choice(choices)
        kind = told.get("type")
        if isinstance(kind, list):
            kind = self.random.choice(kind) if kind else None
        if kind is None:
            kind = next((guess for key, guess in _BY_KEYWORD if key in told), "string")
        match kind:
            case "object":
                return self._object(told, depth)
            case "array":
                return self._array(told, depth)
            case "integer" | "number":
                return self._number(told, whole=kind == "integer")
            case "boolean":
                return self.random.random() < 0.5
            case "null":
                return None
            case _:
                return self._text(told)

    def _flat(self, schema: Any, depth: int) -> dict[str, Any]:
        """One schema without references and choices: each choice is made, and what it says is added."""
        told: dict[str, Any] = {}
        todo = [schema]
        for _ in range(64):
            if not todo:
                break
            each = todo.pop()
            if not isinstance(each, Mapping):
                continue
            for key, value in each.items():
                if key in ("properties", "$defs") and isinstance(value, Mapping):
                    told[key] = {**told.get(key, {}), **value}
                elif key == "required" and isinstance(value, list):
                    told[key] = [*told.get(key, []), *value]
                else:
                    told[key] = value
            if isinstance(each.get("$ref"), str):
                todo.append(self._target(each["$ref"]))
            todo += each["allOf"] if isinstance(each.get("allOf"), list) else []
            for word in ("anyOf", "oneOf"):
                if isinstance(each.get(word), list) and each[word]:
                    todo.append(self._branch(each[word], depth))
        return told

    def _branch(self, branches: list[Any], depth: int) -> Any:
        if depth >= _DEEPEST:
            # A recursive schema ends where a branch does not lead on.
            return min(branches, key=lambda each: len(str(each)))
        return self.random.choice(branches)

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return True
        target: Any = self.root
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, Mapping):
                target = target.get(name, True)
            elif isinstance(target, list) and name.isdecimal() and int(name) < len(target):
                target = target[int(name)]
        return target

    def _object(self, told: Mapping[str, Any], depth: int) -> dict[str, Any]:
        known = told.get("properties") or {}
        required = [key for key in told.get("required", ()) if isinstance(key, str)]
        chance = 0.5 if depth < _DEEPEST else 0.0
        made = {
            key: self.value(schema, depth + 1)
            for key, schema in known.items()
            if key in required or self.random.random() < chance
        }
        free = told.get("additionalProperties", True)
        for key in required:
            if key not in made:
                made[key] = self.value(free if free is not False else True, depth + 1)
        least = told.get("minProperties", 0)
        for number in range(16):
            if len(made) >= least:
                break
            made[f"{self.random.choice(_WORDS)}{number}"] = self.value(free, depth + 1)
        return made

    def _array(self, told: Mapping[str, Any], depth: int) -> list[Any]:
        first = list(told.get("prefixItems") or ())
        least = int(told.get("minItems", 0))
        most = int(told.get("maxItems", max(least, len(first)) + 2))
        length = self.random.randint(least, max(least, min(most, least + 2))) if depth < _DEEPEST else least
        made: list[Any] = []
        for _ in range(8 * length + 8):
            if len(made) >= min(length, 256):
                break
            schema = first[len(made)] if len(made) < len(first) else told.get("items", {})
            item = self.value(schema, depth + 1)
            if not (told.get("uniqueItems") and item in made):
                made.append(item)
        return made

    def _number(self, told: Mapping[str, Any], *, whole: bool) -> int | float:
        low, high = told.get("minimum", -math.inf), told.get("maximum", math.inf)
        step = told.get("multipleOf", 1 if whole else 0.01)
        low = max(low, _above(told.get("exclusiveMinimum"), step, 1))
        high = min(high, _above(told.get("exclusiveMaximum"), step, -1))
        if not math.isfinite(low):
            low = high - 100 if math.isfinite(high) else 0
        if not math.isfinite(high):
            high = low + 100
        steps = math.floor((high - low) / step + 1e-9)
        start = math.ceil(low / step - 1e-9)
        drawn = (start + self.random.randint(0, max(0, steps))) * step
        return int(drawn) if whole else round(drawn, 9)

    def _text(self, told: Mapping[str, Any]) -> str:
        pattern = told.get("pattern")
        if isinstance(pattern, str) and (drawn := draw_match(pattern, self.random)) is not None:
            return drawn
        form = _FORMATS.get(str(told.get("format")))
        if form is not None:
            return form.format(w=self.random.choice(_WORDS), d=self.random.randint(1, 9))
        if self.words and self.random.random() < 0.6:
            text = self.random.choice(self.words)
        else:
            text = self.random.choice(_WORDS)
        least, most = int(told.get("minLength", 0)), told.get("maxLength")
        while len(text) < min(least, 10_000):
            text += f" {self.random.choice(_WORDS)}"
        return text if most is None else text[: int(most)]


def _above(bound: Any, step: float, sign: int) -> float:
    if not isinstance(bound, int | float) or isinstance(bound, bool):
        return -sign * math.inf
    return bound + sign * step


__all__ = ["Drawing"]
