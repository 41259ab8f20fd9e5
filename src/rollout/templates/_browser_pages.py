"""The pages of a site, compiled: what is on them, what each element is called, and which of them a form holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rollout.language.cel import Condition, MalformedConditionError
from rollout.language.cel import parse as parse_condition
from rollout.language.html_page import HtmlError, read_html
from rollout.language.interpolation import Fill, MalformedError, prepare
from rollout.language.path_template import PathTemplate, parse_path_template
from rollout.language.paths import PathError
from rollout.language.placeholders import spots
from rollout.templates import TemplateError

FIELD_TYPES = frozenset({"checkbox", "input", "radio", "select", "textarea"})
"""The elements that hold a value."""

_SHOWN = ("text", "label", "placeholder", "items", "columns", "alt", "href", "value", "checked", "options")


@dataclass(frozen=True, slots=True)
class Change:
    """One change that a form or a button makes to the state; ``takes_all`` where it writes down ``${args}`` whole."""

    path: PathTemplate
    value: Fill
    takes_all: bool


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a page. ``ref`` is what tool calls call it: its id, or its number on the page.

    ``spec`` is as written; ``shown`` fills in what a reader sees of it. ``cells`` are the rows of a table: texts to be
    filled in, and elements. ``form`` is the number of the form around it.
    """

    number: int
    ref: str
    type: str
    spec: Mapping[str, Any]
    shown: Fill
    form: int | None
    when: Condition | None
    children: tuple[Element, ...]
    cells: tuple[tuple[Element | Fill, ...], ...]
    changes: tuple[Change, ...]
    accepts: Fill | None
    refusal: Fill | None
    action: Fill | None

    @property
    def id(self) -> str | None:
        """The id as written."""
        return self.spec.get("id")

    @property
    def name(self) -> str | None:
        """The name under which its value is sent."""
        return self.spec.get("name")

    @property
    def is_field(self) -> bool:
        """Whether it holds a value."""
        return self.type in FIELD_TYPES

    def below(self) -> Iterator[Element]:
        """It and all elements inside it, in reading order."""
        yield self
        for child in self.children:
            yield from child.below()
        for row in self.cells:
            for cell in row:
                if isinstance(cell, Element):
                    yield from cell.below()


@dataclass(frozen=True, slots=True)
class Page:
    """One page. ``elements`` are its outermost ones, ``all`` those inside them too, by number."""

    url: str
    title: Fill
    elements: tuple[Element, ...]
    all: tuple[Element, ...]
    has_conditions: bool

    def fields(self, form: int | None) -> Iterator[Element]:
        """The fields of a form, or those that stand in no form."""
        return (element for element in self.all if element.is_field and element.form == form)


def compile_pages(config: Mapping[str, Any]) -> dict[str, Page]:
    """The pages by URL. Raises TemplateError for a page that cannot be shown."""
    pages: dict[str, Page] = {}
    for written in config.get("pages") or ():
        url = written.get("url") if isinstance(written, dict) else None
        if not isinstance(url, str) or not url:
            raise TemplateError("A page has no url.")
        if url in pages:
            raise TemplateError(f"Two pages have the URL “{url}”.")
        try:
            pages[url] = _compile_page(url, written)
        except (MalformedError, PathError, MalformedConditionError, HtmlError) as error:
            raise TemplateError(f"The page “{url}” cannot be shown. {error}") from None
    if not pages:
        raise TemplateError("The site has no pages.")
    return pages


def _compile_page(url: str, written: Mapping[str, Any]) -> Page:
    title, specs = written.get("title"), written.get("elements")
    if isinstance(written.get("html"), str):
        html = read_html(written["html"])
        if html.scripts:
            raise TemplateError(f"The page “{url}” has {html.scripts[0].what}; nothing on a page is run.")
        specs = html.elements
        title = html.title if title is None else title
    compiler = _Compiler(url, _given_ids(specs))
    elements = compiler.compile_all(specs, None)
    found = sorted(compiler.found, key=lambda element: element.number)
    conditional = any(element.when is not None for element in found)
    return Page(url, prepare(title if title is not None else url), elements, tuple(found), conditional)


def _given_ids(value: Any) -> frozenset[str]:
    if isinstance(value, list):
        return frozenset().union(*(_given_ids(member) for member in value))
    if not isinstance(value, dict):
        return frozenset()
    own = {value["id"]} if isinstance(value.get("id"), str) else set()
    return frozenset(own) | _given_ids(value.get("elements")) | _given_ids(value.get("rows"))


class _Compiler:
    def __init__(self, url: str, ids: frozenset[str]) -> None:
        self.url = url
        self.ids = ids
        self.taken: set[str] = set()
        self.found: list[Element] = []
        self.count = 0

    def compile_all(self, specs: Any, form: int | None) -> tuple[Element, ...]:
        if specs is None:
            return ()
        if not isinstance(specs, list) or not all(isinstance(spec, dict) for spec in specs):
            raise TemplateError(f"The elements of the page “{self.url}” are not a list of objects.")
        return tuple(self.compile(spec, form) for spec in specs)

    def compile(self, spec: Mapping[str, Any], form: int | None) -> Element:
        self.count += 1
        number, kind = self.count, spec.get("type")
        if not isinstance(kind, str):
            raise TemplateError(f"An element of the page “{self.url}” has no type.")
        if form is not None and kind == "form":
            raise TemplateError(f"A form of the page “{self.url}” stands inside another.")
        inner = number if kind == "form" else form
        element = Element(
            number=number,
            ref=self._ref(spec, number),
            type=kind,
            spec=spec,
            shown=_shown({key: spec[key] for key in _SHOWN if key in spec}),
            form=form,
            when=parse_condition(spec["when"]) if "when" in spec else None,
            children=self.compile_all(spec.get("elements"), inner),
            cells=self._cells(spec.get("rows"), form) if kind == "table" else (),
            changes=_changes(spec.get("mutates")),
            accepts=prepare(spec["accepts"]) if "accepts" in spec else None,
            refusal=prepare(spec["error"]) if "error" in spec else None,
            action=prepare(spec["action"]) if spec.get("action") else None,
        )
        self.found.append(element)
        return element

    def _ref(self, spec: Mapping[str, Any], number: int) -> str:
        given = spec.get("id")
        if isinstance(given, str) and given:
            if given in self.taken:
                raise TemplateError(f"Two elements of the page “{self.url}” have the id “{given}”.")
            self.taken.add(given)
            return given
        ref = str(number)
        while ref in self.ids:
            ref += "_"
        return ref

    def _cells(self, rows: Any, form: int | None) -> tuple[tuple[Element | Fill, ...], ...]:
        return tuple(
            tuple(self.compile(cell, form) if isinstance(cell, dict) else prepare(cell) for cell in row)
            for row in rows or ()
        )


def _shown(texts: dict[str, Any]) -> Fill:
    fill = prepare(texts)
    if any(spots(texts)):
        return fill
    # Most of a page says the same in every rollout; it is only read, so that one answer serves them all.
    same = fill({})
    return lambda scope: same


def _changes(written: Any) -> tuple[Change, ...]:
    changes = written if isinstance(written, list) else [] if written is None else [written]
    compiled = []
    for change in changes:
        if not isinstance(change, dict) or not isinstance(change.get("path"), str):
            raise TemplateError("A change that a page makes has no path.")
        path = parse_path_template(change["path"], appending=True)
        value = change.get("value", "${args}")
        takes_all = any(
            look.root == "args" and not look.steps
            for spot in spots(value)
            for look in spot.interpolation.looks
        )
        compiled.append(Change(path, prepare(value), takes_all))
    return tuple(compiled)


__all__ = ["FIELD_TYPES", "Change", "Element", "Page", "compile_pages"]
