"""calls_match: the expected calls were made, each of them by a call of its own.

The expected calls are ``calls``, or the list at ``groundTruth`` in the task's ground truth: objects with ``tool``,
and ``args`` where they matter. ``args`` have to be exactly those, ``{}`` means none; with ``subset: true`` a call may
have had more. ``order: exact`` asks for the calls in the order in which they are listed, ``any`` (unless given) does
not. ``extra: forbid`` asks that there was no other call, of any tool; ``allow`` (unless given) lets others stand
between. A call counts when it came to its tool, whatever the tool answered. One call is never taken for two expected
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rollout.language.compare import compare, show, unmatched
from rollout.language.paths import MISSING
from rollout.verifiers import CannotJudgeError, Case, Judgement, ToolCall, failed, passed
from rollout.verifiers._expectation import expectation
from rollout.verifiers._made_calls import made_calls, strayed

Expected = Mapping[str, Any]
_Fits = Callable[[Expected, ToolCall], bool]


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when all expected calls were made, and no other where those are forbidden; else 0 with the first fault."""
    expected = _expected(case, options)
    made = made_calls(case)

    def fits(wanted: Expected, call: ToolCall) -> bool:
        return wanted["tool"] == call.tool and (
            "args" not in wanted
            or compare(
                wanted["args"],
                call.args or {},
                tolerance=options.get("tolerance", 0),
                subset=options.get("subset", False),
            )
            is None
        )

    in_order, forbid = options.get("order", "any") == "exact", options.get("extra", "allow") == "forbid"
    fault = (_out_of_order if in_order else _left_over)(expected, made, fits)
    if fault is None and forbid and len(made) > len(expected):
        fault = _extra(expected, made, fits, in_order=in_order)
    if fault is not None:
        return failed(f"{fault}{strayed(case)}")
    many = "The one expected call was" if len(expected) == 1 else f"The {len(expected)} expected calls were"
    ordered = ", in their order" if in_order and len(expected) > 1 else ""
    return passed(f"{many} made{ordered}{', and no other' if forbid else ''}.")


def _expected(case: Case, options: Mapping[str, Any]) -> Sequence[Expected]:
    calls, home, charged_to = expectation(case, options, "calls")
    if calls is MISSING:
        raise CannotJudgeError("There is neither “calls” nor “groundTruth”.")
    if not isinstance(calls, list) or not calls:
        raise CannotJudgeError(f"{home} is {show(calls)}, not a list of calls.", charged_to=charged_to)
    for each in calls:
        has_tool = isinstance(each, dict) and isinstance(each.get("tool"), str)
        if not has_tool or not isinstance(each.get("args", {}), dict) or not _is_known(each):
            raise CannotJudgeError(
                f"{home} has {show(each)}, which is no call: a call has “tool”, and may have “args”.",
                charged_to=charged_to,
            )
    return calls


def _is_known(call: Mapping[str, Any]) -> bool:
    return all(key in ("tool", "args") or key.startswith("x-") for key in call)


def _left_over(expected: Sequence[Expected], made: Sequence[ToolCall], fits: _Fits) -> str | None:
    lonely = unmatched(expected, made, fits)
    return None if lonely is None else _missing(expected[lonely], expected, made, fits)


def _out_of_order(expected: Sequence[Expected], made: Sequence[ToolCall], fits: _Fits) -> str | None:
    # To take the first call that fits leaves the most for those that follow.
    rest = iter(made)
    for place, wanted in enumerate(expected):
        if any(fits(wanted, call) for call in rest):
            continue
        if _left_over(expected, made, fits) is None:
            return f"The calls were made in another order: {_call(wanted)} has none after {_call(expected[place - 1])}."
        return _missing(wanted, expected, made, fits)
    return None


def _missing(wanted: Expected, expected: Sequence[Expected], made: Sequence[ToolCall], fits: _Fits) -> str:
    fitting = sum(fits(wanted, call) for call in made)
    if fitting:
        asked = sum(each == wanted for each in expected)
        if asked > 1:
            return f"{_call(wanted)} was expected {asked} times; there were fewer calls like it than that."
        return f"{_call(wanted)} has no call of its own: another expected one needs what fits it."
    same = [call for call in made if call.tool == wanted["tool"]]
    if not same:
        called = ", ".join(dict.fromkeys(f"“{call.tool}”" for call in made)) or "no tool at all"
        return f"{_call(wanted)} was not made; called: {called}."
    if "args" not in wanted:
        return f"{_call(wanted)} was not made often enough."
    difference = compare(wanted["args"], same[-1].args or {})
    told = f" In the last call of “{wanted['tool']}”: {difference.sentence()}" if difference else ""
    return f"{_call(wanted)} was not made.{told}"


def _extra(expected: Sequence[Expected], made: Sequence[ToolCall], fits: _Fits, *, in_order: bool) -> str:
    """The first call without which all expected ones would still be there."""
    check = _out_of_order if in_order else _left_over
    for place, call in enumerate(made):
        if check(expected, [*made[:place], *made[place + 1 :]], fits) is None:
            return f"{_call({'tool': call.tool, 'args': call.args or {}})} was made too, and nothing else may be."
    return f"{len(made)} calls were made where {len(expected)} were expected."


def _call(call: Expected) -> str:
    return f"{call['tool']}({show(call['args']) if 'args' in call else '…'})"


__all__ = ["judge"]
