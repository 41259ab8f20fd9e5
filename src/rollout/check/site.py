"""A browser environment as a site: its elements wherever they are nested, and where each of them leads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rollout.check.subject import Item, Subject
from rollout.diagnostics import Span
from rollout.source.inside import span_inside
from rollout.source.place import Route


@dataclass(frozen=True, slots=True)
class Link:
    """A way from one page to a URL: where it is written, and the URL as written."""

    page: Item
    route: Route
    url: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class _HtmlFacts:
    urls: list[str]
    names: set[str]


def elements(page: Item) -> Iterator[Item]:
    """All elements of a page that are objects, those inside forms, sections and tables too, in reading order."""
    yield from _below((*page.route, "elements"), page.value.get("elements"))


def _below(route: Route, members: Any) -> Iterator[Item]:
    if not isinstance(members, list):
        return
    for index, member in enumerate(members):
        if isinstance(member, dict):
            element = Item((*route, index), member)
            yield element
            yield from _below((*element.route, "elements"), member.get("elements"))
            if member.get("type") == "table":
                yield from _below((*element.route, "rows"), member.get("rows"))
        elif isinstance(member, list):
            yield from _below((*route, index), member)


def links(subject: Subject, page: Item) -> Iterator[Link]:
    """Every URL that something on the page leads to."""
    for element in elements(page):
        for key in ("href", "action"):
            url = element.text(key)
            if url is not None:
                yield Link(page, (*element.route, key), url)
    html = page.text("html")
    if html is not None:
        for url in _html_facts(html).urls:
            route = (*page.route, "html")
            place, taken = subject.document.place.nearest(route)
            at = html.find(url)
            exact = taken == len(route) and at >= 0
            yield Link(page, route, url, span_inside(place, html, at, at + len(url)) if exact else None)


def named(page: Item) -> frozenset[str]:
    """What a verifier can call the elements of a page by: their ids and names."""
    names = {name for element in elements(page) for key in ("id", "name") if (name := element.text(key))}
    html = page.text("html")
    return frozenset(names | _html_facts(html).names if html is not None else names)


def urls(subject: Subject) -> frozenset[str]:
    """The URLs of all pages."""
    return frozenset(url for page in subject.pages if (url := page.text("url")) is not None)


def target(url: str) -> str | None:
    """The page a URL leads to, without query and fragment; None when only the rollout can tell (``${…}``)."""
    if "${" in url:
        return None
    return url.partition("#")[0].partition("?")[0]


def _html_facts(html: str) -> _HtmlFacts:
    from html.parser import HTMLParser  # loaded only where a page is HTML

    facts = _HtmlFacts([], set())

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            for key, value in attrs:
                if value and ((tag == "a" and key == "href") or (tag == "form" and key == "action")):
                    facts.urls.append(value)
                elif value and key in ("id", "name"):
                    facts.names.add(value)

    Reader().feed(html)
    return facts


__all__ = ["Link", "elements", "links", "named", "target", "urls"]
