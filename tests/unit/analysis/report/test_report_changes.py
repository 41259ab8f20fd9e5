"""The state before and after, told as what changed."""

from __future__ import annotations

from rollout.analysis.report.changes import MOST_CHANGES, changes
from rollout.analysis.report.texts import Texts


def test_each_place_that_differs_is_told_with_what_was_and_is_there() -> None:
    before = {"cart": [], "user": {"name": "Ida", "age": 40}, "old": True}
    after = {"cart": [{"id": "A", "n": 2}], "user": {"name": "Ida", "age": "40"}}
    assert changes(before, after, Texts()) == {
        "list": [
            {"kind": "added", "path": "cart[0]", "after": '{"id": "A", "n": 2}'},
            {"kind": "changed", "path": "user.age", "before": "40", "after": '"40"'},
            {"kind": "removed", "path": "old", "before": "true"},
        ],
        "left": 0,
    }


def test_a_text_of_several_lines_is_told_line_by_line() -> None:
    before = {"files": {"a.py": "one\ntwo\n\tthree\nfour\nfive\nsix\nseven"}}
    after = {"files": {"a.py": "one\ntwo\n\tthree!\nfour\nfive\nsix\nseven"}}
    [change] = changes(before, after, Texts())["list"]
    assert change["lines"] == [
        ("@", "from line 1"),
        (" ", "one"),
        (" ", "two"),
        ("-", "\tthree"),
        ("+", "\tthree!"),
        (" ", "four"),
        (" ", "five"),
        (" ", "six"),
    ]


def test_a_huge_text_is_not_compared_but_shown_cut_on_both_sides() -> None:
    [change] = changes({"x": "a\n" * 30_000}, {"x": "b\n" * 30_000}, Texts(longest=4))["list"]
    assert (change["before"], change["after"]) == (("a\na\n", 59_996), ("b\nb\n", 59_996))


def test_more_changes_than_are_shown_are_counted() -> None:
    told = changes({}, {f"k{n}": n for n in range(MOST_CHANGES + 7)}, Texts())
    assert (len(told["list"]), told["left"]) == (MOST_CHANGES, 7)


def test_halves_of_characters_are_told_by_their_number() -> None:
    told = changes({"x": ["a"], "y": 1}, {"x": ["a", "\ud800"], "y": 1, "\udfff": True}, Texts())
    assert [(change["path"], change["after"]) for change in told["list"]] == [
        ("x[1]", '"<U+D800>"'),
        ("<U+DFFF>", "true"),
    ]


def test_lists_that_repeat_a_few_items_take_no_minutes() -> None:
    told = changes({"x": [0, 1] * 1_000}, {"x": [1, 0, 0] * 660}, Texts())
    assert len(told["list"]) == MOST_CHANGES


def test_states_that_are_nested_too_deeply_are_a_sentence() -> None:
    def nested(leaf: int) -> dict[str, object]:
        value: dict[str, object] = {"leaf": leaf}
        for _ in range(5_000):
            value = {"in": value}
        return value

    assert (
        changes(nested(1), nested(2), Texts())["note"] == "The states are nested too deeply to be compared."
    )
