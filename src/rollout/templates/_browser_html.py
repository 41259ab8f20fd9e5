"""A page as HTML to look at: what an agent had before it, inert, with every text escaped.

Nothing in it can be followed, sent or run, and nothing is fetched: links have no address, forms are boxes, pictures are
their alternative texts. It is a piece of a page, to be put into a report.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rollout.language.interpolation import as_text
from rollout.templates._browser_fields import option_label, option_value
from rollout.templates._browser_session import Session, Visit
from rollout.templates._browser_shown import Seen


def render(session: Session) -> str:
    """The open page as a ``section``. Raises FillError when something on it cannot be filled in."""
    shown = session.show()
    inside = "".join(_render(seen, session.visit) for seen in shown.seen)
    heading = f"<header><b>{escape(shown.title)}</b> <code>{escape(shown.page.url)}</code></header>"
    return f'<section class="page">{heading}{inside}</section>'


def _render(seen: Seen, visit: Visit) -> str:
    element, shown = seen.element, seen.shown
    text = escape(as_text(shown.get("text", "")))
    match element.type:
        case "heading":
            level = min(max(int(element.spec.get("level", 2)), 1), 6)
            return f"<h{level}>{text}</h{level}>"
        case "text":
            return f"<p>{text}</p>"
        case "link":
            return f'<p><a title="{escape(as_text(shown.get("href", "")))}">{text}</a></p>'
        case "button":
            return f'<p><button type="button" disabled>{text}</button></p>'
        case "image":
            return f"<p><i>[{escape(as_text(shown.get('alt', '')))}]</i></p>"
        case "list":
            tag = "ol" if element.spec.get("ordered") else "ul"
            items = "".join(f"<li>{escape(as_text(item))}</li>" for item in shown.get("items") or ())
            return f"<{tag}>{items}</{tag}>"
        case "table":
            return _table(seen, visit)
        case "form" | "section":
            return "".join(_box(seen, visit))
    return _field(seen, visit)


def _box(seen: Seen, visit: Visit) -> Iterator[str]:
    yield f'<div class="{seen.element.type}">'
    if seen.shown.get("label"):
        yield f"<p><b>{escape(as_text(seen.shown['label']))}</b></p>"
    if visit.alert is not None and visit.alert[0] == seen.element.number:
        yield f'<p role="alert">{escape(visit.alert[1])}</p>'
    yield from (_render(child, visit) for child in seen.children)
    yield "</div>"


def _table(seen: Seen, visit: Visit) -> str:
    rows = []
    if seen.shown.get("columns"):
        rows.append("".join(f"<th>{escape(as_text(each))}</th>" for each in seen.shown["columns"]))
    for row in seen.cells:
        cells = (escape(cell) if isinstance(cell, str) else _render(cell, visit) for cell in row)
        rows.append("".join(f"<td>{cell}</td>" for cell in cells))
    label = seen.shown.get("label")
    caption = f"<caption>{escape(as_text(label))}</caption>" if label else ""
    return f"<table>{caption}{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _field(seen: Seen, visit: Visit) -> str:
    element, value = seen.element, visit.values.get(seen.element.number)
    label = escape(
        as_text(seen.shown.get("label") or seen.shown.get("placeholder") or element.name or element.ref)
    )
    kind = element.spec.get("inputType", "text")
    if kind == "hidden":
        return ""
    if element.type in ("checkbox", "radio"):
        ticked = " checked" if value else ""
        return f'<p><label><input type="{element.type}" disabled{ticked}> {label}</label></p>'
    if element.type == "select":
        chosen = value if isinstance(value, list) else [value]
        options = "".join(
            f"<option{' selected' if option_value(option) in chosen else ''}>{escape(option_label(option))}</option>"
            for option in seen.shown.get("options") or ()
        )
        many = " multiple" if element.spec.get("multiple") else ""
        return f"<p><label>{label} <select disabled{many}>{options}</select></label></p>"
    if element.type == "textarea":
        return f"<p><label>{label} <textarea disabled>{escape(as_text(value))}</textarea></label></p>"
    written = "•" * len(str(value)) if kind == "password" else as_text(value)
    return f'<p><label>{label} <input disabled value="{escape(written)}"></label></p>'


__all__ = ["render"]
