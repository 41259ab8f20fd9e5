"""Calculations: what they come to, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.language.arithmetic import LONGEST, ArithmeticTextError, evaluate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 2", 4),
        ("2+3*4", 14),
        ("(2+3)*4", 20),
        ("10 - 4 - 3", 3),
        ("8 / 4 / 2", 1),
        ("-2 * -(3 - 5)", -4),
        ("+1.5e2 + .5 - 1.", 149.5),
        ("  7\n", 7),
        ("--3", 3),
    ],
)
def test_a_calculation_follows_the_rules_of_school(text: str, value: float) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it ends too early"),
        ("2 +", "it ends too early"),
        ("(2 + 3", "a “)” is missing"),
        ("2 + 3)", "“)” cannot stand there"),
        ("* 3", "“*” cannot stand there"),
        ("2 3", "“3” cannot stand there"),
        ("2 ** 3", "“*” cannot stand there"),
        ("1 / 0", "it divides by zero"),
        ("1e308 * 10", "the result is too large"),
        ("1e308 * 10 - 1e308 * 10", "the result is too large"),
        ("two", "“t” is neither a number nor + - * / ( )"),
        ("１ + 1", "“１” is neither a number nor + - * / ( )"),
        ("(" * 60 + "1" + ")" * 60, "it is nested too deep"),
    ],
)
def test_what_is_no_calculation_is_said(text: str, why: str) -> None:
    with pytest.raises(ArithmeticTextError) as caught:
        evaluate(text)
    assert str(caught.value).endswith(f"cannot be calculated: {why}.")


def test_a_calculation_has_an_end() -> None:
    with pytest.raises(ArithmeticTextError, match="longer than"):
        evaluate("1+" * LONGEST + "1")


@given(st.text(alphabet="0123456789.+-*/() e", max_size=30))
def test_whatever_is_written_comes_to_a_number_or_a_sentence(text: str) -> None:
    try:
        value = evaluate(text)
    except ArithmeticTextError as error:
        assert str(error).endswith(".")
    else:
        assert isinstance(value, float) and abs(value) < float("inf")
