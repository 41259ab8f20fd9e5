"""What a run may use: limits stop it, and what cannot be known stops it too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from rollout.engine.budget import Budget, BudgetSpentError
from rollout.models import Usage


def test_a_budget_without_limits_is_never_spent() -> None:
    budget = Budget()
    budget.charge(Usage(10**9, 10**9))
    budget.check()
    assert budget.used.tokens == 2 * 10**9


def test_tokens_are_counted_until_the_limit() -> None:
    budget = Budget(max_tokens=100)
    budget.charge(Usage(60, 39))
    budget.check()
    budget.charge(Usage(1, 0))
    with pytest.raises(BudgetSpentError, match="The limit of 100 tokens is reached: 100 were used"):
        budget.check()


def test_cost_is_counted_until_the_limit() -> None:
    budget = Budget(max_cost=0.5)
    budget.charge(Usage(1, 1, 0.25))
    assert budget.spent is None
    budget.charge(Usage(1, 1, 0.25))
    assert budget.spent == "The limit of $0.50 is reached: $0.5000 was used."


def test_a_price_that_is_not_known_cannot_be_kept_below_a_limit() -> None:
    budget = Budget(max_cost=5)
    budget.charge(Usage())
    assert budget.spent is None
    budget.charge(Usage(1, 1))
    assert budget.spent is not None
    assert budget.spent.startswith("The price of the model is not known")


def test_tokens_that_are_not_metered_cannot_be_kept_below_a_limit() -> None:
    budget = Budget(max_tokens=5)
    budget.charge(Usage(unmetered=1))
    assert budget.spent is not None
    assert budget.spent.startswith("The provider does not say")


@pytest.mark.parametrize("limits", [{"max_cost": -1}, {"max_tokens": -1}, {"max_cost": float("nan")}])
def test_a_limit_below_nothing_is_refused(limits: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        Budget(**limits)  # type: ignore[arg-type]


def test_charges_of_many_threads_all_count() -> None:
    budget = Budget(max_tokens=10**9)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: budget.charge(Usage(1, 1, 0.5)), range(2_000)))
    assert budget.used == Usage(2_000, 2_000, 1_000.0)
