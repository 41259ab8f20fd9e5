"""The fields of a site as `element_value` looks at them: what may ever stand in one, and what stands there at first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rollout.check.site import FIELDS, Element, elements
from rollout.check.subject import Item
from rollout.check.wording import listed
from rollout.language.paths import MISSING
from rollout.language.site import compare_field


def fields_called(page: Item, name: str) -> tuple[list[Element], bool]:
    """The fields of a page that ``name`` means, and whether it is the id of them; a name counts where no id does."""
    every = [each for each in elements(page) if each.value.get("type") in FIELDS]
    by_id = [each for each in every if each.text("id") == name]
    return (by_id, True) if by_id else ([each for each in every if each.text("name") == name], False)


def never_holds(found: Sequence[Element], wanted: Any, *, by_id: bool) -> str | None:
    """Why none of the fields, which one name means, ever holds ``wanted``; None where one may."""
    kinds = {each.value.get("type") for each in found}
    if len(kinds) != 1 or any("${" in json.dumps(each.value, default=str) for each in found):
        return None
    if len(found) > 1 and kinds != {"radio"}:
        return None  # which of them is meant, and whether they make a list, is for the world to say
    kind = kinds.pop()
    if kind == "checkbox" or (kind == "radio" and by_id):
        return None if isinstance(wanted, bool) else f"a {_NAMES[kind]} is true or false"
    if kind == "radio":
        values = [each.value.get("value") for each in found]
        if wanted is None or wanted in values or None in values:
            return None
        return f"the values of these radio buttons are {listed([str(each) for each in values])}"
    if kind == "select":
        return _never_chosen(found[0], wanted)
    if isinstance(wanted, bool | list | dict):
        return "a text is typed here"
    if found[0].value.get("inputType") == "number" and isinstance(wanted, str) and _is_number(wanted):
        return "a number is typed here, and a number is no text"
    return None


def start_value(found: Sequence[Element], *, by_id: bool) -> Any:
    """What stands in a field when its page is loaded; MISSING where that is not plain to see."""
    element = found[0].value
    if len(found) > 1 or "${" in json.dumps(element, default=str):
        return MISSING
    match element.get("type"):
        case "checkbox":
            return element.get("checked") is True
        case "radio":
            return element.get("checked") is True if by_id else MISSING
        case "input" | "textarea" if element.get("inputType") != "number":
            value = element.get("value", "")
            return value if isinstance(value, str) else MISSING
        case "select":
            options = _offered(found[0])
            if options is None or not options:
                return MISSING
            if element.get("multiple") is True:
                return [] if element.get("value") is None else MISSING
            return element.get("value", options[0])
    return MISSING


_NAMES = {"checkbox": "checkbox", "radio": "radio button"}


def _never_chosen(select: Element, wanted: Any) -> str | None:
    offered = _offered(select)
    if not offered:
        return None  # another rule tells of a select without options
    known = f"the options are {listed(offered)}"
    if select.value.get("multiple") is True:
        if not isinstance(wanted, list):
            return "several options may be chosen here, so it is a list"
        return None if all(each in offered for each in wanted) else known
    if any(compare_field(wanted, each) is None for each in (*offered, select.value.get("value"))):
        return None
    return "one option is chosen here" if isinstance(wanted, list) else known


def _offered(select: Element) -> list[str] | None:
    options = select.value.get("options")
    if not isinstance(options, list):
        return None
    return [str(each.get("value", "")) if isinstance(each, dict) else str(each) for each in options]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


__all__ = ["fields_called", "never_holds", "start_value"]
