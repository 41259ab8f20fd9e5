"""custom: tools that answer with a templated ``response`` and change the state as ``mutates`` says.

``mutates`` is ``{path, value}`` or a list of them: ``a.b`` is a nested path, ``a[]`` adds to a list; without ``value``
the call's arguments are written. All values and paths are worked out before anything is changed, then all changes are
made in order or, when one of them cannot be, none. ``response`` sees the state as it is after the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.environment import Environment
from rollout.language.interpolation import Fill
from rollout.language.interpolation import prepare as prepare_value
from rollout.language.path_template import PathTemplate, parse_path_template
from rollout.language.paths import put
from rollout.templates import TemplateError
from rollout.templates._appending import Appender
from rollout.templates._declared import Action, DeclaredStage, DeclaredWorld, copy


def prepare(environment: Environment) -> DeclaredStage:
    """Makes a custom environment ready. Raises TemplateError when one of its tools cannot work."""
    return DeclaredStage(environment, state_key="initialState", compile_tool=_compile)


def _compile(tool: Mapping[str, Any], stage: DeclaredStage) -> Action:
    respond = prepare_value(tool.get("response", {"ok": True}))
    written = tool.get("mutates")
    if written is None:
        return Action(lambda world, args: respond(world.scope(args)))
    changes = written if isinstance(written, list) else [written]
    compiled = [_change(tool["name"], change) for change in changes]

    def run(world: DeclaredWorld, args: Mapping[str, Any]) -> Any:
        before = world.scope(args)
        filled = [(path.fill(before), fill(before), path) for path, fill in compiled]
        after = copy(world.now)
        for steps, value, path in filled:
            put(after, steps, value, append=path.appends, existing=path.filled)
        answer = respond({**before, "state": after})
        world.now = after
        return answer

    return Action(run, _appender(tool["name"], changes, compiled))


def _change(name: str, change: Any) -> tuple[PathTemplate, Fill]:
    if not isinstance(change, dict) or not isinstance(change.get("path"), str):
        raise TemplateError(f"A change that “{name}” makes has no path.")
    return parse_path_template(change["path"], appending=True), prepare_value(change.get("value", "${args}"))


def _appender(
    name: str, changes: list[dict[str, Any]], compiled: list[tuple[PathTemplate, Fill]]
) -> Appender | None:
    path = compiled[0][0] if len(compiled) == 1 else None
    if path is None or not path.appends or path.filled:
        return None
    return Appender(name, path.known, changes[0].get("value", "${args}"))


__all__ = ["prepare"]
