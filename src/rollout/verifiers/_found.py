"""What a reading of code finds."""

from __future__ import annotations

Found = tuple[int, str, bool]
"""A line, what is reached for there, and whether that is certain."""


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


__all__ = ["Found", "words"]
