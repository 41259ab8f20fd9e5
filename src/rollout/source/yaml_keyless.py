"""What stands in a YAML mapping for the key of a value that has none of its own, until the mapping is complete."""

from __future__ import annotations

from typing import Any

from rollout.source.place import Place

DROPPED: Any = object()
"""For a key that is none, or that was given before."""
MERGED: Any = object()
"""For a merge key."""


def take_out(container: dict[Any, Any], children: dict[Any, Place]) -> None:
    """Takes the stand-ins out. What a merge key brings is kept, so that no other rule misses it."""
    container.pop(DROPPED, None)
    children.pop(DROPPED, None)
    merged, place = container.pop(MERGED, None), children.pop(MERGED, None)
    if place is None:
        return
    pairs = [(merged, place)] if isinstance(merged, dict) else []
    if isinstance(merged, list) and isinstance(place.children, list):
        pairs = list(zip(merged, place.children, strict=True))
    for value, beside in pairs:
        if isinstance(value, dict) and isinstance(beside.children, dict):
            for key, member in value.items():
                if key not in container:
                    container[key], children[key] = member, beside.children[key]


__all__ = ["DROPPED", "MERGED", "take_out"]
