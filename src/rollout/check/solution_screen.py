"""Whether a stretch of tasks may have a solution in it, which several rules ask of the same stretch in turn."""

from __future__ import annotations


class _Last:
    data: bytes = b""
    answer: bool = False


def may_hold_solution(data: bytes) -> bool:
    """False when no task in ``data`` can have a solution: its key would be there, or an escape in which it may hide."""
    if data is not _Last.data:
        _Last.data = data
        _Last.answer = b"solution" in data or (b"\\" in data and b"\\u00" in data)
    return _Last.answer


__all__ = ["may_hold_solution"]
