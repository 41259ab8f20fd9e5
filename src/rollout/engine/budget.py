"""What a run may use at most, in tokens and in US dollars, shared by all its rollouts."""

from __future__ import annotations

from threading import Lock

from rollout.models import Usage


class BudgetSpentError(Exception):
    """The budget is used up; its text is a sentence. The rollouts that were not started are simply not run."""


class Budget:
    """Counts what turns use. Safe to share between tasks of an event loop and between threads.

    Ask :meth:`check` before a model is asked and :meth:`charge` after each turn, failed ones too. Turns already asked
    for when the limit is passed are still paid for, so a run of ``n`` at once may end up to ``n`` turns above it.
    What cannot be known stops a run as well: a limit in dollars does with the first turn whose price is not known, a
    limit in tokens with the first that its provider does not meter.
    """

    def __init__(self, *, max_cost: float | None = None, max_tokens: int | None = None) -> None:
        """``max_cost`` in US dollars, ``max_tokens`` of input and output together; None is no limit.

        Raises ValueError for a limit below 0.
        """
        if (max_cost is not None and not max_cost >= 0) or (max_tokens is not None and max_tokens < 0):
            raise ValueError("A limit is 0 or more.")
        self.max_cost = max_cost
        self.max_tokens = max_tokens
        self._used = Usage()
        self._lock = Lock()

    @property
    def used(self) -> Usage:
        """What has been used so far."""
        return self._used

    @property
    def spent(self) -> str | None:
        """Why nothing more may be used, as a sentence; None while there is some left."""
        used = self._used
        if self.max_tokens is not None:
            if used.unmetered:
                return "The provider does not say how many tokens it uses, so a limit to them cannot be kept."
            if used.tokens >= self.max_tokens:
                return f"The limit of {self.max_tokens:,} tokens is reached: {used.tokens:,} were used."
        if self.max_cost is not None:
            if used.cost is None and not used.is_nothing:
                return (
                    "The price of the model is not known, so a limit to the cost cannot be kept. "
                    "Give it in rollout.toml, under [prices]."
                )
            if (used.cost or 0.0) >= self.max_cost:
                return f"The limit of ${self.max_cost:,.2f} is reached: ${used.cost or 0.0:,.4f} was used."
        return None

    def charge(self, usage: Usage) -> None:
        """Adds what a turn used."""
        with self._lock:
            self._used += usage

    def check(self) -> None:
        """Raises BudgetSpentError when nothing more may be used."""
        if (why := self.spent) is not None:
            raise BudgetSpentError(why)


__all__ = ["Budget", "BudgetSpentError"]
