"""calls_match: the expected calls were made, each of them by a call of its own.

The expected calls are ``calls``, or the list at ``groundTruth`` in the task's ground truth: objects with ``tool``,
and ``args`` where they matter. ``args`` have to be exactly those, ``{}`` means none; with ``subset: true`` a call may
have had more. Besides them, ``anyOf`` names arguments for which any of the listed values will do, and ``optional``
those that a call may leave out; where it gives one, it is one of the listed values, or any where none is listed.

``order: exact`` asks for the calls in the order in which they are listed, ``any`` (unless given) does not.
``extra: forbid`` asks that there was no other call, of any tool; ``allow`` (unless given) lets others stand between.
``expectNone: true`` lets the list in a ground truth be empty, for a task that no tool helps with: then no call may be
made at all, and the agent has to say something. Without it an empty list is an error.
A call counts when it came to its tool, whatever the tool answered. One call is never taken for two expected ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rollout.language.compare import compare, show, unmatched
from rollout.language.paths import MISSING
from rollout.verifiers import CannotJudgeError, Case, Judgement, ToolCall, absent, failed, passed
from rollout.verifiers._expectation import expectation
from rollout.verifiers._made_calls import made_calls, strayed

Expected = Mapping[str, Any]
_Lacks = Callable[[Expected, ToolCall], str | None]

_ARGUMENTS = ("args", "anyOf", "optional")


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when all expected calls were made, and no other where those are forbidden; else 0 with the first fault."""
    expected = _expected(case, options)
    made = made_calls(case)
    if not expected:
        return _none(case)

    def lacks(wanted: Expected, call: ToolCall) -> str | None:
        return _lacks(
            wanted, call, tolerance=options.get("tolerance", 0), subset=options.get("subset", False)
        )

    in_order, forbid = options.get("order", "any") == "exact", options.get("extra", "allow") == "forbid"
    fault = (_out_of_order if in_order else _left_over)(expected, made, lacks)
    if fault is None and forbid and len(made) > len(expected):
        fault = _extra(expected, made, lacks, in_order=in_order)
    if fault is not None:
        return failed(f"{fault}{strayed(case)}")
    many = "The one expected call was" if len(expected) == 1 else f"The {len(expected)} expected calls were"
    ordered = ", in their order" if in_order and len(expected) > 1 else ""
    return passed(f"{many} made{ordered}{', and no other' if forbid else ''}.")


def _none(case: Case) -> Judgement:
    # A call that never came to its tool shows as well as any that there was one.
    if case.calls:
        return failed(f"No call is right here; “{case.calls[0].tool}” was called.")
    if not case.final_output.strip():
        return absent("No call was made, as is right here, but nothing was said either.")
    return passed("No call was made, as is right here.")


def _expected(case: Case, options: Mapping[str, Any]) -> Sequence[Expected]:
    calls, home, charged_to = expectation(case, options, "calls")
    if calls is MISSING:
        raise CannotJudgeError("There is neither “calls” nor “groundTruth”.")
    if calls == [] and options.get("expectNone") is not True:
        raise CannotJudgeError(
            f"{home} lists no calls, and “expectNone: true” does not say that it may.", charged_to=charged_to
        )
    if not isinstance(calls, list):
        raise CannotJudgeError(f"{home} is {show(calls)}, not a list of calls.", charged_to=charged_to)
    for each in calls:
        has_tool = isinstance(each, dict) and isinstance(each.get("tool"), str)
        if not has_tool or not isinstance(each.get("args", {}), dict) or not _is_known(each):
            raise CannotJudgeError(
                f"{home} has {show(each)}, which is no call: a call has “tool”, and may have “args”; “anyOf” and "
                "“optional” name arguments, and a list of values for each.",
                charged_to=charged_to,
            )
        named = Counter(name for key in _ARGUMENTS for name in each.get(key, ()))
        if twice := next((name for name, times in named.items() if times > 1), None):
            raise CannotJudgeError(
                f"{home} has {show(each)}: “{twice}” stands in it twice.", charged_to=charged_to
            )
    return calls


def _is_known(call: Mapping[str, Any]) -> bool:
    return (
        all(key in ("tool", *_ARGUMENTS) or key.startswith("x-") for key in call)
        and _are_choices(call.get("anyOf", {}), least=1)
        and _are_choices(call.get("optional", {}), least=0)
    )


def _are_choices(choices: Any, *, least: int) -> bool:
    return isinstance(choices, dict) and all(
        isinstance(values, list) and len(values) >= least for values in choices.values()
    )


def _lacks(wanted: Expected, call: ToolCall, *, tolerance: float, subset: bool) -> str | None:
    """Why a call is not the expected one, in a sentence; None where it is."""
    if wanted["tool"] != call.tool:
        return f"“{call.tool}” was called instead."
    if not any(key in wanted for key in _ARGUMENTS):
        return None
    rest = dict(call.args or {})
    optional = wanted.get("optional", {})
    for name, values in {**wanted.get("anyOf", {}), **optional}.items():
        value = rest.pop(name, MISSING)
        if name in optional and (value is MISSING or not values):
            continue
        if all(compare(each, value, tolerance=tolerance) for each in values):
            found = "missing" if value is MISSING else show(value)
            return f"“{name}” is {found}; one of {show(values)} was expected."
    difference = compare(wanted.get("args", {}), rest, tolerance=tolerance, subset=subset)
    return None if difference is None else difference.sentence()


def _left_over(expected: Sequence[Expected], made: Sequence[ToolCall], lacks: _Lacks) -> str | None:
    lonely = unmatched(expected, made, lambda wanted, call: lacks(wanted, call) is None)
    return None if lonely is None else _missing(expected[lonely], expected, made, lacks)


def _out_of_order(expected: Sequence[Expected], made: Sequence[ToolCall], lacks: _Lacks) -> str | None:
    # To take the first call that fits leaves the most for those that follow.
    rest = iter(made)
    for place, wanted in enumerate(expected):
        if any(lacks(wanted, call) is None for call in rest):
            continue
        if _left_over(expected, made, lacks) is None:
            return f"The calls were made in another order: {_call(wanted)} has none after {_call(expected[place - 1])}."
        return _missing(wanted, expected, made, lacks)
    return None


def _missing(wanted: Expected, expected: Sequence[Expected], made: Sequence[ToolCall], lacks: _Lacks) -> str:
    fitting = sum(lacks(wanted, call) is None for call in made)
    if fitting:
        asked = sum(each == wanted for each in expected)
        if asked > 1:
            return f"{_call(wanted)} was expected {asked} times; there were fewer calls like it than that."
        return f"{_call(wanted)} has no call of its own: another expected one needs what fits it."
    same = [call for call in made if call.tool == wanted["tool"]]
    if not same:
        called = ", ".join(dict.fromkeys(f"“{call.tool}”" for call in made)) or "no tool at all"
        return f"{_call(wanted)} was not made; called: {called}."
    return f"{_call(wanted)} was not made. In the last call of “{wanted['tool']}”: {lacks(wanted, same[-1])}"


def _extra(expected: Sequence[Expected], made: Sequence[ToolCall], lacks: _Lacks, *, in_order: bool) -> str:
    """The first call without which all expected ones would still be there."""
    check = _out_of_order if in_order else _left_over
    for place, call in enumerate(made):
        if check(expected, [*made[:place], *made[place + 1 :]], lacks) is None:
            return f"{_call({'tool': call.tool, 'args': call.args or {}})} was made too, and nothing else may be."
    return f"{len(made)} calls were made where {len(expected)} were expected."


def _call(call: Expected) -> str:
    told = {
        **call.get("args", {}),
        **{name: values[0] if len(values) == 1 else values for name, values in call.get("anyOf", {}).items()},
    }
    return f"{call['tool']}({show(told) if any(key in call for key in _ARGUMENTS) else '…'})"


__all__ = ["judge"]
