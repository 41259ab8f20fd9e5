"""tool_order: the tools were called in this order; other calls may stand between.

A tool that is named twice has to be called twice. A call counts when it came to the tool, whatever the tool answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.verifiers import CannotJudgeError, Case, Judgement, failed, passed
from rollout.verifiers._made_calls import listed, made_calls, strayed


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the tools were called one after the other, else 0 with the first that has no call in its place."""
    wanted = options["tools"]
    if not wanted:
        raise CannotJudgeError("“tools” names no tool.")
    called = [call.tool for call in made_calls(case)]
    rest = iter(called)
    for place, tool in enumerate(wanted):
        if tool in rest:
            continue
        lost = strayed(case, tool)
        if not place:
            return failed(f"“{tool}” was not called; called: {listed(called)}.{lost}")
        before = listed(wanted[:place])
        return failed(
            f"“{tool}” was not called after {before}; called, in this order: {listed(called)}.{lost}"
        )
    return passed(f"{listed(wanted)} were called in this order.")


__all__ = ["judge"]
