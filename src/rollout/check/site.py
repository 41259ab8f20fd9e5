"""A browser environment as a site: its elements wherever they are nested, and where each of them leads.

Pages in HTML are read by the parser that the world reads them by, so that a rule sees what an agent will see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rollout.check.subject import Item, Subject
from rollout.diagnostics import Span
from rollout.language.path_template import parse_path_template
from rollout.language.site import find_page
from rollout.source.inside import span_inside
from rollout.source.place import Route

if TYPE_CHECKING:
    from rollout.language.html_page import HtmlPage

FIELDS = ("checkbox", "input", "radio", "select", "textarea")
"""The types of the elements that hold a value."""


@dataclass(frozen=True, slots=True)
class Element(Item):
    """One element; ``offsets`` are those of its tag in the page's HTML, and None in a page of elements."""

    offsets: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A way from one page to a URL: where it is written, and the URL as written."""

    page: Item
    route: Route
    url: str
    span: Span | None = None


def html_of(page: Item) -> HtmlPage | None:
    """The page's HTML as it was read; None where it has none, or none that can be read."""
    text = page.text("html")
    if text is None:
        return None
    from rollout.language.html_page import HtmlError, read_html  # loaded only where a page is HTML

    try:
        return read_html(text)
    except HtmlError:
        return None


def elements(page: Item) -> Iterator[Element]:
    """All elements of a page that are objects, those inside forms, sections and tables too, in reading order.

    An element of a page in HTML has the page's route with its own behind it, which no place in a file answers to.
    """
    yield from _below((*page.route, "elements"), page.value.get("elements"), {}, 0)
    html = html_of(page)
    if html is not None:
        route = (*page.route, "html")
        yield from _below(route, html.elements, html.offsets, len(route))


def _below(route: Route, members: Any, offsets: Any, depth: int) -> Iterator[Element]:
    if not isinstance(members, list):
        return
    for index, member in enumerate(members):
        if isinstance(member, dict):
            here = (*route, index)
            yield Element(here, member, offsets.get(here[depth:]))
            yield from _below((*here, "elements"), member.get("elements"), offsets, depth)
            if member.get("type") == "table":
                yield from _below((*here, "rows"), member.get("rows"), offsets, depth)
        elif isinstance(member, list):
            yield from _below((*route, index), member, offsets, depth)


def span_of(subject: Subject, page: Item, element: Element) -> Span | None:
    """Where the tag of an element in HTML stands in its file; None for one that has a route of its own."""
    return None if element.offsets is None else html_span(subject, page, *element.offsets)


def html_span(subject: Subject, page: Item, start: int, end: int) -> Span | None:
    """The span of a stretch of the page's HTML in its file, on one line."""
    html, route = page.text("html"), (*page.route, "html")
    place, taken = subject.document.place.nearest(route)
    if html is None or taken != len(route):
        return None
    line_end = html.find("\n", start, end)
    return span_inside(place, html, start, end if line_end < 0 else line_end)


def links(subject: Subject, page: Item) -> Iterator[Link]:
    """Every URL that something on the page leads to."""
    for element in elements(page):
        for key in ("href", "action"):
            url = element.text(key)
            if url is None:
                continue
            if element.offsets is None:
                yield Link(page, (*element.route, key), url)
            else:
                start, end = element.offsets
                at = str(page.text("html")).find(url, start, end)
                span = html_span(subject, page, *((at, at + len(url)) if at >= 0 and url else (start, end)))
                yield Link(page, (*page.route, "html"), url, span)


def fields(page: Item) -> frozenset[str]:
    """What a verifier can call the fields of a page by: their ids and names."""
    return frozenset(
        name
        for element in elements(page)
        if element.value.get("type") in FIELDS
        for key in ("id", "name")
        if (name := element.text(key))
    )


def urls(subject: Subject) -> frozenset[str]:
    """The URLs of all pages."""
    return frozenset(url for page in subject.pages if (url := page.text("url")) is not None)


def is_open(url: str) -> bool:
    """Whether only the rollout can tell where a URL leads, because something is filled in."""
    return "${" in url


def target(link: Link, known: frozenset[str]) -> str | None:
    """The page that a link leads to, as in a rollout; None when there is no such page."""
    return find_page(link.url, link.page.text("url") or "", known)


def possible_state(subject: Subject) -> frozenset[str] | None:
    """The keys that the state may ever have; None where that cannot be known, or an agent's input may name one."""
    if not subject.is_sound("config"):
        return None
    known = set(subject.initial_state)
    for page in subject.pages:
        for element in elements(page):
            mutates = element.value.get("mutates")
            for change in mutates if isinstance(mutates, list) else [mutates]:
                path = change.get("path") if isinstance(change, dict) else None
                if isinstance(path, str):
                    try:
                        steps = parse_path_template(path, appending=True).known
                    except ValueError:
                        return None
                    if not steps:
                        return None
                    known.add(str(steps[0]))
    return frozenset(known)


__all__ = [
    "FIELDS",
    "Element",
    "Link",
    "elements",
    "fields",
    "html_of",
    "html_span",
    "is_open",
    "links",
    "possible_state",
    "span_of",
    "target",
    "urls",
]
