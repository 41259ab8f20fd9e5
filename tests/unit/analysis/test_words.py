"""Figures as people write them."""

from __future__ import annotations

import pytest

from rollout.analysis.words import number


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1, "1"),
        (0.25, "0.25"),
        (0.99999, "just under 1"),
        (123456789.5, "123456789.5"),
        (1e308, "1e+308"),
    ],
)
def test_a_number_is_short_and_never_more_than_it_is(value: float, written: str) -> None:
    assert number(value) == written
