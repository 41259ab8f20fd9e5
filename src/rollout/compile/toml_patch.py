"""Changes values in a TOML text where they stand."""

from __future__ import annotations

from typing import Any

from rollout.compile.toml_text import assign_toml
from rollout.compile.yaml_patch import exact
from rollout.source.place import Place


def patch_toml(text: str, place: Place, before: Any, after: Any) -> str:
    """``text`` with other scalars where they stand; as it was where more than that differs."""
    edits: list[tuple[int, int, str]] = []

    def look(place: Place, before: Any, after: Any) -> bool:
        if exact(before) == exact(after):
            return True
        children = place.children
        if isinstance(before, dict) and isinstance(after, dict) and isinstance(children, dict):
            return before.keys() == after.keys() == children.keys() and all(
                look(children[key], before[key], after[key]) for key in before
            )
        if isinstance(before, list) and isinstance(after, list) and isinstance(children, list):
            return len(before) == len(after) == len(children) and all(
                look(*each) for each in zip(children, before, after, strict=True)
            )
        if isinstance(before, dict | list) or isinstance(after, dict | list):
            return False
        try:
            edits.append((place.start, place.end, assign_toml("k", after).removeprefix("k = ")))
        except ValueError:
            return False
        return True

    if not look(place, before, after):
        return text
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text


__all__ = ["patch_toml"]
