"""What others wrote is made fit for a page: nothing that moves or hides text, no keys, no megabytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.analysis.report.texts import HIDDEN, Texts

KEY = "sk-proj-9vN2xQ7LmR4tB8yW1zK6cD3fH5jP0aSe"


def test_a_block_keeps_its_lines_and_tabs_and_shows_what_else_would_move_text() -> None:
    assert Texts().block("a\n\tb\r\n\x1b[31m\u202eевил\u2066\ud800\x00") == (
        "a\n\tb␍\n␛[31m<U+202E>евил<U+2066><U+D800>␀"
    )


def test_a_line_is_one_line() -> None:
    assert Texts().line("two\nlines\t") == "two␊lines␉"
    assert Texts().line("x" * 400) == "x" * 299 + "…"


def test_a_long_text_is_cut_and_says_how_much_is_left() -> None:
    assert Texts(longest=10).block("x" * 1_000_000) == ("x" * 10, 999_990)
    assert Texts(longest=10).block("x" * 10) == "x" * 10


@pytest.mark.parametrize("before", ["", "x" * 5, "x" * 45, "x" * 50])
def test_no_key_is_shown_not_even_where_a_text_is_cut(before: str) -> None:
    shown = Texts(longest=50).block(f"{before} {KEY} after")
    assert "9vN2" not in str(shown)


def test_secrets_that_look_like_nothing_are_hidden_when_they_are_known() -> None:
    texts = Texts(["correct horse", "abc"])
    assert texts.block("It is “correct horse”; abc is a word.") == f"It is “{HIDDEN}”; abc is a word."
    assert texts.up_to(5).json({"a": "correct horse"}) == ('{"a":', len('{"a": "correct horse"}') - 5)


def test_markup_has_no_keys_either_and_is_left_out_when_it_is_too_long() -> None:
    assert Texts().markup(f"<input value='{KEY}'>") == f"<input value='{HIDDEN}'>"
    assert Texts().markup("<p>" * 100_000) is None


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": 1.0, "b": [True, None]}, '{"a": 1.0, "b": [true, null]}'),
        (12345678901234567890123, "12345678901234567890123"),
        ("half \ud800", '"half <U+D800>"'),
    ],
)
def test_json_is_shown_exactly(value: object, shown: str) -> None:
    assert Texts().json(value) == shown


def test_json_that_is_long_has_indents() -> None:
    value = {"letters": ["x" * 40, "y" * 40]}
    shown = Texts().json(value)
    assert isinstance(shown, str)
    assert shown.split("\n")[1] == '  "letters": ['
    assert json.loads(shown) == value


def test_json_that_is_nested_deeply_is_no_exception() -> None:
    value: list[object] = []
    for _ in range(5_000):
        value = [value]
    assert Texts().json(value) == "(nested too deeply to be shown)"


def test_a_value_of_several_lines_stands_as_it_is_and_others_have_quotes() -> None:
    assert Texts().value("a\nb") == "a\nb"
    assert Texts().value("1") == '"1"'


@given(st.text())
def test_whatever_the_text_nothing_unsafe_is_left(text: str) -> None:
    shown = Texts().block(text)
    assert isinstance(shown, str)
    assert not [each for each in shown if each not in "\n\t" and (ord(each) < 32 or 0x7F <= ord(each) < 0xA0)]
    assert not set(shown) & set("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
    shown.encode()
