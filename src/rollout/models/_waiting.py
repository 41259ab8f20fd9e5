"""How long to wait before a provider is asked again: what it asks for, else exponentially longer, by chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random

from rollout.models import Patience

RETRIED = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which the same request may fare better; of those from 500 on, all."""


def may_be_retried(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the same request may fare better; a provider that says so (``x-should-retry``) is believed."""
    told = headers.get("x-should-retry", "").strip().lower()
    if told in ("true", "false"):
        return told == "true" and status >= 400
    return status in RETRIED or status >= 500


def asked_wait(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that ``Retry-After`` (RFC 9110, 10.2.3: seconds or a date) asks to wait, or None."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        written = headers.get(name, "").strip()
        if not written:
            continue
        try:
            seconds = float(written) * unit
        except ValueError:
            seconds = _until(written, now)
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _until(written: str, now: datetime | None) -> float:
    try:
        date = parsedate_to_datetime(written)
    except (ValueError, TypeError, OverflowError):
        return math.nan
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return (date - (now or datetime.now(UTC))).total_seconds()


def wait_before(attempt: int, patience: Patience, random: Random, *, asked: float | None = None) -> float:
    """Seconds to wait before ``attempt`` (2 is the first repetition); never less than was ``asked``.

    What is asked is drawn out a little by chance, so that those who were turned away together do not return together.
    """
    ceiling = min(patience.longest, patience.first * 2.0 ** min(attempt - 2, 60))
    drawn = random.uniform(0.0, ceiling)
    return drawn if not asked else asked + min(drawn, 0.1 * asked + 0.1)


__all__ = ["RETRIED", "asked_wait", "may_be_retried", "wait_before"]
