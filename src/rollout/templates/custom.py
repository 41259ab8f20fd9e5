"""custom: tools that answer with a templated ``response`` and change the state as ``mutates`` says.

``mutates`` is ``{path, value}`` or a list of them: ``a.b`` is a nested path, ``a[]`` adds to a list; without ``value``
the call's arguments are written. All values and paths are worked out before anything is changed, then all changes are
made in order or, when one of them cannot be, none. ``response`` sees the state as it is after the call.

``cases`` are tried in order: the first whose ``when`` is true, or that has none, says what happens. Where none fits,
the tool's own ``response`` and ``mutates`` do; where it has neither, the call is refused. ``vars`` are expressions by
name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rollout.environment import Environment
from rollout.language.interpolation import Fill, fill_text, well_formed
from rollout.language.interpolation import prepare as prepare_value
from rollout.language.path_template import PathTemplate, parse_path_template
from rollout.language.paths import put
from rollout.templates import TemplateError
from rollout.templates._appending import Appender
from rollout.templates._declared import Action, DeclaredStage, DeclaredWorld, Refusal, copy

if TYPE_CHECKING:
    from rollout.language.cel import Condition
    from rollout.templates._one_call import OneCall, Variables

See = Callable[[Any], Mapping[str, Any]]
"""What placeholders see, given the state that they look into; None for the state before the call."""


def prepare(environment: Environment) -> DeclaredStage:
    """Makes a custom environment ready. Raises TemplateError when one of its tools cannot work."""
    return DeclaredStage(environment, state_key="initialState", compile_tool=_compile)


def _compile(tool: Mapping[str, Any], stage: DeclaredStage) -> Action:
    if "cases" in tool or "vars" in tool:
        return _conditional(tool)
    outcome = _outcome(tool["name"], tool)

    def run(world: DeclaredWorld, args: Mapping[str, Any]) -> Any:
        before = world.scope(args)
        return outcome.happen(world, lambda state: before if state is None else {**before, "state": state})

    return Action(run, outcome.appenders)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a call comes to: the changes it makes, and its answer or the sentence of its refusal."""

    changes: tuple[tuple[PathTemplate, Fill], ...]
    answer: Fill
    refuses: bool
    appenders: tuple[Appender, ...]

    def happen(self, world: DeclaredWorld, see: See) -> Any:
        """Makes the changes and gives the answer, or does neither.

        Raises FillError, TargetError, OverfullError and Refusal.
        """
        before = see(None)
        if not self.changes:
            answer = self.answer(before)
        else:
            filled = [(path.fill(before), fill(before), path) for path, fill in self.changes]
            after = copy(world.now)
            for steps, value, path in filled:
                put(after, steps, value, append=path.appends, existing=path.filled)
            answer = self.answer(see(after))
            world.replace(after)
        if self.refuses:
            raise Refusal(answer)
        return answer


def _outcome(name: str, spec: Mapping[str, Any]) -> _Outcome:
    written = spec.get("mutates")
    changes = [] if written is None else written if isinstance(written, list) else [written]
    compiled = tuple(_change(name, change) for change in changes)
    refuses = "error" in spec
    answer = _sentence(name, spec["error"]) if refuses else prepare_value(spec.get("response", {"ok": True}))
    return _Outcome(compiled, answer, refuses, () if refuses else _appenders(name, changes, compiled))


def _sentence(name: str, error: Any) -> Fill:
    if not isinstance(error, str):
        raise TemplateError(f"The error of a case of “{name}” is no text.")
    parsed = well_formed(error)
    return lambda scope: fill_text(parsed, scope)


def _change(name: str, change: Any) -> tuple[PathTemplate, Fill]:
    if not isinstance(change, dict) or not isinstance(change.get("path"), str):
        raise TemplateError(f"A change that “{name}” makes has no path.")
    return parse_path_template(change["path"], appending=True), prepare_value(change.get("value", "${args}"))


def _appenders(
    name: str, changes: list[dict[str, Any]], compiled: tuple[tuple[PathTemplate, Fill], ...]
) -> tuple[Appender, ...]:
    path = compiled[0][0] if len(compiled) == 1 else None
    if path is None or not path.appends or path.filled:
        return ()
    return (Appender(name, path.known, changes[0].get("value", "${args}")),)


@dataclass(frozen=True, slots=True)
class _Case:
    when: Condition | None
    outcome: _Outcome
    needed: tuple[str, ...]

    def fits(self, call: OneCall) -> bool:
        return self.when is None or call.holds(self.when)


def _conditional(tool: Mapping[str, Any]) -> Action:
    from rollout.templates._one_call import OneCall, Variables  # loaded only where there is an expression

    name = tool["name"]
    variables = Variables(name, _object(name, tool.get("vars", {})))
    cases = [
        _case(variables, case, number) for number, case in enumerate(_list(name, tool.get("cases", [])), 1)
    ]
    if not cases or "response" in tool or "mutates" in tool:
        own = {key: tool[key] for key in ("response", "mutates") if key in tool}
        cases.append(_case(variables, own, None))

    def run(world: DeclaredWorld, args: Mapping[str, Any]) -> Any:
        call = OneCall(variables, world.scope(args))
        fitting = next((case for case in cases if case.fits(call)), None)
        if fitting is None:
            raise Refusal(f"“{name}” cannot be done now with these arguments: none of its cases fits.")
        return fitting.outcome.happen(world, lambda state: call.filled(fitting.needed, state))

    return Action(run, tuple(each for case in cases for each in case.outcome.appenders))


def _case(variables: Variables, case: Any, number: int | None) -> _Case:
    from rollout.templates._one_call import variables_in, variables_of

    where = "response" if number is None else f"case {number}"
    if not isinstance(case, dict):
        raise TemplateError(f"“{where}” of “{variables.tool}” is no object.")
    if "error" in case and "response" in case:
        raise TemplateError(f"“{where}” of “{variables.tool}” has both a response and an error.")
    when = variables.read(case["when"], f"when of {where}") if "when" in case else None
    if when is not None:
        variables.needed(variables_in(when), f"when of {where}")
    texts = {key: case[key] for key in ("response", "error", "mutates") if key in case}
    return _Case(when, _outcome(variables.tool, case), variables.needed(variables_of(texts), where))


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TemplateError(f"The vars of “{name}” are no object.")
    return value


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TemplateError(f"The cases of “{name}” are no list.")
    return value


__all__ = ["prepare"]
