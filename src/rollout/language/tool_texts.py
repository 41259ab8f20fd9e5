"""Where a declared tool holds texts that mean something when it is called: templates to fill in, and expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

Place = tuple[str | int, ...]
"""A route below the tool."""

TEMPLATED: Final = ("fixturePath", "appendTo", "value", "response", "mutates")
"""The keys of a tool whose texts are filled in when it is called."""

IN_A_CASE: Final = ("response", "error", "mutates")
"""The keys of a case whose texts are filled in."""


def templates(tool: Mapping[str, Any]) -> Iterator[tuple[Place, Any]]:
    """The values whose texts are filled in, each with where it stands; what has the wrong shape is left out."""
    for key in TEMPLATED:
        if key in tool:
            yield (key,), tool[key]
    for index, case in cases(tool):
        for key in IN_A_CASE:
            if key in case:
                yield ("cases", index, key), case[key]


def expressions(tool: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    """The expressions of a tool: its ``vars``, and the ``when`` of its cases."""
    variables = tool.get("vars")
    for name, text in variables.items() if isinstance(variables, dict) else ():
        if isinstance(name, str) and isinstance(text, str):
            yield ("vars", name), text
    for index, case in cases(tool):
        if isinstance(case.get("when"), str):
            yield ("cases", index, "when"), case["when"]


def changes(tool: Mapping[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The changes of the state that a tool or one of its cases may make: objects with a path that is a text."""
    yield from _changes(tool.get("mutates"), ("mutates",))
    for index, case in cases(tool):
        yield from _changes(case.get("mutates"), ("cases", index, "mutates"))


def _changes(mutates: Any, home: Place) -> Iterator[tuple[Place, dict[str, Any]]]:
    members = [((*home, n), each) for n, each in enumerate(mutates)] if isinstance(mutates, list) else None
    for place, member in members or [(home, mutates)]:
        if isinstance(member, dict) and isinstance(member.get("path"), str):
            yield place, member


def cases(tool: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The cases of a tool that are objects, with their numbers."""
    written = tool.get("cases")
    for index, case in enumerate(written if isinstance(written, list) else ()):
        if isinstance(case, dict):
            yield index, case


__all__ = ["IN_A_CASE", "TEMPLATED", "cases", "changes", "expressions", "templates"]
