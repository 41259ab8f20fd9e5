from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.language.exact_json import load


@pytest.mark.parametrize("number", [2**63, 2**64, 2**64 + 1, -(2**63) - 1, 10**30 + 1, 2**53 + 1])
def test_whole_numbers_stay_exact(number: int) -> None:
    assert load(f'{{"id": [{number}]}}') == {"id": [number]}
    assert isinstance(load(str(number).encode()), int)


@pytest.mark.parametrize("text", ["NaN", "[1,]", "", "{'a': 1}", "Infinity", "[NaN, 10000000000000000000]"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        load(text)


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(orjson.JSONDecodeError):
        load("9" * 10_000)


@settings(max_examples=50)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda each: st.lists(each)))
def test_a_value_comes_back_as_it_was_written(value: object) -> None:
    assert load(json.dumps(value)) == value
