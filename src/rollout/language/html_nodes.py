"""What stands in a parsed HTML page: its nodes from top to bottom, their words, labels, rows and options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

DEEPEST: Final = 200
"""How deep the tags of a page may be nested."""

ACTIVE = {"iframe": "a frame", "frame": "a frame", "object": "an object", "embed": "an object"}
SKIPPED = frozenset(
    {
        "base",
        "datalist",
        "head",
        "link",
        "meta",
        "noscript",
        "script",
        "style",
        "svg",
        "math",
        "template",
        "title",
        *ACTIVE,
    }
)
BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "header",
        "hr",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    }
)
_HIDING = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden)"
    r"\s*(?:!\s*important\s*)?(?:;|$)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FIELDS = frozenset({"input", "select", "textarea"})


class HtmlError(ValueError):
    """A page that cannot be read; its text is a sentence."""


def walk(root: Any) -> Iterator[Any]:
    """Every element of a page, from top to bottom. Raises HtmlError where they are nested deeper than DEEPEST."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > DEEPEST:
            raise HtmlError(f"The tags of this page are nested deeper than {DEEPEST} levels.")
        if not node.name.startswith("#t") and node.name != "#comment":
            yield node
        stack.extend((child, depth + 1) for child in reversed(children_of(node)))


def children_of(node: Any) -> list[Any]:
    """What stands directly in a node, also in a template."""
    children = list(getattr(node, "children", None) or ())
    content = getattr(node, "template_content", None)
    return children + list(content.children) if content is not None else children


def attributes_of(node: Any) -> Mapping[str, str | None]:
    """The attributes of a node; empty where it has none."""
    return getattr(node, "attrs", None) or {}


def remove_hidden(root: Any) -> None:
    """Takes out of a page what nobody is shown who reads it in a browser."""
    for parent in list(walk(root)):
        for child in [each for each in children_of(parent) if _is_hidden(each)]:
            parent.remove_child(child)


def _is_hidden(node: Any) -> bool:
    attributes = attributes_of(node)
    # One of a select that is hidden may be the one that is selected.
    return node.name not in ("option", "optgroup") and (
        "hidden" in attributes
        or (attributes.get("aria-hidden") or "").strip().lower() == "true"
        or (node.name == "dialog" and "open" not in attributes)
        or _HIDING.search(_COMMENT.sub("", attributes.get("style") or "")) is not None
    )


def is_disabled(node: Any) -> bool:
    """Whether a field or button is disabled: by itself, or by a fieldset around it, but for what its legend holds."""
    if "disabled" in attributes_of(node):
        return True
    below, above = node, node.parent
    while above is not None:
        if above.name == "fieldset" and "disabled" in attributes_of(above):
            legend = next((each for each in children_of(above) if each.name == "legend"), None)
            if below is not legend:
                return True
        below, above = above, above.parent
    return False


def rows_of(table: Any) -> Iterator[Any]:
    """The rows of a table, those of its parts as well."""
    for child in children_of(table):
        if child.name == "tr":
            yield child
        elif child.name in ("thead", "tbody", "tfoot"):
            yield from (row for row in children_of(child) if row.name == "tr")


def options_of(select: Any, attributes: Mapping[str, str | None]) -> dict[str, Any]:
    """The keys ``options``, ``value`` and ``multiple`` that a select comes to."""
    options: list[dict[str, Any]] = []
    chosen: list[str] = []
    for node in walk(select):
        if node.name != "option":
            continue
        mine = attributes_of(node)
        words = mine.get("label") or words_of(node)
        value = mine.get("value")
        option = {"value": words if value is None else value, "label": words}
        is_off = "disabled" in mine or (
            node.parent.name == "optgroup" and "disabled" in attributes_of(node.parent)
        )
        options.append({**option, "disabled": True} if is_off else option)
        if "selected" in mine:
            chosen.append(options[-1]["value"])
    multiple = "multiple" in attributes
    start: list[str] | str | None = None
    if chosen:
        start = chosen if multiple else chosen[-1]
    return {"options": options, "value": start, "multiple": True if multiple else None}


def labels_of(root: Any) -> dict[str, str]:
    """The words of each label that names its field by ``for``, by the name it says."""
    labels: dict[str, str] = {}
    for node in walk(root):
        if node.name == "label" and (name := attributes_of(node).get("for")):
            labels.setdefault(name, words_of(node, without=FIELDS))
    return labels


def accessible_name(node: Any) -> str:
    """What a reader calls a node: its aria-label, its words, or its title."""
    attributes = attributes_of(node)
    if attributes.get("aria-label"):
        return str(attributes["aria-label"])
    words = words_of(node)
    if words:
        return words
    return attributes.get("title") or ""


def labels_before(root: Any) -> dict[int, str]:
    """The words of a label that stands right before a field in the same parent, as a reader would take it."""
    found: dict[int, str] = {}
    for parent in walk(root):
        label: Any = None
        for child in children_of(parent):
            if child.name in FIELDS and label is not None:
                found[id(child)] = words_of(label)
            if child.name != "#text" or (child.data or "").strip():
                is_free = child.name == "label" and not attributes_of(child).get("for")
                label = child if is_free and not any(each.name in FIELDS for each in walk(child)) else None
    return {number: words for number, words in found.items() if words}


def words_of(node: Any, *, without: frozenset[str] = frozenset()) -> str:
    """The text of a node on one line."""
    return " ".join(text_of(node, without=without).split())


def text_of(node: Any, *, without: frozenset[str] = frozenset()) -> str:
    """The text of a node as it stands; ``without`` are the names of elements to pass over."""
    found: list[str] = []
    stack = [node]
    while stack:
        each = stack.pop()
        if each.name == "#text":
            found.append(each.data or "")
        elif each.name == "br":
            found.append("\n")
        elif each.name == "img":
            found.append(attributes_of(each).get("alt") or "")
        elif each.name not in without and (each is node or each.name not in SKIPPED):
            if each.name in BLOCKS and found:
                found.append(" ")
            stack.extend(reversed(list(getattr(each, "children", None) or ())))
    return "".join(found)


__all__ = [
    "ACTIVE",
    "BLOCKS",
    "DEEPEST",
    "FIELDS",
    "SKIPPED",
    "HtmlError",
    "accessible_name",
    "attributes_of",
    "children_of",
    "labels_before",
    "labels_of",
    "options_of",
    "remove_hidden",
    "rows_of",
    "text_of",
    "walk",
    "words_of",
]
