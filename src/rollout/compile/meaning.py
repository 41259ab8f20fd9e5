"""Whether two compiled environments are the same to agents and to graders, however they are written.

It knows nothing of changes and how they are told, so it is the check on a review that finds none.
"""

from __future__ import annotations

from typing import Any

from rollout.compile.deltas import same
from rollout.compile.payload import Compiled
from rollout.language.canonical import canonical
from rollout.language.params_schema import read_parameters

_MAY_BE_EMPTY = (
    "tools",
    "files",
    "hidden",
    "pages",
    "fixtures",
    "commands",
    "initialMutableState",
    "initialState",
)


def mean_the_same(before: Compiled, after: Compiled) -> bool:
    """Whether they differ in nothing but names, descriptions for people, and orders that nobody is shown."""
    if before.digest == after.digest:
        return True
    if not same(_world(before.environment), _world(after.environment)):
        return False
    if not same(_judge(before.verifier), _judge(after.verifier)):
        return False
    old, new = before.environment["tasks"], after.environment["tasks"]
    return same(old, new) or sorted(map(canonical, old)) == sorted(map(canonical, new))


def _world(environment: dict[str, Any]) -> dict[str, Any]:
    world = {
        key: value
        for key, value in environment.items()
        if key not in ("slug", "name", "description", "tasks", "config")
    }
    config = {
        key: value
        for key, value in environment.get("config", {}).items()
        if value or key not in _MAY_BE_EMPTY
    }
    if "tools" in config:
        config["tools"] = [_tool(tool) for tool in config["tools"]]
    if "pages" in config:
        config["pages"] = sorted(config["pages"], key=lambda page: str(page.get("url")))
    return world | {"config": config}


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    schema = {"additionalProperties": True, "required": [], **read_parameters(tool).schema}
    if isinstance(schema["required"], list):
        schema["required"] = sorted(schema["required"], key=canonical)
    return tool | {"paramsSchema": schema}


def _judge(verifier: dict[str, Any] | None) -> dict[str, Any] | None:
    if verifier is None:
        return None
    primitives = [
        {key: value for key, value in each.items() if key != "description"} for each in verifier["primitives"]
    ]
    primitives.sort(key=lambda each: str(each.get("name")))
    return {"passThreshold": 1, **verifier, "primitives": primitives}


__all__ = ["mean_the_same"]
