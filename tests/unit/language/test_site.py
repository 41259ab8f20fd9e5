"""Where URLs lead within a site, and how fields and ground truths are compared."""

from __future__ import annotations

from typing import Any

import pytest

from rollout.language.site import EmptyTruthError, compare_field, compare_values, find_page, truth_by_key

PAGES = {"/", "/orders", "/orders/17", "/find?q=tea", "/find", "about.html", "https://shop.test/cart"}


@pytest.mark.parametrize(
    ("written", "base", "page"),
    [
        ("/orders", "/", "/orders"),
        ("17", "/orders/", "/orders/17"),
        ("../orders", "/orders/17", "/orders"),
        ("/orders?sort=asc#top", "/", "/orders"),
        ("/find?q=tea", "/", "/find?q=tea"),
        ("/find?q=coffee", "/", "/find"),
        ("?q=tea", "/find", "/find?q=tea"),
        ("?q=milk", "/find", "/find"),
        ("#top", "/orders", "/orders"),
        ("", "/orders", "/orders"),
        ("about.html", "/orders/17", "about.html"),
        ("https://shop.test/cart", "/", "https://shop.test/cart"),
        ("cart", "https://shop.test/", "https://shop.test/cart"),
        ("/order", "/", None),
        ("/orders/", "/", None),
        ("https://shop.test/", "/", None),
        ("mailto:a@b.test", "/", None),
        ("http://[", "/", None),
    ],
)
def test_a_url_leads_to_a_page_or_nowhere(written: str, base: str, page: str | None) -> None:
    assert find_page(written, base, PAGES) == page


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(3, "3"), (3, "3.0"), (2.5, "2.5"), ("3", "3"), (["a", "b"], ["b", "a"]), (True, True)],
)
def test_a_field_has_the_value(expected: Any, actual: Any) -> None:
    assert compare_field(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (3, "03"),
        (3, "3 "),
        (3, "3 kg"),
        (3, ""),
        (1, "true"),
        (True, "true"),
        (1, True),
        ("3", 3),
        (3, "9" * 400),
    ],
)
def test_a_field_has_another_value(expected: Any, actual: Any) -> None:
    assert compare_field(expected, actual) is not None


def test_values_are_compared_where_they_are_named_only() -> None:
    actual = {"/": {"a": 1, "b": "2"}, "/x": {}}
    assert compare_values({"/": {"b": 2}}, actual) is None
    assert compare_values({"/": {"c": None}}, actual) is not None
    assert compare_values({"/y": {"a": 1}}, actual) is not None
    assert compare_values({"/": [1]}, actual) is not None
    assert compare_values([1], actual) is not None


def test_a_ground_truth_may_gather_the_state() -> None:
    start = {"cart": [], "url": "/", "title": "", "values": {}}
    assert truth_by_key({"url": "/x", "state": {"cart": [1]}}, start) == {"url": "/x", "cart": [1]}
    assert truth_by_key({"state": {"a": 1}}, {**start, "state": {}}) == {"state": {"a": 1}}
    assert truth_by_key({"state": "open"}, start) == {"state": "open"}


@pytest.mark.parametrize("truth", [{"state": {}}, {"values": {}}, {"url": "/", "values": {"/": {}}}])
def test_a_ground_truth_that_is_true_of_anything_is_refused(truth: dict[str, Any]) -> None:
    with pytest.raises(EmptyTruthError):
        truth_by_key(truth, {})
