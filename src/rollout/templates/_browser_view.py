"""A page as text, the way an accessibility tree is written: ``[add-to-cart] button 'Add to cart'``.

What stands in brackets is the element's id, or its number on the page, which stays the same whatever is shown. Names
and values are quoted, and line breaks in them escaped, so that no text of a page can pass for an element.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rollout.language.interpolation import as_text
from rollout.templates._browser_fields import is_off, option_label, option_value
from rollout.templates._browser_session import Session, Visit
from rollout.templates._browser_shown import ACTIVE, Seen

_ROLES = {"list": "list", "table": "table", "image": "image", "form": "form", "section": "region"}
_INPUT_ROLES = {"search": "searchbox", "number": "spinbutton"}


def view(session: Session) -> str:
    """The open page, from its title down. Raises FillError when something on it cannot be filled in."""
    shown = session.show()
    lines = [f"RootWebArea {quoted(shown.title)}, url={quoted(shown.page.url)}"]
    for seen in shown.seen:
        lines.extend(_lines(seen, session.visit, 1))
    if session.note is not None:
        lines.insert(0, session.note)
    return "\n".join(lines)


def _lines(seen: Seen, visit: Visit, depth: int) -> Iterator[str]:
    element = seen.element
    if element.spec.get("inputType") == "hidden":
        return
    indent = "\t" * depth
    yield indent + _line(seen, visit)
    inner = indent + "\t"
    if element.type == "form" and visit.alert is not None and visit.alert[0] == element.number:
        yield f"{inner}alert {quoted(visit.alert[1])}"
    if element.type == "select":
        value = visit.values.get(element.number)
        for option in seen.shown.get("options") or ():
            chosen = (
                option_value(option) in value if isinstance(value, list) else option_value(option) == value
            )
            marks = f"{', selected' if chosen else ''}{', disabled' if is_off(option) else ''}"
            yield f"{inner}option {quoted(option_label(option))}{marks}"
    for item in seen.shown.get("items") or ():
        yield f"{inner}listitem {quoted(as_text(item))}"
    if element.type == "table":
        yield from _table_lines(seen, visit, inner)
    for child in seen.children:
        yield from _lines(child, visit, depth + 1)


def _table_lines(seen: Seen, visit: Visit, inner: str) -> Iterator[str]:
    columns = seen.shown.get("columns")
    if columns:
        yield f"{inner}row"
        for column in columns:
            yield f"{inner}\tcolumnheader {quoted(as_text(column))}"
    for row in seen.cells:
        yield f"{inner}row"
        for cell in row:
            if isinstance(cell, Seen):
                yield f"{inner}\tcell"
                yield from _lines(cell, visit, len(inner) + 2)
            else:
                yield f"{inner}\tcell {quoted(cell)}"


def line_of(session: Session, ref: str) -> str:
    """The one line of an element, as in the view."""
    return _line(session.find(ref), session.visit)


def _line(seen: Seen, visit: Visit) -> str:
    element, shown = seen.element, seen.shown
    if element.type == "text":
        return f"StaticText {quoted(as_text(shown.get('text', '')))}"
    role = _role(seen)
    name = _name(shown)
    label = f"[{element.ref}] " if element.type in ACTIVE else ""
    marks = "".join(f", {mark}" for mark in _marks(seen, visit))
    value = ""
    if element.type in ("input", "textarea", "select"):
        value = f" value={quoted(_value(seen, visit))}"
    return f"{label}{role}{f' {quoted(name)}' if name or label else ''}{value}{marks}"


def _role(seen: Seen) -> str:
    element = seen.element
    if element.type == "input":
        return _INPUT_ROLES.get(str(element.spec.get("inputType")), "textbox")
    if element.type == "textarea":
        return "textbox"
    if element.type == "select":
        return "listbox" if element.spec.get("multiple") else "combobox"
    return _ROLES.get(element.type, element.type)


def _name(shown: Mapping[str, Any]) -> str:
    for key in ("label", "text", "alt", "placeholder"):
        if shown.get(key) not in (None, ""):
            return as_text(shown[key])
    return ""


def _value(seen: Seen, visit: Visit) -> str:
    value = visit.values.get(seen.element.number)
    if seen.element.spec.get("inputType") == "password":
        return "•" * len(str(value))
    if seen.element.type == "select":
        chosen = value if isinstance(value, list) else [value]
        options = seen.shown.get("options") or ()
        return ", ".join(option_label(option) for option in options if option_value(option) in chosen)
    return as_text(value)


def _marks(seen: Seen, visit: Visit) -> Iterator[str]:
    spec, shown, element = seen.element.spec, seen.shown, seen.element
    if element.type == "heading":
        yield f"level={spec.get('level', 2)}"
    elif element.type == "link":
        yield f"url={quoted(as_text(shown.get('href', '')))}"
    elif element.type in ("checkbox", "radio"):
        yield f"checked={quoted('true' if visit.values.get(element.number) else 'false')}"
    elif element.type == "textarea":
        yield "multiline"
    if spec.get("inputType") in ("date", "email", "password", "tel", "url"):
        yield f"type={spec['inputType']}"
    if shown.get("label") and shown.get("placeholder"):
        yield f"placeholder={quoted(as_text(shown['placeholder']))}"
    for key in ("required", "disabled", "multiple", "readOnly"):
        if spec.get(key) is True:
            yield key.lower()
    if element.number in visit.faults:
        yield f"invalid={quoted(visit.faults[element.number])}"


_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(text: str) -> str:
    """A text in single quotes on one line, whatever is in it."""
    if text.isprintable() and "'" not in text and "\\" not in text:
        return f"'{text}'"
    return "'" + "".join(_ESCAPES.get(each) or _visible(each) for each in text) + "'"


def _visible(character: str) -> str:
    if character.isprintable() or character in "\u00a0\u200d":
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


__all__ = ["line_of", "quoted", "view"]
