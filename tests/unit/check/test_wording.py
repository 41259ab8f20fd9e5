"""Names in sentences are quoted, bounded and listed, and a misspelt one finds its likely meaning."""

from __future__ import annotations

import pytest

from rollout.check.wording import closest, did_you_mean, listed, quoted, sketch


def test_a_long_text_is_cut_and_kept_on_one_line() -> None:
    assert quoted("Refund\n  order O-1") == "“Refund order O-1”"
    assert quoted("a" * 100, 10) == f"“{'a' * 9}…”"
    assert quoted("") == "“”"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "“a”"),
        (["a", "b"], "“a” and “b”"),
        (["a", "b", "c"], "“a”, “b” and “c”"),
        (list("abcdefghij"), "“a”, “b”, “c”, “d”, “e”, “f”, “g”, “h” and 2 more"),
    ],
)
def test_names_are_listed_as_people_list_them(names: list[str], text: str) -> None:
    assert listed(names) == text


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("refnd", "refund"),
        ("orderId", "order_id"),
        ("REFUND", "refund"),
        ("zebra", None),
        ("", None),
        ("tets", "test"),
        ("rest", None),
    ],
)
def test_a_misspelt_name_finds_the_one_that_was_meant(name: str, near: str | None) -> None:
    assert closest(name, ["refund", "order_id", "lookup", "test"]) == near


def test_names_that_share_only_their_first_word_are_not_each_other() -> None:
    assert closest("get_order", ["get_fare", "get_booking"]) is None
    assert closest("get_ordr", ["get_fare", "get_order"]) == "get_order"
    assert closest("user_di", ["user_id", "user_no"]) == "user_id"
    assert did_you_mean("get_order", ["get_booking", "get_fare"], kind="tools") == (
        "The tools are “get_booking” and “get_fare”."
    )


def test_without_a_likely_one_what_there_is_is_listed() -> None:
    assert did_you_mean("zebra", ["refund", "lookup"], kind="tools") == "The tools are “refund” and “lookup”."
    assert did_you_mean("zebra", [], kind="tools") is None


def test_a_name_that_only_looks_like_a_known_one_is_told_apart_by_its_code_points() -> None:
    assert did_you_mean("caf\u0065\u0301", ["café", "shop"], kind="tools") == (
        "Did you mean “café”? This only looks the same: it has U+0065 U+0301 where U+00E9 was expected."
    )
    assert closest("e\u0301", ["é", "shop"]) == "é"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tasks.jsonl", '"solution": [{"tool": "…", "args": {…}}]'),
        ("environment.yaml", 'solution: [{tool: "…", args: {…}}]'),
        ("tasks/TASKS.YML", 'solution: [{tool: "…", args: {…}}]'),
        ("environment.toml", 'solution = [{tool = "…", args = {…}}]'),
        ("desk.py", 'solution=[{"tool": "…", "args": {…}}]'),
    ],
)
def test_what_is_to_be_written_is_shown_as_the_file_has_it(path: str, text: str) -> None:
    assert sketch('"solution": [{"tool": "…", "args": {…}}]', path) == text


def test_the_one_that_is_meant_is_found_among_many_that_look_alike() -> None:
    many = [f"refund_{number}" for number in range(5_000)]
    assert closest("refund_4711x", many) in ("refund_4711", "refund_471")
    assert closest("lokup", [*many, "lookup"]) == "lookup"
    assert closest("amuont", [*many, "amount"]) == "amount"
