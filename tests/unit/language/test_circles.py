"""Names that need one another, and those of them that need themselves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rollout.language.circles import circles


def test_a_circle_is_told_of_each_name_in_it_and_by_way_of_which_other() -> None:
    needs = {"top": ["a"], "a": ["b", "free"], "b": ["c"], "c": ["a"], "free": [], "own": ["own"]}
    assert list(circles(needs)) == [("a", "c"), ("b", "a"), ("c", "b"), ("own", None)]


def test_what_is_not_there_needs_nothing() -> None:
    assert list(circles({"a": ["gone"], "b": ["a", "gone"]})) == []


def test_names_that_need_the_same_ones_over_and_over_are_soon_told() -> None:
    # Gone through one way after another, there are more ways than anything could follow.
    needs = {f"v{n}": [f"v{below}" for below in (n - 1, n - 2) if below >= 0] for n in range(5_000)}
    assert list(circles(needs)) == []


NAMES = st.sampled_from("abcdef")


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=3)))
def test_a_name_is_in_a_circle_when_it_can_be_come_back_to(needs: dict[str, list[str]]) -> None:
    def reached(name: str, steps: int) -> set[str]:
        below = set(needs.get(name, ()))
        return below if steps == 0 else below.union(*(reached(each, steps - 1) for each in below))

    found = dict(circles(needs))
    assert list(found) == [name for name in needs if name in reached(name, len(needs))]
    assert all(through is None or name in needs[through] for name, through in found.items())
