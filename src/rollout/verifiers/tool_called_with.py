"""tool_called_with: one call of a tool had at least these arguments; it may have had more.

``args`` names arguments and their values, which are compared by value and type: 1 is 1.0, but not ``"1"``. Objects
and lists among them have to be the same in full; only the call itself may have had further arguments. ``tolerance``
eases the comparison of numbers. Where several calls are expected, ``calls_match`` gives each expected one a call of
its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.compare import compare, show
from rollout.language.paths import MISSING
from rollout.verifiers import CannotJudgeError, Case, Judgement, ToolCall, failed, passed
from rollout.verifiers._made_calls import listed, made_calls


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when there was such a call, else 0 with what the closest one had instead."""
    tool, args = options["tool"], options["args"]
    if not args:
        raise CannotJudgeError("“args” names no argument, so that any call would do.")
    tried = [call for call in case.calls if call.tool == tool]
    if not tried:
        return failed(
            f"“{tool}” was not called; called: {listed(sorted({call.tool for call in case.calls}))}."
        )
    made = made_calls(case, tool)
    if not made:
        return failed(f"No call came to “{tool}”. The last one: {tried[-1].error}")
    tolerance = options.get("tolerance", 0)
    lacking = [_differences(args, call, tolerance) for call in made]
    if [] in lacking:
        return passed(f"“{tool}” was called with {show(args)}.")
    closest = min(lacking, key=len)
    return failed(f"“{tool}” was not called with {show(args)}. In the closest call: {closest[0]}")


def _differences(args: Mapping[str, Any], call: ToolCall, tolerance: float) -> list[str]:
    found = call.args or {}
    sentences = []
    for name, wanted in args.items():
        difference = compare(wanted, found.get(name, MISSING), tolerance=tolerance)
        if difference is not None:
            sentences.append(difference.sentence((name,)))
    return sentences


__all__ = ["judge"]
