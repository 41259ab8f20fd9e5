"""Tells of what differs the first in a sentence, and of the others that they do."""

from __future__ import annotations

from collections.abc import Mapping

_MOST_NAMED = 3


def told(differences: Mapping[str, str]) -> str:
    """The first of ``differences``, name to sentence, and the names of the others; past three, how many more."""
    first, *others = differences
    if not others:
        return differences[first]
    named = [f"“{name}”" for name in others[:_MOST_NAMED]]
    if more := len(others) - len(named):
        named.append(f"{more} more")
    *all_but_last, last = named
    joined = f"{', '.join(all_but_last)} and {last}" if all_but_last else last
    return f"{differences[first]} {joined} {'differ' if all_but_last else 'differs'} as well."


__all__ = ["told"]
