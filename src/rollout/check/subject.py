"""What a rule looks at: a document with the template's parts found, and only those that have the right shape.

Rules run on documents whose shape may be wrong in places, so that every problem shows in one go. Everything here
is therefore lenient: a part that is missing or of the wrong type is empty, never an exception. The shape rules
have already said what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rollout.diagnostics import Span
from rollout.source.contract import schema, stateful_templates, templates
from rollout.source.document import Document
from rollout.source.place import At, Route

if TYPE_CHECKING:
    from rollout.check.calculations import Calculation
    from rollout.check.foreign import Foreign
    from rollout.check.tool_view import ToolView, Write
    from rollout.check.twins import Twins
    from rollout.check.writable import Writable
    from rollout.database.image import Image
    from rollout.language.placeholders import Fault


@dataclass(frozen=True, slots=True)
class Item:
    """One member of a list in the document: its route, and its value, which is an object."""

    route: Route
    value: dict[str, Any]

    def text(self, key: str) -> str | None:
        """The string at ``key``, or None when there is none."""
        value = self.value.get(key)
        return value if isinstance(value, str) else None


class Subject:
    """A document as rules see it. Everything is computed once and shared; nothing may be changed."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.parts_unread = document.unread
        self._faults: frozenset[Route] = frozenset()

    def note_faults(self, routes: Collection[Route]) -> None:
        """Takes note of where the shape is wrong, so that rules do not draw conclusions from it."""
        self._faults = frozenset(routes)
        self.parts_unread = self.document.unread | {str(route[0]) for route in routes if len(route) == 1}

    def is_sound(self, *route: str | int) -> bool:
        """Whether nothing is missing from, or wrong in, what stands at ``route`` and above it.

        A rule asks this before it says that something is *not* there: a tool list with a broken tool in it may
        well hold the name that is looked for.
        """
        if route and route[0] in self.parts_unread:
            return False
        depth = len(route)
        return not any(fault[:depth] == route or route[: len(fault)] == fault for fault in self._faults)

    @property
    def faults(self) -> frozenset[Route]:
        """The routes of what is missing or wrong in the document's shape."""
        return self._faults

    def watched(self) -> Subject:
        """A twin that remembers whether a rule looked at a part of the document that could not be read."""
        twin = Subject(replace(self.document, value=_Watched(self.document.value, self.parts_unread)))
        twin._faults = self._faults
        twin.parts_unread = self.parts_unread
        return twin

    @property
    def has_looked_at_unread(self) -> bool:
        """Whether this is a watched twin, and something unread was looked at."""
        value = self.document.value
        return isinstance(value, _Watched) and value.touched

    @cached_property
    def template(self) -> str | None:
        """The template's name, or None when it is missing or unknown."""
        name = self.document.value.get("template")
        return name if isinstance(name, str) and name in templates() else None

    @cached_property
    def _contract(self) -> dict[str, Any]:
        return schema(self.template) if self.template else {}

    @cached_property
    def config(self) -> dict[str, Any]:
        """The template's config; empty for sql."""
        return _object(self.document.value.get("config"))

    @cached_property
    def tools(self) -> tuple[Item, ...]:
        """The tools that workflow and custom configs declare."""
        return tuple(self.items("config", "tools"))

    @cached_property
    def tool_names(self) -> frozenset[str]:
        """The names of all tools an agent can call here, the template's fixed ones included."""
        declared = {name for tool in self.tools if (name := tool.text("name")) is not None}
        return frozenset(declared | self.fixed_tools)

    @cached_property
    def fixed_tools(self) -> frozenset[str]:
        """The names of the tools that the template brings along."""
        return frozenset(self._contract.get("x-tools", ()))

    @cached_property
    def tools_are_known(self) -> bool:
        """Whether every declared tool has a name, so that a name that is not among them is the name of no tool."""
        if "tools" not in self._contract.get("properties", {}):
            return True
        value = self.config.get("tools")
        return isinstance(value, list) and all(
            isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in value
        )

    @cached_property
    def tool_views(self) -> tuple[ToolView, ...]:
        """The declared tools with their parameters, placeholders and writes worked out."""
        from rollout.check.tool_view import ToolView

        return tuple(ToolView(tool) for tool in self.tools)

    @cached_property
    def known_tools(self) -> dict[str, ToolView]:
        """The declared tools whose parameters are all known, by name."""
        from rollout.check.calls import known_tools

        return known_tools(self)

    @cached_property
    def writes(self) -> tuple[Write, ...]:
        """Everything that the declared tools may change in the state."""
        return tuple(write for tool in self.tool_views for write in tool.writes)

    @cached_property
    def writable(self) -> Writable:
        """What the declared tools may bring about in the state."""
        from rollout.check.writable import Writable

        return Writable(self)

    @cached_property
    def foreign_placeholders(self) -> tuple[Foreign, ...]:
        """What the tools' texts hold that was meant for a placeholder, but is none."""
        from rollout.check.foreign import foreign_placeholders

        return tuple(found for tool in self.tool_views for found in foreign_placeholders(tool))

    @cached_property
    def calculations(self) -> tuple[Calculation, ...]:
        """The placeholders of the tools that were meant to calculate, which none does."""
        from rollout.check.calculations import calculations

        return tuple(found for tool in self.tool_views for found in calculations(self, tool))

    def calculates(self, route: Route, part: str | Fault) -> bool:
        """Whether ``part`` of the text at ``route``, a placeholder as written or a fault, is one of these or in one."""
        return any(each.route == route and part in each.parts for each in self.calculations)

    @cached_property
    def fixtures(self) -> dict[str, Any]:
        """A workflow's read-only data by name."""
        return _object(self.config.get("fixtures"))

    @cached_property
    def state_key(self) -> str:
        """The config key that holds the start state: ``initialMutableState`` or ``initialState``."""
        return str(self._contract.get("x-state", "initialState"))

    @property
    def is_stateful(self) -> bool:
        """Whether the final state is made by the tools that the config declares."""
        return self.template in stateful_templates()

    @cached_property
    def initial_state(self) -> dict[str, Any]:
        """The state that tools may change, as it is at the start."""
        return _object(self.config.get(self.state_key))

    @cached_property
    def files(self) -> dict[str, Any]:
        """A code-editing environment's files: path to content."""
        return _object(self.config.get("files"))

    @cached_property
    def pages(self) -> tuple[Item, ...]:
        """A browser environment's pages."""
        return tuple(self.items("config", "pages"))

    @cached_property
    def twins(self) -> Twins:
        """The tasks met so far, by what they ask."""
        from rollout.check.twins import Twins

        return Twins(self.document)

    @cached_property
    def database(self) -> Image | None:
        """A sql environment's database after schema and seed; None for other templates, or without a schema."""
        ddl, seed = self.document.value.get("schema"), self.document.value.get("seed")
        if self.template != "sql" or not isinstance(ddl, str):
            return None
        from rollout.database import DatabaseSpec
        from rollout.database.image import image_of  # sqlite3 is loaded only where there is SQL

        dialect, now = (self.document.value.get(key) for key in ("dialect", "now"))
        return image_of(
            DatabaseSpec(
                ddl,
                seed if isinstance(seed, str) else "",
                dialect if isinstance(dialect, str) else None,
                now if isinstance(now, str) and self.is_sound("now") else None,
                self.document.value.get("readOnly") is not False,
            )
        )

    @cached_property
    def verifier(self) -> dict[str, Any] | None:
        """The verifier; None when there is none, and the template's default judges."""
        value = self.document.value.get("verifier")
        return value if isinstance(value, dict) else None

    @cached_property
    def primitives(self) -> tuple[Item, ...]:
        """The verifier's primitives."""
        return tuple(self.items("verifier", "primitives"))

    def searched(self, array: str) -> Any:
        """What a lookup's ``fromArray`` leads to: in the state, or else in the fixtures; MISSING if nowhere."""
        from rollout.language.paths import MISSING, PathError, get, parse

        try:
            steps = parse(array).steps
        except PathError:
            return MISSING
        found = get(self.initial_state, steps)
        return get(self.fixtures, steps) if found is MISSING else found

    def within(self, route: Route, fragment: str, at: At = "value", *, first: bool = False) -> Span | None:
        """The span of ``fragment`` in the text at ``route``; None where it is not written out there just once.

        With ``first`` it may be there more than once.
        """
        return self._nth(route, fragment, at, 0, None if first else 1)

    def inside(self, route: Route, text: str, start: int, end: int, at: At = "value") -> Span | None:
        """The span of ``text[start:end]``, where ``text`` is what stands at ``route``; None where the file does not
        have that part of it as it is, as often."""
        fragment = text[start:end]
        return self._nth(route, fragment, at, text.count(fragment, 0, start), text.count(fragment))

    def _nth(self, route: Route, fragment: str, at: At, before: int, times: int | None) -> Span | None:
        """The span of ``fragment`` in the text at ``route`` behind so many others, if it is written out there so often
        (at least once, for None)."""
        root = self.document.place
        if route[:1] == ("tasks",):
            found = self.document.tasks.place(int(route[1])) if len(route) > 1 else None
            if found is None:
                return None
            root, route = found, route[2:]
        place, taken = root.nearest(route)
        if taken < len(route):
            return None
        start, end = (place.key_start, place.key_end) if at == "key" else (place.start, place.end)
        written = place.source.text[start:end]
        there = written.count(fragment) if start >= 0 and fragment else 0
        if there == 0 or times not in (None, there):
            return None
        offset = -len(fragment)
        for _ in range(before + 1):
            offset = written.index(fragment, offset + len(fragment))
        start += offset
        return place.source.span(start, start + len(fragment))

    def items(self, *route: str | int) -> Iterator[Item]:
        """The members of the list at ``route`` that are objects."""
        value: Any = self.document.value
        for step in route:
            if isinstance(value, dict) and isinstance(step, str):
                value = value.get(step)
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return
        if isinstance(value, list):
            for index, member in enumerate(value):
                if isinstance(member, dict):
                    yield Item((*route, index), member)


class _Watched(dict[str, Any]):
    """The document's value, noticing when a key whose file could not be read is asked for."""

    def __init__(self, value: dict[str, Any], unread: Collection[str]) -> None:
        super().__init__(value)
        self.unread = unread
        self.touched = False

    def get(self, key: str, default: Any = None, /) -> Any:
        self.touched |= key in self.unread
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        self.touched |= key in self.unread
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.touched |= key in self.unread
        return super().__contains__(key)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


__all__ = ["Item", "Subject"]
