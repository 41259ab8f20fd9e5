"""What a run's results depend on, so that a run is only continued on the inputs that it was begun with."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from rollout.compile import compile_environment
from rollout.compile.judging_code import judging_code
from rollout.environment import Environment
from rollout.language.canonical import canonical, digest
from rollout.models import Sampling

_NAMES = {
    "environment": "the environment",
    "tasks": "its tasks",
    "solutions": "their solutions",
    "verifier": "its verifier",
    "model": "the model",
    "address": "where it is asked",
    "sampling": "the sampling",
    "max_tool_calls": "the limit of tool calls",
    "seconds": "the time for a rollout",
}


def inputs(
    environment: Environment,
    model: str,
    *,
    address: str | None,
    sampling: Sampling,
    max_tool_calls: int,
    seconds: float | None,
) -> dict[str, Any]:
    """The inputs of a run, as JSON; of an environment's parts their digests. ``seconds`` is the limit of a rollout.

    ``address`` is where a model elsewhere is asked: another server may have another model under the same name.

    Solutions count where the oracle plays them, and so does what a database is run with on this machine.
    """
    compiled = compile_environment(environment)
    world = {key: value for key, value in compiled.environment.items() if key != "tasks"}
    world["local"] = [environment.dialect, environment.now, environment.read_only]
    tasks: list[Any] = list(compiled.environment["tasks"])
    tasks.append([task.id for task in environment.tasks])
    solutions = [task.solution for task in environment.tasks] if model == "oracle" else None
    code = judging_code(environment).files
    return {
        "environment": digest(canonical(world)),
        "tasks": digest(canonical(tasks)),
        "solutions": digest(canonical(solutions)),
        "verifier": digest(canonical([compiled.verifier, code])),
        "model": model,
        "address": address,
        "sampling": asdict(sampling),
        "max_tool_calls": max_tool_calls,
        "seconds": seconds,
    }


def judging_files(environment: Environment) -> dict[str, str]:
    """The files that functions which judge are run among, by path; none where the environment is from no folder.

    What cannot be had is told when it is to judge, by each verdict.
    """
    primitives = (environment.verifier or {}).get("primitives") or ()
    functions = [str(each.get("function")) for each in primitives if each.get("type") == "python"]
    found: dict[str, str] = {}
    if environment.folder is not None and functions:
        from rollout.source.author_files import NoFunctionError, author_files

        for function in functions:
            with suppress(NoFunctionError):
                found |= author_files(environment.folder, function.partition(":")[0])
    return found


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What is not as it was, each by its name: ``the model (was “a”, is “b”)``."""
    changed = [name for name in _NAMES if before.get(name) != now.get(name)]
    if "model" in changed:
        # Only the oracle has solutions, and another model is asked elsewhere for that reason alone.
        changed = [name for name in changed if name not in ("solutions", "address")]
    return [_NAMES[name] + _words(before.get(name), now.get(name)) for name in changed]


def _words(was: Any, now: Any) -> str:
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        parts = [
            f"{key} was {_show(was.get(key))}, is {_show(now[key])}"
            for key in now
            if was.get(key) != now[key]
        ]
        return f" ({'; '.join(parts)})"
    if isinstance(now, str) and now.startswith("sha256:"):
        return ""
    return f" (was {_show(was)}, is {_show(now)})"


def _show(value: Any) -> str:
    return "not set" if value is None else f"“{value}”" if isinstance(value, str) else f"{value:g}"


__all__ = ["changes", "inputs", "judging_files"]
