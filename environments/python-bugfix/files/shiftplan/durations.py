"""Durations as people write them: ``7h30``, ``7:30``, ``450m``, ``7h``."""

import re

_PATTERN = re.compile(r"(?:(?P<hours>\d+)\s*[h:]\s*)(?P<minutes>\d{1,2})|(?P<only>\d+)\s*m(?:in)?")


def parse_duration(text: str) -> int:
    """Minutes of a written duration. Raises ValueError for anything else."""
    match = _PATTERN.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError(f"not a duration: {text!r}")
    if match["only"] is not None:
        return int(match["only"])
    minutes = int(match["minutes"])
    if minutes > 59:
        raise ValueError(f"more than 59 minutes: {text!r}")
    return int(match["hours"]) * 60 + minutes


def format_minutes(minutes: int) -> str:
    """``450`` as ``7:30``; a negative balance as ``-1:30``."""
    hours, rest = divmod(minutes, 60)
    return f"{hours}:{rest:02d}"
