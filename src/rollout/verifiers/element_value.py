"""element_value: an input, checkbox, radio button or select has this value at the end.

``element`` is its id, or its name: by id, a checkbox or radio button is true or false; by name, a radio group is the
value that is chosen. Without ``page`` the page that is open at the end is looked at. The value is the one that was
entered last, also where the page was left or its form sent since. A number is expected of a text that reads just like
it; chosen options have no order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.compare import show
from rollout.language.site import compare_field
from rollout.verifiers import CannotJudgeError, Case, Judgement, absent, failed, passed


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the element has the value, else 0 with the one it has.

    Raises CannotJudgeError for an element that the named page does not have.
    """
    values, url = case.final_state.get("values"), case.final_state.get("url")
    if not isinstance(url, str) or not isinstance(values, dict):
        raise CannotJudgeError("The final state is not that of a browser: it has no page.")
    page, element, expected = options.get("page", url), options["element"], options["value"]
    if page not in values:
        opened = ", ".join(f"“{each}”" for each in values)
        return absent(f"The page “{page}” was never opened; opened: {opened}.")
    fields = values[page]
    if element not in fields:
        known = ", ".join(f"“{each}”" for each in sorted(fields)) or "none"
        sentence = f"The page “{page}” has no field “{element}”; its fields are: {known}."
        if "page" not in options:
            return absent(sentence)  # the agent ended on another page
        raise CannotJudgeError(sentence)
    actual = fields[element]
    if compare_field(expected, actual) is None:
        return passed(f"“{element}” on “{page}” is {show(expected)}.")
    return failed(f"“{element}” on “{page}” is {show(actual)}; {show(expected)} was expected.")


__all__ = ["judge"]
