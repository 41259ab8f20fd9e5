"""Functions that write the platform's JSON shapes for you: tools, configs, browser pages, verifiers.

Each returns a plain dict, as an environment folder would hold it, so builders and literals mix freely.
"""

from __future__ import annotations

from typing import Any


def lookup_tool(
    name: str,
    *,
    from_array: str,
    match_field: str,
    description: str,
    params_schema: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A workflow tool that reads one row of the fixture ``from_array``.

    The row found is the one whose ``match_field`` equals the argument of that name.
    """
    return {
        "kind": "lookup",
        "name": name,
        "description": description,
        "paramsSchema": {} if params_schema is None else params_schema,
        "fromArray": from_array,
        "matchField": match_field,
    }


def action_tool(
    name: str,
    *,
    state_array: str,
    description: str,
    params_schema: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A workflow tool that appends its arguments, as one object, to the state's array ``state_array``."""
    return {
        "kind": "action",
        "name": name,
        "description": description,
        "paramsSchema": {} if params_schema is None else params_schema,
        "stateArray": state_array,
    }


def mock_tool(
    name: str,
    *,
    description: str,
    response: Any = None,
    params_schema: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A workflow tool that always answers ``response`` and changes nothing."""
    return {
        "kind": "mock",
        "name": name,
        "description": description,
        "paramsSchema": {} if params_schema is None else params_schema,
        "response": response,
    }


def custom_tool(
    name: str,
    *,
    description: str,
    params_schema: dict[str, Any] | None = None,
    response: Any = None,
    mutates: dict[str, Any] | list[dict[str, Any]] | None = None,
    vars: dict[str, str] | None = None,
    cases: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A tool of a custom environment: it answers ``response`` and, with ``mutates``, changes the state.

    ``mutates`` is ``{"path": …, "value": …}`` or a list of them; ``a.b`` is a nested path, ``a[]`` appends.
    ``response`` and every value may hold ``${args.…}``, ``${state.…}`` and ``${vars.…}``; ``vars`` are CEL expressions
    by name. ``cases`` are tried in order, each ``{"when": …, "response" or "error": …, "mutates": …}``: the first that
    fits is what happens. A tool with cases has a response of its own only when one is given, or with ``mutates``.
    """
    tool: dict[str, Any] = {
        "name": name,
        "description": description,
        "paramsSchema": {} if params_schema is None else params_schema,
    }
    if response is not None or mutates is not None or cases is None:
        tool["response"] = response
    for key, value in (("mutates", mutates), ("vars", vars), ("cases", cases)):
        if value is not None:
            tool[key] = value
    return tool


def workflow_config(
    *,
    tools: list[dict[str, Any]],
    fixtures: dict[str, Any] | None = None,
    initial_mutable_state: dict[str, Any] | None = None,
    description: str | None = None,
) -> dict[str, Any]:
    """The config of a workflow environment: its tools, read-only fixtures, and the state actions change."""
    config: dict[str, Any] = {"tools": tools}
    if description is not None:
        config["description"] = description
    if fixtures is not None:
        config["fixtures"] = fixtures
    if initial_mutable_state is not None:
        config["initialMutableState"] = initial_mutable_state
    return config


def custom_config(
    *,
    tools: list[dict[str, Any]],
    initial_state: dict[str, Any] | None = None,
    description: str | None = None,
) -> dict[str, Any]:
    """The config of a custom environment: its tools, and the state as it is before the first call."""
    config: dict[str, Any] = {"tools": tools}
    if description is not None:
        config["description"] = description
    if initial_state is not None:
        config["initialState"] = initial_state
    return config


def code_editing_config(*, files: dict[str, str], description: str | None = None) -> dict[str, Any]:
    """The config of a code-editing environment: ``files`` maps each path to its content."""
    config: dict[str, Any] = {"files": files}
    if description is not None:
        config["description"] = description
    return config


def browser_page(url: str, *, title: str, elements: list[dict[str, Any]]) -> dict[str, Any]:
    """One page of a browser environment."""
    return {"url": url, "title": title, "elements": elements}


def browser_config(
    *,
    initial_url: str,
    pages: list[dict[str, Any]],
    description: str | None = None,
) -> dict[str, Any]:
    """The config of a browser environment: its pages, and the one that is open at the start."""
    config: dict[str, Any] = {"initialUrl": initial_url, "pages": pages}
    if description is not None:
        config["description"] = description
    return config


def primitive(name: str, type: str, **kwargs: Any) -> dict[str, Any]:
    """One check of a verifier: its name, its type, and the type's own options.

    ``weight`` (1 unless given) says how much it counts; ``**{"not": True}`` turns it around.
    """
    return {"name": name, "type": type, **kwargs}


def verifier_config(*primitives: dict[str, Any], pass_threshold: float | None = None) -> dict[str, Any]:
    """A verifier made of ``primitives``; a rollout passes whose score reaches ``pass_threshold``, 1 unless given.

    Raises TypeError for an argument that is no dict, such as a list of primitives passed without its star.
    """
    for each in primitives:
        if not isinstance(each, dict):
            raise TypeError(
                "verifier_config takes each primitive as an argument of its own, made by primitive(…); "
                f"it was given a {type(each).__name__}. Write verifier_config(*primitives) for a list."
            )
    verifier: dict[str, Any] = {"primitives": list(primitives)}
    if pass_threshold is not None:
        verifier["passThreshold"] = pass_threshold
    return verifier


__all__ = [
    "action_tool",
    "browser_config",
    "browser_page",
    "code_editing_config",
    "custom_config",
    "custom_tool",
    "lookup_tool",
    "mock_tool",
    "primitive",
    "verifier_config",
    "workflow_config",
]
