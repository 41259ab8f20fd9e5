"""Ids, and times: whole milliseconds since 1970, in UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from uuid import uuid4


def now() -> int:
    """Milliseconds since 1970, in UTC."""
    return time.time_ns() // 1_000_000


def new_id() -> str:
    """32 hex digits at random, so that the first eight, which tables show, tell two of the same minute apart."""
    return uuid4().hex


def iso(moment: int | None) -> str | None:
    """A time in ISO 8601, such as ``2026-03-01T12:00:00.000Z``."""
    if moment is None:
        return None
    return (
        datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


__all__ = ["iso", "new_id", "now"]
