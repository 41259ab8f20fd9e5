"""What a verifier looks at: the tools, the state and the ground truth that its primitives name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from rollout.check.subject import Item, Subject
from rollout.check.tool_view import ToolView, Write
from rollout.language.paths import MISSING, Path, PathError, get, parse
from rollout.source.contract import schema
from rollout.source.place import Route


def named_tools(primitive: Item) -> Iterator[tuple[Route, str]]:
    """Every tool name in a primitive, with its route."""
    tool = primitive.text("tool")
    if tool is not None:
        yield (*primitive.route, "tool"), tool
    tools = primitive.value.get("tools")
    if primitive.value.get("type") == "tool_order" and isinstance(tools, list):
        for index, name in enumerate(tools):
            if isinstance(name, str):
                yield (*primitive.route, "tools", index), name
    for index, call in enumerate(expected_calls(primitive)):
        if isinstance(call.get("tool"), str):
            yield (*primitive.route, "calls", index, "tool"), call["tool"]


def expected_calls(primitive: Item) -> list[dict[str, Any]]:
    """The calls that a ``calls_match`` lists itself; none where there is something else in their place."""
    calls = primitive.value.get("calls")
    if primitive.value.get("type") != "calls_match" or not isinstance(calls, list):
        return []
    return [call if isinstance(call, dict) else {} for call in calls]


def arguments_of(call: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The arguments that an expected call names, each behind the key that it stands in."""
    for key in ("args", "anyOf", "optional"):
        named = call.get(key)
        if isinstance(named, dict):
            yield from ((key, name) for name in named)


def state_paths(primitive: Item) -> Iterator[tuple[Route, str]]:
    """Every path into the state in a primitive, with the route of its text; in ``expected`` that is a key."""
    kind = primitive.value.get("type")
    if kind == "state_match" and isinstance(primitive.value.get("expected"), dict):
        for text in primitive.value["expected"]:
            yield (*primitive.route, "expected", text), text
    elif kind == "state_unchanged" and isinstance(primitive.value.get("paths"), list):
        for index, text in enumerate(primitive.value["paths"]):
            if isinstance(text, str):
                yield (*primitive.route, "paths", index), text


def parsed(text: str) -> Path | None:
    """The path that ``text`` writes, or None when it is none."""
    try:
        return parse(text)
    except PathError:
        return None


def writes(subject: Subject) -> tuple[Write, ...]:
    """All changes that the environment's own tools can make to the state."""
    return tuple(write for tool in subject.tools for write in ToolView(tool).writes)


def can_change(made: tuple[Write, ...], steps: tuple[str | int, ...]) -> bool:
    """Whether a tool may change what stands at ``steps``, above it or below it."""
    for write in made:
        known = write.path.known
        shared = min(len(known), len(steps))
        if known[:shared] == steps[:shared]:
            return True
    return False


def at_start(subject: Subject, steps: tuple[str | int, ...]) -> Any:
    """What stands at ``steps`` in the start state, or MISSING."""
    return get(subject.initial_state, steps)


@cache
def reads_ground_truth() -> dict[str, str]:
    """The primitives that read the ground truth when they hold no expectation of their own, and at which path.

    The path is empty for one that reads all of it. The verifier's schema says so with ``x-ground-truth``.
    """
    entries = schema("verifier")["$defs"]
    return {name: entry["x-ground-truth"] for name, entry in entries.items() if "x-ground-truth" in entry}


@cache
def templates_of() -> dict[str, tuple[str, ...]]:
    """The primitives that only some templates can satisfy, and which (``x-templates`` in the verifier's schema)."""
    entries = schema("verifier")["$defs"]
    return {name: tuple(entry["x-templates"]) for name, entry in entries.items() if "x-templates" in entry}


@cache
def also_reads() -> dict[str, tuple[str, ...]]:
    """The parts of the ground truth that a primitive takes where it has nothing at its usual path."""
    entries = schema("verifier")["$defs"]
    key = "x-ground-truth-also"
    return {name: tuple(entry[key]) for name, entry in entries.items() if key in entry}


def is_foreign(subject: Subject, primitive: Item) -> bool:
    """Whether the primitive has nothing to look at in this template, so that what it names is no matter."""
    fitting = templates_of().get(primitive.text("type") or "")
    return fitting is not None and subject.template is not None and subject.template not in fitting


_DEFAULT = {"primitives": [{"name": "ground_truth_match", "type": "ground_truth_match"}]}


def judging(subject: Subject) -> tuple[Item, ...]:
    """The primitives that judge: the verifier's, or the template's own where there is no verifier."""
    if subject.document.value.get("verifier") is not None or subject.template is None:
        return subject.primitives
    default = schema(subject.template).get("x-default-verifier", _DEFAULT)
    return tuple(Item(("verifier",), each) for each in default["primitives"])


def ground_truth_path(primitive: Item, template: str | None = None) -> str | None:
    """Where in the ground truth a primitive finds what it expects; "" for all of it, None when it does not look."""
    kind = primitive.value.get("type")
    if kind == "ground_truth_match" and template == "code-editing":
        return "files"
    given = primitive.value.get("groundTruth")
    if isinstance(given, str):
        return given
    own = ("expected", "query", "files", "calls")
    if not isinstance(kind, str) or any(key in primitive.value for key in own):
        return None
    return reads_ground_truth().get(kind)


__all__ = [
    "MISSING",
    "also_reads",
    "arguments_of",
    "at_start",
    "can_change",
    "expected_calls",
    "ground_truth_path",
    "is_foreign",
    "judging",
    "named_tools",
    "parsed",
    "reads_ground_truth",
    "state_paths",
    "templates_of",
    "writes",
]
