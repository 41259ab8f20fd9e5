"""tool_not_called: the agent never called a tool.

It is the opposite of ``tool_was_called``: a call that never came to the tool, because of its arguments, did nothing
and does not count, but the reason tells of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.compare import show
from rollout.verifiers import Case, Judgement, failed, passed
from rollout.verifiers._made_calls import made_calls, times


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when no call came to the tool, else 0 with the first."""
    tool = options["tool"]
    made = made_calls(case, tool)
    if made:
        return failed(f"“{tool}” was called {times(len(made))}, first with {show(made[0].args)}.")
    lost = sum(call.tool == tool for call in case.calls)
    tried = f" The agent tried {times(lost)}, with arguments that it does not take." if lost else ""
    return passed(f"“{tool}” was not called.{tried}")


__all__ = ["judge"]
