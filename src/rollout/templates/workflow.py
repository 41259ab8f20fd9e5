"""workflow: tools that look things up in read-only fixtures, and tools that add to the lists of a state.

A *lookup* answers with what stands at its ``fixturePath``, or with the row of ``fromArray`` whose ``matchField`` equals
the argument of that name, by value and type. An *action* adds ``value`` to the list ``appendTo``, or its arguments to
the list ``stateArray``. A *mock* answers with its ``response``. ``fromArray`` names a list of the state, or else of the
fixtures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rollout.environment import Environment
from rollout.language.compare import compare, show
from rollout.language.interpolation import prepare as prepare_value
from rollout.language.path_template import parse_path_template
from rollout.language.paths import MISSING, get, kind, parse, write
from rollout.templates import TemplateError
from rollout.templates._appending import Appender
from rollout.templates._declared import Action, DeclaredStage, DeclaredWorld, Refusal


def prepare(environment: Environment) -> DeclaredStage:
    """Makes a workflow environment ready. Raises TemplateError when one of its tools cannot work."""
    return DeclaredStage(environment, state_key="initialMutableState", compile_tool=_compile)


def _compile(tool: Mapping[str, Any], stage: DeclaredStage) -> Action:
    kind_of_tool = tool.get("kind")
    if kind_of_tool == "lookup":
        if "fixturePath" in tool:
            return _lookup_path(tool["fixturePath"])
        if "fromArray" in tool and "matchField" in tool:
            return _lookup_row(tool["fromArray"], tool["matchField"], stage)
        raise TemplateError(f"Lookup “{tool['name']}” has neither fixturePath nor fromArray with matchField.")
    if kind_of_tool == "action":
        if "stateArray" in tool:
            return _append(tool["name"], tool["stateArray"], "${args}")
        if "appendTo" in tool and "value" in tool:
            return _append(tool["name"], tool["appendTo"], tool["value"])
        raise TemplateError(f"Action “{tool['name']}” has neither stateArray nor appendTo with value.")
    if kind_of_tool == "mock":
        respond = prepare_value(tool.get("response"))
        return Action(lambda world, args: respond(world.scope(args)))
    raise TemplateError(f"Tool “{tool['name']}” is neither a lookup nor an action nor a mock.")


def _lookup_path(text: str) -> Action:
    path = parse_path_template(text)

    def run(world: DeclaredWorld, args: Mapping[str, Any]) -> Any:
        scope = world.scope(args)
        steps = path.fill(scope)
        found = get(scope["fixtures"], steps)
        if found is MISSING:
            raise Refusal(f"There is no “{write(steps)}”.")
        return found

    return Action(run)


def _lookup_row(array: str, field: str, stage: DeclaredStage) -> Action:
    steps = parse(array).steps
    if get(stage.start_state(), steps) is MISSING:
        rows = get(stage.fixtures, steps)
        if not isinstance(rows, list):
            raise TemplateError(f"“{array}” is {kind(rows)}, not a list to look in.")
        find = _finder(rows, field)
        return Action(lambda world, args: _answer(find, array, field, args))

    def run(world: DeclaredWorld, args: Mapping[str, Any]) -> Any:
        rows = get(world.now, steps)
        if not isinstance(rows, list):
            raise Refusal(f"“{array}” is {kind(rows)}, not a list to look in.")
        return _answer(lambda value: _first(rows, field, value), array, field, args)

    return Action(run)


Find = Callable[[Any], Any]


def _answer(find: Find, array: str, field: str, args: Mapping[str, Any]) -> Any:
    wanted = args.get(field, MISSING)
    if wanted is MISSING:
        raise Refusal(f"The argument “{field}” is missing.")
    row = find(wanted)
    if row is MISSING:
        raise Refusal(f"Nothing in “{array}” has the {field} {show(wanted)}.")
    return row


def _finder(rows: Sequence[Any], field: str) -> Find:
    first: dict[tuple[str, Any], Any] = {}
    for row in rows:
        value = row.get(field, MISSING) if isinstance(row, dict) else MISSING
        if value is not MISSING and not isinstance(value, dict | list):
            first.setdefault((kind(value), value), row)

    def find(wanted: Any) -> Any:
        if isinstance(wanted, dict | list):
            return _first(rows, field, wanted)
        return first.get((kind(wanted), wanted), MISSING)

    return find


def _first(rows: Sequence[Any], field: str, wanted: Any) -> Any:
    for row in rows:
        if isinstance(row, dict) and field in row and compare(wanted, row[field]) is None:
            return row
    return MISSING


def _append(name: str, array: str, value: Any) -> Action:
    path = parse_path_template(array, appending=True)
    fill = prepare_value(value)

    def run(world: DeclaredWorld, args: Mapping[str, Any]) -> Any:
        scope = world.scope(args)
        added = fill(scope)
        world.append(path.fill(scope), added, existing=path.filled)
        return {"ok": True, "added": added}

    return Action(run, () if path.filled else (Appender(name, path.known, value),))


__all__ = ["prepare"]
