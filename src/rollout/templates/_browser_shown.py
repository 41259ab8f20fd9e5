"""A page of a site as it is now: what of it is shown, with its texts filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rollout.language.cel import Facts
from rollout.language.interpolation import as_text
from rollout.templates._browser_fields import Values, groups_of, sent
from rollout.templates._browser_pages import Element, Page

ACTIVE = frozenset({"button", "checkbox", "form", "input", "link", "radio", "select", "textarea"})
"""The elements that something can be done with, which a view shows with their id."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An element as it is on the page now, with its texts filled in; ``cells`` hold texts and elements."""

    element: Element
    shown: Mapping[str, Any]
    children: tuple[Seen, ...]
    cells: tuple[tuple[Seen | str, ...], ...]

    def below(self) -> Iterator[Seen]:
        """It and everything inside it, in reading order."""
        yield self
        for child in self.children:
            yield from child.below()
        for row in self.cells:
            for cell in row:
                if isinstance(cell, Seen):
                    yield from cell.below()


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as it is now."""

    page: Page
    title: str
    seen: tuple[Seen, ...]

    def all(self) -> Iterator[Seen]:
        """Everything on it, in reading order."""
        for each in self.seen:
            yield from each.below()

    def find(self, ref: str) -> Seen | None:
        """The element called ``ref``: by its id or number, or else by a name that only one has."""
        named = []
        for each in self.all():
            if each.element.ref == ref:
                return each
            if each.element.name == ref:
                named.append(each)
        return named[0] if len(named) == 1 else None


ScopeOf = Callable[[Mapping[str, Any]], dict[str, Any]]
"""What placeholders and conditions may name where a form has these values."""


def look(page: Page, values: Values, scope_of: ScopeOf) -> Shown:
    """The page with these values in its fields. Raises FillError when a text or a condition on it comes to nothing."""
    facts = _FactsByForm(page, values, scope_of)
    seen = tuple(_see(element, facts, scope_of) for element in page.elements if facts.show(element))
    return Shown(page, as_text(page.title(scope_of({}))), seen)


def _see(element: Element, facts: _FactsByForm, scope_of: ScopeOf) -> Seen:
    scope = scope_of({})
    return Seen(
        element,
        element.shown(scope),
        tuple(_see(child, facts, scope_of) for child in element.children if facts.show(child)),
        tuple(
            tuple(
                (_see(cell, facts, scope_of) if facts.show(cell) else "")
                if isinstance(cell, Element)
                else as_text(cell(scope))
                for cell in row
            )
            for row in element.cells
        ),
    )


class _FactsByForm:
    """The facts that conditions are asked of: the state, and the values of the form around the element."""

    def __init__(self, page: Page, values: Values, scope_of: ScopeOf) -> None:
        self.page = page
        self.values = values
        self.scope_of = scope_of
        self.known: dict[int | None, Facts] = {}
        self.sent: dict[int | None, dict[str, Any]] = {}

    def args(self, form: int | None) -> Mapping[str, Any]:
        if not self.page.has_conditions:
            return {}
        if form not in self.sent:
            self.sent[form] = sent(self.page.fields(form), self.values, groups_of(self.page, form))
        return self.sent[form]

    def show(self, element: Element) -> bool:
        if element.when is None:
            return True
        if element.form not in self.known:
            self.known[element.form] = Facts(self.scope_of(self.args(element.form)))
        return element.when.holds(self.known[element.form])


def article(kind: str) -> str:
    """The type of an element with its article, for a sentence."""
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


__all__ = ["ACTIVE", "Seen", "Shown", "article", "look"]
