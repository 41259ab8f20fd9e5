"""A page that is written as plain HTML, as the elements that a page in YAML is made of, each with its place.

Headings, paragraphs, links, buttons, inputs, selects, tables, lists, images and forms are kept; what has no meaning of
its own (``div``, ``span``, ``b``) is looked through. What a browser hides from whoever reads it is left out: by
``hidden``, by ``display: none`` or ``visibility: hidden`` in its own style, by ``aria-hidden``, and a dialog that is
not open; other styles are passed over. Nothing is ever run: scripts are told with their place. The parser follows the
HTML standard and is loaded when the first page is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import floor, isfinite
from typing import Any, Final

from rollout.language.html_nodes import (
    ACTIVE,
    BLOCKS,
    DEEPEST,
    FIELDS,
    SKIPPED,
    HtmlError,
    accessible_name,
    attributes_of,
    children_of,
    is_disabled,
    labels_before,
    labels_of,
    options_of,
    remove_hidden,
    rows_of,
    text_of,
    walk,
    words_of,
)
from rollout.language.paths import Step

LONGEST: Final = 1_000_000
"""How many characters a page may have."""


@dataclass(frozen=True, slots=True)
class Script:
    """Something in a page that would run in a browser: what it is, and its offsets."""

    what: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """The elements of a page, as in YAML; ``title`` from its head, and where each element begins in the text.

    ``offsets`` goes from the route of an element below ``elements`` to the offsets of its first tag.
    """

    title: str | None
    elements: list[dict[str, Any]]
    offsets: Mapping[tuple[Step, ...], tuple[int, int]]
    scripts: tuple[Script, ...]


@lru_cache(maxsize=2_048)
def read_html(text: str) -> HtmlPage:
    """Reads a page. Raises HtmlError for one that is longer than LONGEST or nested deeper than DEEPEST."""
    if len(text) > LONGEST:
        raise HtmlError(f"This page is longer than {LONGEST:,} characters.")
    from justhtml import JustHTML

    # Sanitizing would drop the scripts before anyone could be told of them.
    document = JustHTML(text, sanitize=False, track_node_locations=True)
    reader = _Reader(text)
    reader.look_for_scripts(document.root)
    remove_hidden(document.root)
    reader.labels = labels_of(document.root)
    reader.before = labels_before(document.root)
    body = next((node for node in walk(document.root) if node.name == "body"), document.root)
    title = next((node for node in walk(document.root) if node.name == "title"), None)
    elements = reader.read_all(body)
    offsets: dict[tuple[Step, ...], tuple[int, int]] = {}
    _place(elements, (), reader.tags, offsets)
    words = words_of(title) if title is not None else ""
    return HtmlPage(words or None, elements, offsets, tuple(reader.scripts))


_HANDLER = re.compile(r"\s(on[a-z]+)\s*=", re.IGNORECASE)
_CODE = re.compile(r"\s*(?:javascript|vbscript|data):", re.IGNORECASE)
_CODE_INSIDE = re.compile(r"[\x00-\x20]+")
_WITH_ADDRESS = ("href", "src", "action", "formaction", "xlink:href")

_INPUT_TYPES = frozenset(
    {"text", "email", "password", "number", "date", "tel", "url", "search", "hidden"},
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


@dataclass(slots=True)
class _Reader:
    text: str
    scripts: list[Script] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    before: dict[int, str] = field(default_factory=dict)
    tags: dict[int, tuple[int, int]] = field(default_factory=dict)

    def look_for_scripts(self, root: Any) -> None:
        for node in walk(root):
            attributes = attributes_of(node)
            start, end = self.span(node)
            if node.name == "script":
                self.scripts.append(Script("a script", start, end))
            elif node.name in ACTIVE:
                self.scripts.append(Script(ACTIVE[node.name], start, end))
            elif node.name == "meta" and (attributes.get("http-equiv") or "").lower() == "refresh":
                self.scripts.append(Script("a refresh", start, end))
            for name, value in attributes.items():
                if name.startswith("on"):
                    self.scripts.append(Script(f"the handler {name}", *self.attribute(name, start, end)))
                elif name in _WITH_ADDRESS and _CODE.match(_CODE_INSIDE.sub("", value or "")):
                    if name == "src" and node.name == "img":
                        continue  # a picture in the page itself is only a picture
                    self.scripts.append(Script(f"a script in {name}", *self.attribute(name, start, end)))

    def span(self, node: Any) -> tuple[int, int]:
        start = node.origin_offset
        if start is None:
            return 0, 0
        end = self.text.find(">", start)
        return start, len(self.text) if end < 0 else end + 1

    def attribute(self, name: str, start: int, end: int) -> tuple[int, int]:
        at = self.text[start:end].lower().find(name)
        return (start, end) if at < 0 else (start + at, start + at + len(name))

    def read_all(self, parent: Any) -> list[dict[str, Any]]:
        """The elements of what stands in ``parent``; stretches of text between them are texts."""
        elements: list[dict[str, Any]] = []
        words: list[str] = []
        self._read_children(parent, elements, words)
        _flush(elements, words)
        return elements

    def _read_children(self, parent: Any, elements: list[dict[str, Any]], words: list[str]) -> None:
        for node in children_of(parent):
            if node.name == "#text":
                words.append(node.data or "")
            elif node.name == "br":
                words.append("\n")
            elif node.name.startswith("#") or node.name in SKIPPED:
                continue
            elif (element := self._element(node)) is not None:
                _flush(elements, words)
                kept = {key: value for key, value in element.items() if value is not None}
                elements.append(kept)
                self.tags[id(kept)] = self.span(node)
            else:
                block = node.name in BLOCKS
                if block:
                    _flush(elements, words)
                if node.name != "label" or not self._names_a_field(node):
                    self._read_children(node, elements, words)
                else:
                    # Its words are the field's name already.
                    for inner in children_of(node):
                        if inner.name != "#text":
                            self._read_children(_Only(inner), elements, [])
                if block:
                    _flush(elements, words)

    def _names_a_field(self, label: Any) -> bool:
        return bool(attributes_of(label).get("for")) or any(node.name in FIELDS for node in walk(label))

    def _element(self, node: Any) -> dict[str, Any] | None:
        attributes = attributes_of(node)
        base = {"id": attributes.get("id") or None}
        name = node.name
        if name in _HEADINGS:
            if any(each.name in FIELDS or each.name in ("a", "button") for each in walk(node)):
                return None
            return {"type": "heading", **base, "level": _HEADINGS[name], "text": words_of(node)}
        if name == "a" and attributes.get("href") is not None:
            return {"type": "link", **base, "text": accessible_name(node), "href": attributes["href"]}
        if name == "button" or attributes.get("role") == "button":
            if name != "button":
                return {"type": "button", **base, "text": accessible_name(node)}
            submit = (attributes.get("type") or "submit").lower() == "submit"
            return {
                "type": "button",
                **base,
                "text": accessible_name(node),
                "name": attributes.get("name") or None,
                "value": attributes.get("value"),
                "submit": True if submit else None,
                "reset": True if (attributes.get("type") or "").lower() == "reset" else None,
                "disabled": is_disabled(node) or None,
            }
        if name in ("ul", "ol"):
            return self._list(node, base)
        if name == "table":
            return self._table(node, base)
        if name == "img":
            return {"type": "image", **base, "alt": attributes.get("alt") or "", "src": attributes.get("src")}
        if name == "form":
            label = attributes.get("aria-label")
            return {
                "type": "form",
                **base,
                "label": label,
                "action": attributes.get("action") or None,
                "elements": self.read_all(node),
            }
        if name in FIELDS:
            return self._field(node, base)
        return None

    def _field(self, node: Any, base: dict[str, Any]) -> dict[str, Any] | None:
        attributes = attributes_of(node)
        kind = (attributes.get("type") or "text").lower() if node.name == "input" else node.name
        if kind in ("submit", "button", "reset", "image"):
            return {
                "type": "button",
                **base,
                "text": attributes.get("value")
                or attributes.get("alt")
                or {"submit": "Submit", "reset": "Reset"}.get(kind, ""),
                "name": attributes.get("name") or None,
                "value": attributes.get("value"),
                "submit": True if kind in ("submit", "image") else None,
                "reset": True if kind == "reset" else None,
                "disabled": is_disabled(node) or None,
            }
        field_of = {
            **base,
            # A browser does not send a field without a name; here it can still be filled in and judged by its id.
            "name": attributes.get("name") or None,
            "label": self._label(node, attributes),
            "required": _flag(attributes, "required"),
            "disabled": is_disabled(node) or None,
        }
        if kind in ("checkbox", "radio"):
            value = attributes.get("value")
            return {
                "type": kind,
                **field_of,
                "value": value if value is not None or kind == "checkbox" else "on",
                "checked": _flag(attributes, "checked"),
            }
        if kind == "select":
            return {"type": "select", **field_of, **options_of(node, attributes)}
        limits = {
            "placeholder": attributes.get("placeholder"),
            "minLength": _number(attributes.get("minlength")),
            "maxLength": _number(attributes.get("maxlength")),
            "readOnly": _flag(attributes, "readonly"),
        }
        if kind == "textarea":
            return {"type": "textarea", **field_of, "value": text_of(node) or None, **limits}
        line = {
            "type": "input",
            **field_of,
            "inputType": kind if kind in _INPUT_TYPES else "text",
            "value": attributes.get("value"),
            **limits,
            "pattern": attributes.get("pattern"),
            "min": attributes.get("min"),
            "max": attributes.get("max"),
        }
        if kind == "range":
            return line | _range(attributes)
        return line | {"step": _step(attributes)} if kind == "number" else line

    def _label(self, node: Any, attributes: Mapping[str, str | None]) -> str | None:
        if attributes.get("aria-label"):
            return attributes["aria-label"]
        if (name := attributes.get("id")) and name in self.labels:
            return self.labels[name]
        above = node.parent
        while above is not None and above.name not in ("form", "body"):
            if above.name == "label":
                return words_of(above, without=FIELDS) or None
            above = above.parent
        return attributes.get("title") or self.before.get(id(node))

    def _list(self, node: Any, base: dict[str, Any]) -> dict[str, Any] | None:
        items = [child for child in children_of(node) if child.name == "li"]
        if not items or any(_is_more_than_words(item) for item in items):
            return None
        ordered = True if node.name == "ol" else None
        return {"type": "list", **base, "items": [words_of(item) for item in items], "ordered": ordered}

    def _table(self, node: Any, base: dict[str, Any]) -> dict[str, Any] | None:
        rows: list[list[Any]] = []
        columns: list[str] | None = None
        for row in rows_of(node):
            cells = [cell for cell in children_of(row) if cell.name in ("td", "th")]
            if not rows and columns is None and cells and all(cell.name == "th" for cell in cells):
                columns = [words_of(cell) for cell in cells]
            else:
                rows.append([self._cell(cell) for cell in cells])
        caption = next((child for child in children_of(node) if child.name == "caption"), None)
        label = words_of(caption) if caption is not None else None
        return {"type": "table", **base, "label": label or None, "columns": columns, "rows": rows}

    def _cell(self, cell: Any) -> Any:
        if not _is_more_than_words(cell):
            return words_of(cell)
        inside = self.read_all(cell)
        if len(inside) == 1:
            return inside[0]
        return {"type": "section", "elements": inside}


@dataclass(frozen=True, slots=True)
class _Only:
    """A parent of one node."""

    node: Any

    @property
    def children(self) -> list[Any]:
        return [self.node]


_MORE = FIELDS | {"a", "button", "form", "img", "table", "ul", "ol", *_HEADINGS}


def _is_more_than_words(node: Any) -> bool:
    return any(each is not node and each.name in _MORE for each in walk(node))


def _flag(attributes: Mapping[str, str | None], name: str) -> bool | None:
    return True if name in attributes else None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None


def _step(attributes: Mapping[str, str | None]) -> int | float | None:
    """How far apart the numbers of a field may be: 1 unless it says so otherwise, None for any."""
    text = attributes.get("step")
    if text is not None and text.strip().lower() == "any":
        return None
    step = _decimal(text, 1)
    return step if step > 0 else 1


def _range(attributes: Mapping[str, str | None]) -> dict[str, Any]:
    """What a slider is as a number: where nothing is said, from 0 to 100, and half way between."""
    least, most = _decimal(attributes.get("min"), 0), _decimal(attributes.get("max"), 100)
    step = _step(attributes)
    middle = max(least, (least + most) / 2)
    if step is not None:
        middle = least + step * floor((middle - least) / step + 0.5)
    start = min(max(_decimal(attributes.get("value"), middle), least), max(least, most))
    return {"inputType": "number", "value": _written(start), "min": least, "max": most, "step": step}


def _decimal(text: str | None, otherwise: float) -> int | float:
    try:
        value = float(text or "")
    except ValueError:
        value = otherwise
    value = value if isfinite(value) else otherwise
    return int(value) if float(value).is_integer() else value


def _written(value: float) -> str:
    return repr(int(value) if float(value).is_integer() else value)


def _flush(elements: list[dict[str, Any]], words: list[str]) -> None:
    text = " ".join("".join(words).split())
    words.clear()
    if text:
        elements.append({"type": "text", "text": text})


def _place(
    value: Any,
    route: tuple[Step, ...],
    tags: Mapping[int, tuple[int, int]],
    offsets: dict[tuple[Step, ...], tuple[int, int]],
) -> None:
    if isinstance(value, dict):
        if (span := tags.get(id(value))) is not None:
            offsets[route] = span
        for key in ("elements", "rows"):
            _place(value.get(key), (*route, key), tags, offsets)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            _place(member, (*route, index), tags, offsets)


__all__ = ["DEEPEST", "LONGEST", "HtmlError", "HtmlPage", "Script", "read_html"]
