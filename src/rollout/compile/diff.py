"""Two versions of an environment to what changed between them, by meaning, and what that does to old runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from rollout.check.masking import secrets_of
from rollout.check.secrets import BROKEN_UP, may_hold_secret
from rollout.check.walk import written
from rollout.compile.change import Change, Difference, Effect, Kind, Version
from rollout.compile.deltas import deltas, same
from rollout.compile.judging_code import JudgingCode, judging_code
from rollout.compile.meaning import mean_the_same
from rollout.compile.occurrences import occurrences
from rollout.compile.payload import Compiled, compile_environment
from rollout.compile.task_changes import task_changes
from rollout.compile.world_changes import config_changes, sql_changes
from rollout.environment import Environment
from rollout.language.key_order import layout
from rollout.source.place import Route

_ORDER = {effect: place for place, effect in enumerate(Effect)}


def diff(before: Environment, after: Environment, *, local: bool = True) -> Difference:
    """What changed from ``before`` to ``after``.

    Both are compared as they compile, so how something is written, or in which file, is no difference. Tasks are
    paired as :func:`rollout.compile.task_pairs.pair_tasks` says. What never leaves the machine (ids, solutions,
    ``x-…`` keys, how a database is run, the code of python primitives) is compared too, unless ``local`` is False, as
    when one side was read from a compiled file. Raises ValueError for an environment that does not compile.
    """
    old, new = compile_environment(before), compile_environment(after)
    tasks, kept, reordered = task_changes(before.tasks, after.tasks, local=local)
    code_before, code_after = judging_code(before), judging_code(after)
    settings = tuple(_settings(before, after))
    changes = [
        *_identity(old.environment, new.environment),
        *config_changes(old.environment.get("config", {}), new.environment.get("config", {})),
        *sql_changes(_sql(old), _sql(new)),
        *(settings if local else ()),
        *tasks,
        *_verifier(old.verifier, new.verifier),
        *(
            _code(code_before, code_after, new.verifier or old.verifier)
            if local and before.folder and after.folder
            else ()
        ),
        *(_extensions(before, after) if local else ()),
    ]
    changes.sort(key=lambda change: _ORDER[change.effect])
    unexplained = not any(change.effect is not Effect.METADATA for change in changes) and not mean_the_same(
        old, new
    )
    said = bool(changes) or unexplained
    notes = list(_notes(old, new, reordered=reordered, said=said))
    unseen = (_functions(old.verifier) | _functions(new.verifier)) if not local else set()
    unseen |= {*code_before.missing, *code_after.missing}
    return Difference(
        _version(before, old),
        _version(after, new),
        tuple(changes),
        kept_tasks=kept,
        notes=tuple(notes),
        unseen_code=tuple(sorted(unseen)),
        # Who has no settings of its own has those of every database.
        unseen_settings=() if local else tuple(change.subject for change in settings),
        unexplained=unexplained,
        secrets=_secrets(
            before, after, code_before.files, code_after.files, code_before.beside, code_after.beside
        ),
    )


def appeared(environment: Environment) -> Difference:
    """The difference of an environment that did not exist before."""
    version = _version(environment, compile_environment(environment))
    return Difference(None, version, (), secrets=_secrets(environment))


def disappeared(environment: Environment) -> Difference:
    """The difference of an environment that exists no more."""
    version = _version(environment, compile_environment(environment))
    return Difference(version, None, (), secrets=_secrets(environment))


def _secrets(*parts: Environment | dict[str, str]) -> dict[str, str]:
    values = [_written_parts(part) if isinstance(part, Environment) else part for part in parts]
    data = written(values)
    if may_hold_secret(data) or any(beginning in data for beginning in BROKEN_UP):
        return secrets_of(values)
    return {}


def _written_parts(environment: Environment) -> dict[str, Any]:
    parts = {each.name: getattr(environment, each.name) for each in fields(environment)}
    del parts["folder"]
    tasks = [{each.name: getattr(task, each.name) for each in fields(task)} for task in environment.tasks]
    return {**parts, "tasks": tasks}


def _version(environment: Environment, compiled: Compiled) -> Version:
    return Version(environment.slug, environment.name, compiled.digest, len(environment.tasks))


def _sql(compiled: Compiled) -> dict[str, Any]:
    return {key: compiled.environment[key] for key in ("schema", "seed") if key in compiled.environment}


def _settings(before: Environment, after: Environment) -> Iterator[Change]:
    """How a database is run on this machine: not pushed, but every rollout here is another by it."""
    for key, name in (("dialect", "dialect"), ("now", "now"), ("read_only", "readOnly")):
        old, new = getattr(before, key), getattr(after, key)
        if old != new:
            yield Change(_kind(old, new), name, "database", ("environment", name), old, new, Effect.AGENT)


def _identity(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for key in ("slug", "name", "template", "description"):
        old, new = before.get(key), after.get(key)
        if old != new:
            effect = Effect.AGENT if key == "template" else Effect.METADATA
            yield Change(_kind(old, new), key, "environment", ("environment", key), old, new, effect)


def _verifier(before: dict[str, Any] | None, after: dict[str, Any] | None) -> Iterator[Change]:
    if before is None and after is None:
        return
    if before is None or after is None:
        kind = Kind.ADDED if before is None else Kind.REMOVED
        yield Change(kind, "verifier", "verifier", ("verifier",), before, after, Effect.GRADING)
        return
    old, new = before.get("passThreshold", 1), after.get("passThreshold", 1)
    if old != new:
        route: Route = ("verifier", "passThreshold")
        yield Change(Kind.CHANGED, "passThreshold", "verifier", route, old, new, Effect.GRADING)
    yield from _primitives(before["primitives"], after["primitives"])


def _primitives(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Iterator[Change]:
    home: Route = ("verifier", "primitives")
    old, new = occurrences(before, "name"), occurrences(after, "name")
    for name, (_, primitive) in old.items():
        if name not in new:
            yield Change(Kind.REMOVED, "primitive", str(name), home, primitive, None, Effect.GRADING)
    for name, (index, primitive) in new.items():
        here = (*home, index)
        if name not in old:
            yield Change(Kind.ADDED, "primitive", str(name), here, None, primitive, Effect.GRADING)
            continue
        for delta in deltas(old[name][1], primitive, route=here):
            subject = "weight" if delta.path == ("weight",) else "primitive"
            label = str(name) if subject == "weight" else f"{name}: {delta.written}"
            effect = Effect.METADATA if delta.path == ("description",) else Effect.GRADING
            yield Change(delta.kind, subject, label, delta.route, delta.before, delta.after, effect)


def _extensions(before: Environment, after: Environment) -> Iterator[Change]:
    for name, home, old, new in (
        (before.template, "config", before.config, after.config),
        ("verifier", "verifier", before.verifier, after.verifier),
    ):
        shape = layout(name)
        sides = [
            {".".join(map(str, route)): (route, value) for route, value in shape.extensions(side, (home,))}
            for side in (old, new)
        ]
        for label in (*sides[0], *(label for label in sides[1] if label not in sides[0])):
            route, value = sides[0].get(label, (None, None))
            route_after, value_after = sides[1].get(label, (None, None))
            if route is None or route_after is None or not same(value, value_after):
                kind = Kind.ADDED if route is None else Kind.REMOVED if route_after is None else Kind.CHANGED
                yield Change(
                    kind, "x- key", label, route_after or route or (), value, value_after, Effect.METADATA
                )


def _notes(old: Compiled, new: Compiled, *, reordered: bool, said: bool) -> Iterator[str]:
    if reordered:
        yield "The tasks stand in another order, which changes the digest and nothing else."
    elif not said and old.digest != new.digest:
        yield "Something is written differently and means the same, so the digests differ."


def _code(before: JudgingCode, after: JudgingCode, verifier: dict[str, Any] | None) -> Iterator[Change]:
    """Changes in what python primitives run; the route leads to the first of them."""
    primitives = (verifier or {}).get("primitives", ())
    place = next((index for index, each in enumerate(primitives) if each.get("type") == "python"), 0)
    route: Route = ("verifier", "primitives", place, "function")
    for path in sorted(before.files.keys() | after.files.keys()):
        old, new = before.all_files.get(path), after.all_files.get(path)
        if old != new:
            yield Change(_kind(old, new), "judging file", path, route, old, new, Effect.GRADING)
    for path in sorted(
        (before.beside.keys() | after.beside.keys()) - before.files.keys() - after.files.keys()
    ):
        old, new = before.beside.get(path), after.beside.get(path)
        if old != new:
            yield Change(_kind(old, new), "file beside", path, route, old, new, Effect.PERHAPS)


def _kind(before: Any, after: Any) -> Kind:
    if before is None:
        return Kind.ADDED
    return Kind.REMOVED if after is None else Kind.CHANGED


def _functions(verifier: dict[str, Any] | None) -> set[str]:
    return {
        str(each["function"])
        for each in (verifier or {}).get("primitives", ())
        if each.get("type") == "python" and "function" in each
    }


__all__ = ["appeared", "diff", "disappeared"]
