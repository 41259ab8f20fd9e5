"""Pass rates as pages draw them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from rollout.analysis.stats import Interval, wilson


class Rate(NamedTuple):
    """A pass rate, and Wilson's interval of it."""

    value: float
    interval: Interval


class Graded(Protocol):
    """Whatever counts rollouts."""

    @property
    def passed(self) -> int: ...

    @property
    def graded(self) -> int: ...


def rate_of(counted: Graded) -> Rate | None:
    """The pass rate of what was counted; None where nothing was graded."""
    interval = wilson(counted.passed, counted.graded)
    return None if interval is None else Rate(counted.passed / counted.graded, interval)


__all__ = ["Graded", "Rate", "rate_of"]
