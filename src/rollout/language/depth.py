"""How deeply a JSON value is nested, found without recursion."""

from __future__ import annotations

from typing import Any


def is_deeper(value: Any, levels: int) -> bool:
    """Whether more than so many lists and objects stand inside one another in ``value``."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        level = [
            member
            for container in level
            for member in (container.values() if isinstance(container, dict) else container)
            if isinstance(member, dict | list)
        ]
        if not level:
            return False
    return True


__all__ = ["is_deeper"]
