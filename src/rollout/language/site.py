"""What a site of pages has in common for those who check it, run it and judge it: where URLs lead, what is left over.

The final state of a browser environment is the site's own state with three keys beside it: ``url`` and ``title`` of the
page that is open, and ``values``, the values of the fields of every page that was opened.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from rollout.language.compare import Difference, compare

OWN_KEYS: Final = ("title", "url", "values")
"""The keys of a final state that are the browser's, so that a site's state cannot have them."""


class EmptyTruthError(ValueError):
    """A ground truth that is true of anything; its text is a sentence."""


def find_page(written: str, base: str, known: Collection[str]) -> str | None:
    """The page that the URL ``written`` on the page ``base`` leads to, or None when the site has no such page.

    A URL is taken as it stands, or else as relative to ``base``; what follows ``#``, and then what follows ``?``, is
    dropped where no page has just that URL.
    """
    if not written or written.startswith("#"):
        return base if base in known else None
    for url in (written, _joined(base, written)):
        for candidate in (url, url.partition("#")[0], url.partition("#")[0].partition("?")[0]):
            if candidate in known:
                return candidate
    return None


def _joined(base: str, written: str) -> str:
    from urllib.parse import urljoin

    try:
        return urljoin(base, written)
    except ValueError:
        return written


def truth_by_key(truth: Mapping[str, Any], start: Mapping[str, Any]) -> dict[str, Any]:
    """The ground truth of a browser task, key by key of the final state.

    ``state: {…}`` may hold keys of the site's state, unless that has a key of its own by that name in ``start``.
    Raises EmptyTruthError when a part of it names nothing.
    """
    flat: dict[str, Any] = {}
    for key, value in truth.items():
        if key == "state" and isinstance(value, dict) and key not in start:
            if not value:
                raise EmptyTruthError("“state” of the ground truth names nothing.")
            flat.update(value)
        else:
            flat[key] = value
    pages = truth.get("values", ...)
    if isinstance(pages, dict) and (not pages or not all(pages.values())):
        raise EmptyTruthError("“values” of the ground truth names a page without a field, or nothing.")
    return flat


def compare_values(expected: Any, actual: Any) -> Difference | None:
    """The first difference between the values that fields should have, page by page, and those they have.

    Pages and fields that are not named are not looked at.
    """
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        return compare(expected, actual)
    for page, fields in expected.items():
        if page not in actual or not isinstance(fields, dict):
            return compare({page: fields}, {page: actual[page]} if page in actual else {})
        for name, value in fields.items():
            if name not in actual[page]:
                return compare({page: {name: value}}, {page: {}})
            difference = compare_field(value, actual[page][name])
            if difference is not None:
                path = (page, name, *difference.path)
                return Difference(path, difference.why, difference.expected, difference.actual)
    return None


def compare_field(expected: Any, actual: Any) -> Difference | None:
    """The difference between the value a field should have and the one it has; chosen options have no order.

    What is typed is text, so that a number is expected of a text that reads just like it: 12 of ``12``, not of ``012``.
    """
    if isinstance(expected, int | float) and not isinstance(expected, bool) and isinstance(actual, str):
        number = _number(actual)
        return compare(expected, actual if number is None else number)
    return compare(expected, actual, ignore_order=isinstance(expected, list))


def _number(text: str) -> int | float | None:
    import json

    try:
        value = json.loads(text) if len(text) <= 40 and text == text.strip() else None
    except ValueError:
        return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


__all__ = ["OWN_KEYS", "EmptyTruthError", "compare_field", "compare_values", "find_page", "truth_by_key"]
