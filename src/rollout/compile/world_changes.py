"""What changed in the world that the agent acts in: tools, data, state, files, pages, the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rollout.compile.change import Change, Effect, Kind
from rollout.compile.deltas import Delta, deltas, same
from rollout.compile.occurrences import occurrences
from rollout.language.params_schema import read_parameters
from rollout.source.place import Route

_CONFIG: Route = ("environment", "config")
_STATES = ("initialMutableState", "initialState")
_NAMED = {"fixtures": "fixture", "commands": "command", **dict.fromkeys(_STATES, "state")}


def config_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """The changes between two configs in canonical form. What a template's config holds, the agent sees.

    But for ``hidden``: those files are laid over the agent's only when it is done, and judge.
    """
    for key in (*before, *(key for key in after if key not in before)):
        old, new = before.get(key), after.get(key)
        route = (*_CONFIG, key)
        if key == "tools":
            yield from _tools(old or [], new or [], route)
        elif key == "files":
            yield from _files("file", old or {}, new or {}, route, Effect.AGENT)
        elif key == "hidden":
            yield from _files("hidden file", old or {}, new or {}, route, Effect.GRADING)
        elif key == "pages":
            yield from _pages(old or [], new or [], route)
        elif key in _NAMED:
            for delta in deltas(old or {}, new or {}, route=route):
                yield _seen(_NAMED[key], delta.written, delta)
        else:
            for delta in deltas({key: old}, {key: new}, route=_CONFIG):
                yield _seen("config", delta.written, _with_presence(delta, key, before, after))


def sql_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """The changes between two databases: tables and columns by name, and both texts."""
    if before.get("schema") != after.get("schema"):
        yield from _table_changes(_tables(before), _tables(after))
    for key in ("schema", "seed"):
        if before.get(key) != after.get(key):
            kind = _kind(key, before, after)
            yield Change(
                kind, key, f"{key}.sql", ("environment", key), before.get(key), after.get(key), Effect.AGENT
            )


def _table_changes(before: dict[str, list[str]], after: dict[str, list[str]]) -> Iterator[Change]:
    route: Route = ("environment", "schema")
    for table in (*before, *(table for table in after if table not in before)):
        kind = _kind(table, before, after)
        if kind is not Kind.CHANGED:
            yield Change(kind, "table", table, route, before.get(table), after.get(table), Effect.AGENT)
            continue
        for column in before[table]:
            if column not in after[table]:
                yield Change(Kind.REMOVED, "column", f"{table}.{column}", route, column, None, Effect.AGENT)
        for column in after[table]:
            if column not in before[table]:
                yield Change(Kind.ADDED, "column", f"{table}.{column}", route, None, column, Effect.AGENT)


def _tables(side: Mapping[str, Any]) -> dict[str, list[str]]:
    from rollout.database import DatabaseSpec
    from rollout.database.image import Image

    image = Image(DatabaseSpec(side.get("schema") or ""))
    return {table: list(columns) for table, columns in image.tables().items()}


def _tools(before: list[Any], after: list[Any], route: Route) -> Iterator[Change]:
    old, new = occurrences(before, "name"), occurrences(after, "name")
    for name, (_, tool) in old.items():
        if name not in new:
            yield Change(Kind.REMOVED, "tool", str(name), route, tool, None, Effect.AGENT)
    for name, (index, tool) in new.items():
        here = (*route, index)
        if name not in old:
            yield Change(Kind.ADDED, "tool", str(name), here, None, tool, Effect.AGENT)
        else:
            yield from _tool(str(name), old[name][1], tool, here)
    kept = [str(name) for name in old if name in new], [str(name) for name in new if name in old]
    if kept[0] != kept[1]:
        yield Change(Kind.CHANGED, "tool order", "tools", route, kept[0], kept[1], Effect.AGENT)


def _tool(name: str, before: dict[str, Any], after: dict[str, Any], route: Route) -> Iterator[Change]:
    parts = [{key: value for key, value in side.items() if key != "paramsSchema"} for side in (before, after)]
    for delta in deltas(*parts, route=route):
        yield _seen("tool", f"{name}.{delta.written}", delta)
    old, new = (_parameters(side) for side in (before, after))
    for delta in deltas(old, new, route=(*route, "paramsSchema")):
        yield _seen("parameter", f"{name}.{delta.written}", delta)


def _parameters(tool: dict[str, Any]) -> dict[str, Any]:
    # By name, whichever of the three ways they are written in.
    schema = dict(read_parameters(tool).schema)
    properties = schema.pop("properties", {})
    required = schema.pop("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return {"paramsSchema": tool.get("paramsSchema")}
    found: dict[str, Any] = {}
    for name in (*properties, *(each for each in required if each not in properties)):
        body = properties.get(name, {})
        body = dict(body) if isinstance(body, dict) else {"schema": body}
        found[name] = body if name in required else {**body, "optional": True}
    if schema.get("type") == "object":
        del schema["type"]
    # The shorthand takes no other arguments; a whole schema does unless it says otherwise.
    others = schema.pop("additionalProperties", True)
    if others is not False:
        schema["additionalProperties"] = others
    return {**found, **{f"({key})": value for key, value in schema.items()}}


def _files(
    subject: str, before: dict[str, Any], after: dict[str, Any], route: Route, effect: Effect
) -> Iterator[Change]:
    for path in sorted(before.keys() | after.keys()):
        if not same(before.get(path), after.get(path)):
            kind = _kind(path, before, after)
            yield Change(kind, subject, path, (*route, path), before.get(path), after.get(path), effect)


def _pages(before: list[Any], after: list[Any], route: Route) -> Iterator[Change]:
    old, new = occurrences(before, "url"), occurrences(after, "url")
    for url, (_, page) in old.items():
        if url not in new:
            yield Change(Kind.REMOVED, "page", str(url), route, page, None, Effect.AGENT)
    for url, (index, page) in new.items():
        here = (*route, index)
        if url not in old:
            yield Change(Kind.ADDED, "page", str(url), here, None, page, Effect.AGENT)
            continue
        for delta in deltas(old[url][1], page, route=here):
            subject = "element" if delta.path[:1] == ("elements",) else "page"
            yield _seen(subject, f"{url} {delta.written}", delta)


def _seen(subject: str, label: str, delta: Delta) -> Change:
    return Change(delta.kind, subject, label, delta.route, delta.before, delta.after, Effect.AGENT)


def _kind(key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Kind:
    if key not in before:
        return Kind.ADDED
    return Kind.CHANGED if key in after else Kind.REMOVED


def _with_presence(delta: Delta, key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Delta:
    if len(delta.path) != 1:
        return delta
    return Delta(_kind(key, before, after), delta.path, delta.route, delta.before, delta.after)


__all__ = ["config_changes", "sql_changes"]
