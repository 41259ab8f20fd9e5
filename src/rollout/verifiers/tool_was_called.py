"""tool_was_called: the agent called a tool at least once, whatever came of it.

With ``args`` a call must have had exactly these arguments; ``{}`` means called with none, leaving it out means any.
A call that never came to the tool, because of its arguments, does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.compare import compare, show
from rollout.verifiers import Case, Judgement, failed, passed


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when such a call was made, else 0."""
    tool = options["tool"]
    calls = [call for call in case.calls if call.tool == tool]
    if not calls:
        others = ", ".join(sorted({f"“{call.tool}”" for call in case.calls})) or "no tool at all"
        return failed(f"“{tool}” was not called; called: {others}.")
    made = [call for call in calls if call.ran]
    if not made:
        return failed(f"No call came to “{tool}”. The last one: {calls[-1].error}")
    if "args" not in options:
        return passed(f"“{tool}” was called {_times(len(made))}.")
    differences = [compare(options["args"], call.args) for call in made]
    if None in differences:
        return passed(f"“{tool}” was called with {show(options['args'])}.")
    last = differences[-1]
    assert last is not None
    return failed(
        f"“{tool}” was not called with {show(options['args'])}. In the last call: {last.sentence()}"
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


__all__ = ["judge"]
