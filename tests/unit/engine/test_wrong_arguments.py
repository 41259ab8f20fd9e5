"""Wrong arguments satisfy their tool and are never the right ones; other tasks' right ones are taken before any."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.engine.asked import says
from rollout.engine.leeway import leeways
from rollout.engine.near_misses import near_misses
from rollout.engine.toolbox import Toolbox
from rollout.engine.wrong_arguments import Pool
from rollout.language.compare import compare
from rollout.templates import Script, Tool

PARAMETERS = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "amount": {"type": "number", "minimum": 0, "maximum": 100},
        "fast": {"type": "boolean"},
        "lines": {"type": "array", "items": {"type": "integer"}},
        "reason": {"enum": ["broken", "late"]},
    },
    "required": ["order"],
    "additionalProperties": False,
}
TOOLBOX = Toolbox([Tool("refund", "", PARAMETERS), Tool("status")])

arguments = st.fixed_dictionaries(
    {"order": st.from_regex(r"O-[0-9]{1,3}", fullmatch=True)},
    optional={
        "amount": st.integers(0, 100) | st.floats(0, 100, allow_nan=False),
        "fast": st.booleans(),
        "lines": st.lists(st.integers(-5, 5), max_size=3),
        "reason": st.sampled_from(["broken", "late"]),
    },
)


def calls(*args: dict[str, Any]) -> Script:
    return [{"tool": "refund", "args": each} for each in args]


@given(st.lists(arguments, min_size=1, max_size=3), st.lists(arguments, max_size=4))
def test_wrong_arguments_are_taken_by_the_tool_and_are_not_right(right: Any, others: Any) -> None:
    pool = Pool(TOOLBOX, [calls(*right), None, calls(*others)])
    wrong = pool.wrong("refund", right, "task")
    assert wrong is not None
    assert all(compare(each, wrong) is not None for each in right)
    assert pool._fits("refund", wrong)
    assert pool.wrong("refund", right, "task") == wrong


@given(arguments, st.lists(arguments, max_size=4))
def test_one_value_after_the_other_is_wrong_and_the_rest_stays(right: dict[str, Any], others: Any) -> None:
    pool = Pool(TOOLBOX, [calls(right), calls(*others)])
    for varied in pool.one_wrong("refund", right):
        assert varied.keys() == right.keys()
        assert [key for key in right if compare(right[key], varied[key]) is not None] != []
        assert sum(right[key] != varied[key] for key in right) == 1
        assert pool._fits("refund", varied)


def test_another_tasks_arguments_come_before_drawn_ones() -> None:
    pool = Pool(TOOLBOX, [calls({"order": "O-1"}), calls({"order": "O-2", "amount": 3}, {"order": "O-3"})])
    assert pool.wrong("refund", [{"order": "O-1"}], "task") == {"order": "O-3"}
    assert pool.wrong("refund", [{"order": "O-1"}, {"order": "O-3"}], "task") == {"order": "O-2", "amount": 3}


def test_a_tool_without_parameters_has_no_wrong_arguments() -> None:
    pool = Pool(TOOLBOX, [[{"tool": "status"}]])
    assert pool.wrong("status", [{}], "task") is None
    assert pool.any(TOOLBOX.tools[1], [{}], "task") == {}


def test_free_text_has_no_wrong_value() -> None:
    pool = Pool(TOOLBOX, [])
    varied = list(pool.one_wrong("refund", {"order": "the blue one", "amount": 100}))
    assert varied == [{"order": "the blue one", "amount": 99}]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("O-9", "O-0"), ("m²", "m²x"), ("①", "①x"), ("१", "2"), ("٩", "0"), ("ten", "tenx")],
)
def test_a_value_beside_ends_in_the_next_digit_or_in_a_letter_more(right: str, wrong: str) -> None:
    assert list(Pool(TOOLBOX, []).one_wrong("refund", {"order": right})) == [{"order": wrong}]


def test_an_answer_is_wronged_by_another_of_its_kind() -> None:
    pool = Pool(TOOLBOX, [[{"answer": 3}], [{"answer": "three"}], [{"answer": 3.0}], [{"answer": 4}]])
    assert list(pool.wrong_answers(3)) == [4, 4, 73]
    assert list(pool.wrong_answers(-1.5)) == [-0.5, -71.5]
    assert list(pool.wrong_answers("three")) == ["I could not find that out."]
    assert list(pool.wrong_answers(True)) == [False]
    assert list(pool.wrong_answers([1, 2])) == [[1]]


def test_a_number_is_as_far_off_as_is_tolerated() -> None:
    pool = Pool(TOOLBOX, [])
    assert {"order": "a b", "amount": 60} in list(
        pool.one_wrong("refund", {"order": "a b", "amount": 50}, tolerance=10.0)
    )
    assert list(pool.wrong_answers(40, tolerance=1000.0)) == [41, 740, 1040]


@given(
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.lists(st.integers())
)
def test_a_wrong_answer_is_never_the_right_one(right: Any) -> None:
    pool = Pool(TOOLBOX, [[{"answer": 3}], [{"answer": 0.5}], [{"answer": [1]}]])
    assert all(compare(right, wrong) is not None for wrong in pool.wrong_answers(right))


def test_what_a_text_says_is_read_kindly() -> None:
    assert says("It comes to 1,200.50 euros.", 1200.5)
    assert says("O-12 and O-13, 3 pieces", ["O-13", {"pieces": 3}])
    assert not says("It comes to 1200 euros.", 12)
    assert not says("Done.", "Paris")
    assert says("Yes, it is.", True)
    assert not says("Yes, it is.", False)


def test_a_tolerance_counts_up_to_a_share_of_the_number() -> None:
    widest, plain = leeways(1e9)
    assert (widest(100), plain(100)) == (50, 10)
    assert (widest(3), plain(3), plain(0), plain(0.2)) == (1.5, 0.5, 0.5, 0.020000000000000004)
    assert [leeway(100) for leeway in leeways(0.5)] == [0.5, 0.5]
    assert [leeway(100) for leeway in leeways(0)] == [0]


def test_near_misses_hold_the_answer_and_do_not_give_it() -> None:
    told = [miss.said for miss in near_misses("It is a cat.", "cat", ["cat", "dog"])]
    assert told == ["It is a catlike.", "It is a noncat.", "It is not cat.", "It is cat, or dog."]
    assert [miss.said for miss in near_misses("O-17", "O-17", [])][:2] == ["O-177", "nonO-17"]
    assert next(near_misses("11 cups", 11, [])).said == "711 cups"
    assert list(near_misses("Yes.", True, [])) == []
    assert list(near_misses("x", "a sentence that is far too long to be said within a word", [])) == []
