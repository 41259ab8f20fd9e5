"""The fields of a page: what stands in them at the start, what may be entered, what is sent, what a form refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rollout.language.interpolation import as_text
from rollout.templates import TemplateError
from rollout.templates._browser_pages import Element, Page

Values = dict[int, Any]
"""The values of a page's fields by element number: a text; true or false; an option's value, or a list of them."""


LONGEST_TEXT = 100_000
"""How many characters a field takes, unless its ``maxLength`` says fewer."""


class FieldError(ValueError):
    """A value that a field does not take; its text is a sentence for the agent."""


def start_value(element: Element, shown: Mapping[str, Any]) -> Any:
    """What stands in a field when its page is loaded."""
    if element.type in ("checkbox", "radio"):
        return shown.get("checked") is True
    value = shown.get("value")
    if element.type == "select":
        options = list(shown.get("options") or ())
        if element.spec.get("multiple"):
            chosen = value if isinstance(value, list) else [] if value is None else [as_text(value)]
            return [offered for offered in map(option_value, options) if offered in chosen]
        if value is not None:
            return as_text(value)
        return next((option_value(option) for option in options if not is_off(option)), "")
    return "" if value is None else _clean(element, as_text(value))


def option_value(option: Any) -> str:
    """What choosing an option sends."""
    return str(option.get("value", "")) if isinstance(option, dict) else str(option)


def option_label(option: Any) -> str:
    """The words that an option is shown with."""
    return str(option.get("label", option.get("value", ""))) if isinstance(option, dict) else str(option)


def is_off(option: Any) -> bool:
    """Whether an option cannot be chosen."""
    return isinstance(option, dict) and option.get("disabled") is True


def enter(page: Page, element: Element, value: Any, shown: Mapping[str, Any], values: Values) -> None:
    """Puts ``value`` into a field. Raises FieldError, and leaves the values as they are, when it does not take it."""
    if shown.get("disabled", element.spec.get("disabled")) is True:
        raise FieldError(f"“{element.ref}” is disabled.")
    if element.spec.get("readOnly") is True:
        raise FieldError(f"“{element.ref}” is read-only.")
    if element.type == "checkbox":
        if not isinstance(value, bool):
            raise FieldError(f"“{element.ref}” is a checkbox; it takes true or false.")
        values[element.number] = value
    elif element.type == "radio":
        if value is not True:
            raise FieldError(f"“{element.ref}” is a radio button; choose another one of its group instead.")
        for other in page.fields(element.form):
            if other is element or (other.type == "radio" and element.name and other.name == element.name):
                values[other.number] = other is element
    elif element.type == "select":
        values[element.number] = _choose(element, value, shown.get("options") or ())
    elif element.spec.get("inputType") == "hidden":
        raise FieldError(f"“{element.ref}” is hidden.")
    elif isinstance(value, bool) or not isinstance(value, str | int | float):
        raise FieldError(f"“{element.ref}” takes a text.")
    elif len(text := as_text(value)) > LONGEST_TEXT:
        raise FieldError(f"“{element.ref}” takes at most {LONGEST_TEXT:,} characters, not {len(text):,}.")
    else:
        values[element.number] = _clean(element, text)


def _choose(element: Element, value: Any, options: Iterable[Any]) -> Any:
    offered = list(options)
    multiple = element.spec.get("multiple") is True
    wanted = value if isinstance(value, list) else [value]
    if not multiple and len(wanted) != 1:
        raise FieldError(f"Exactly one option of “{element.ref}” can be chosen.")
    chosen = []
    for each in wanted:
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            raise FieldError(f"“{element.ref}” takes the words of an option.")
        words = as_text(each)
        found = next((option for option in offered if option_value(option) == words), None)
        if found is None:
            found = next((option for option in offered if option_label(option) == words), None)
        if found is None:
            known = ", ".join(f"“{option_label(option)}”" for option in offered[:30])
            raise FieldError(f"“{element.ref}” has no option “{words[:200]}”. Its options are: {known}.")
        if is_off(found):
            raise FieldError(f"The option “{option_label(found)}” of “{element.ref}” is disabled.")
        chosen.append(option_value(found))
    if multiple:
        return [option_value(option) for option in offered if option_value(option) in chosen]
    return chosen[0]


def _clean(element: Element, text: str) -> str:
    # As the HTML standard's value sanitization: a line has no line breaks, and some types no space around.
    if element.type == "textarea":
        return text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\r", "").replace("\n", "")
    return text.strip() if element.spec.get("inputType") in ("email", "number", "date", "url") else text


def sent(fields: Iterable[Element], values: Mapping[int, Any], groups: Mapping[str, int]) -> dict[str, Any]:
    """What fields send, by name. ``groups`` has the names of checkboxes that several boxes share; they send a list."""
    args: dict[str, Any] = {}
    for element in fields:
        name, value = element.name, values.get(element.number)
        if not name:
            continue
        if element.type == "checkbox":
            ticked = element.spec.get("value", True)
            if groups.get(name, 0) > 1:
                args.setdefault(name, []).extend([ticked] if value else [])
            else:
                args[name] = ticked if value else False
        elif element.type == "radio":
            if value or name not in args:
                args[name] = element.spec.get("value") if value else None
        elif element.spec.get("inputType") == "number" and element.type == "input":
            args[name] = number_of(value)
        else:
            args[name] = list(value) if isinstance(value, list) else value
    return args


def groups_of(page: Page, form: int | None) -> dict[str, int]:
    """How many checkboxes of a form share each name."""
    groups: dict[str, int] = {}
    for element in page.fields(form):
        if element.type == "checkbox" and element.name:
            groups[element.name] = groups.get(element.name, 0) + 1
    return groups


def by_name(page: Page, values: Mapping[int, Any]) -> dict[str, Any]:
    """The values of all fields of a page, by id and by name, for a verifier to look at.

    By id, a checkbox or radio button is true or false; by name, a radio group is the value that is chosen, and
    checkboxes that share a name are a list. A name that fields of several forms share is left out unless they agree.
    """
    found: dict[str, Any] = {}
    ambiguous: set[str] = set()
    forms = dict.fromkeys(element.form for element in page.all if element.is_field)
    for form in forms:
        groups = groups_of(page, form)
        named = sent(page.fields(form), values, groups)
        boxes = {each.name: each for each in page.fields(form) if each.type == "checkbox"}
        for name, value in named.items():
            if (
                groups.get(name) == 1
                and name in boxes
                and value in (False, boxes[name].spec.get("value", True))
            ):
                value = values.get(boxes[name].number)
            if name in found and found[name] != value:
                ambiguous.add(name)
            found[name] = value
    for name in ambiguous:
        del found[name]
    for element in page.all:
        if element.is_field and element.id:
            value = values.get(element.number)
            if element.spec.get("inputType") == "number" and element.type == "input":
                value = number_of(value)
            found[element.id] = list(value) if isinstance(value, list) else value
    return found


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address
_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_EMAIL = re.compile(rf"[a-zA-Z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,200}}@{_LABEL}(?:\.{_LABEL}){{0,20}}")
# https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#valid-floating-point-number
_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:\S+")


def number_of(text: Any) -> int | float | None:
    """The number that a text is, or None when it is none or too large for one."""
    if not isinstance(text, str) or len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    if text.lstrip("-").isdigit():
        return int(text)
    value = float(text)
    return value if abs(value) < float("inf") else None


def _date_of(text: Any) -> date | None:
    if not isinstance(text, str) or not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def fault_of(element: Element, value: Any, group: Iterable[Any]) -> str | None:
    """Why a form does not take the value of a field, as a browser would say it; None when it does.

    ``group`` has the values of all radio buttons of its name, where it is one.
    """
    spec = element.spec
    if spec.get("readOnly") is True:
        return None
    if element.type == "checkbox":
        return "Please tick this box." if spec.get("required") and not value else None
    if element.type == "radio":
        return "Please choose one of these." if spec.get("required") and not any(group) else None
    if value == "" or value == []:
        words = "Please choose an option." if element.type == "select" else "Please fill in this field."
        return words if spec.get("required") else None
    if element.type == "select":
        return None
    text = str(value)
    if (fault := _CHECKS.get(spec.get("inputType", "text"), _no_fault)(text, spec)) is not None:
        return fault
    if len(text) < spec.get("minLength", 0):
        return f"Please enter at least {spec['minLength']} characters, not {len(text)}."
    if len(text) > spec.get("maxLength", len(text)):
        return f"Please enter at most {spec['maxLength']} characters, not {len(text)}."
    if isinstance(spec.get("pattern"), str) and not whole_match(spec["pattern"], text):
        return "Please match the format that is asked for."
    return None


def _no_fault(text: str, spec: Mapping[str, Any]) -> str | None:
    return None


def _email_fault(text: str, spec: Mapping[str, Any]) -> str | None:
    return None if _EMAIL.fullmatch(text) else "Please enter an e-mail address."


def _url_fault(text: str, spec: Mapping[str, Any]) -> str | None:
    return None if _URL.fullmatch(text) else "Please enter a URL."


def _number_fault(text: str, spec: Mapping[str, Any]) -> str | None:
    value = number_of(text)
    if value is None:
        return "Please enter a number."
    least, most = (_bound(spec.get(key), number_of) for key in ("min", "max"))
    if least is not None and value < least:
        return f"Please enter a number of {as_text(least)} or more."
    if most is not None and value > most:
        return f"Please enter a number of {as_text(most)} or less."
    step = spec.get("step")
    base = _bound(spec.get("value"), number_of) if least is None else least
    if step is not None and (Fraction(str(value)) - Fraction(str(base or 0))) % Fraction(str(step)):
        return f"Please enter a number in steps of {as_text(step)} from {as_text(base or 0)}."
    return None


def _date_fault(text: str, spec: Mapping[str, Any]) -> str | None:
    value = _date_of(text)
    if value is None:
        return "Please enter a date as YYYY-MM-DD."
    first, last = (_bound(spec.get(key), _date_of) for key in ("min", "max"))
    if first is not None and value < first:
        return f"Please enter {first.isoformat()} or a later date."
    if last is not None and value > last:
        return f"Please enter {last.isoformat()} or an earlier date."
    return None


def _bound(written: Any, read: Callable[[Any], Any]) -> Any:
    return written if isinstance(written, int | float) else read(written)


_CHECKS: Mapping[str, Callable[[str, Mapping[str, Any]], str | None]] = {
    "email": _email_fault,
    "url": _url_fault,
    "number": _number_fault,
    "date": _date_fault,
}


def whole_match(pattern: str, text: str) -> bool:
    """Whether a text matches a pattern from end to end; a pattern that backtracks without end does not match."""
    try:
        return bool(_matcher(pattern).is_valid(text))
    except ValueError:
        return False


@lru_cache(maxsize=512)
def _matcher(pattern: str) -> Any:
    import jsonschema_rs

    # Its engine stops a pattern that backtracks without end, which Python's does not.
    try:
        return jsonschema_rs.validator_for(
            {"type": "string", "pattern": rf"\A(?:{pattern})\z"},
            offline=True,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000),
        )
    except ValueError:
        raise TemplateError(f"The pattern “{pattern}” of an input is no regular expression.") from None


def check_patterns(page: Page) -> None:
    """Raises TemplateError when the pattern of a field is no regular expression."""
    for element in page.all:
        if isinstance(element.spec.get("pattern"), str):
            _matcher(element.spec["pattern"])


__all__ = [
    "LONGEST_TEXT",
    "FieldError",
    "Values",
    "by_name",
    "check_patterns",
    "enter",
    "fault_of",
    "groups_of",
    "is_off",
    "number_of",
    "option_label",
    "option_value",
    "sent",
    "start_value",
    "whole_match",
]
