"""Knows the members of a list by name and by which of that name they are, so that twins are compared one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple


class Occurrence(NamedTuple):
    """Who a member of a list is: its name, and how many of that name stand before it."""

    name: str
    number: int

    def __str__(self) -> str:
        return self.name if self.number == 0 else f"{self.name} ({self.number + 1})"


def occurrences(members: Sequence[dict[str, Any]], key: str) -> dict[Occurrence, tuple[int, dict[str, Any]]]:
    """Every member with its index, by the name under ``key`` and the order among those of that name."""
    met: Counter[str] = Counter()
    found: dict[Occurrence, tuple[int, dict[str, Any]]] = {}
    for index, member in enumerate(members):
        name = str(member.get(key))
        found[Occurrence(name, met[name])] = (index, member)
        met[name] += 1
    return found


__all__ = ["Occurrence", "occurrences"]
