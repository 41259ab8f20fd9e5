"""tool_call_count: the number of calls, of one tool or of all, is within bounds.

A call counts when it came to the tool, whatever the tool answered; one that never came to it, because there is no
such tool or it does not take such arguments, does not, but the reason tells of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.verifiers import CannotJudgeError, Case, Judgement, failed, passed
from rollout.verifiers._made_calls import made_calls, strayed, times


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when there were at least ``min`` and at most ``max`` calls, else 0."""
    tool, least, most = options.get("tool"), options.get("min"), options.get("max")
    if least is None and most is None:
        raise CannotJudgeError("There is neither “min” nor “max”.")
    if least is not None and most is not None and least > most:
        raise CannotJudgeError(f"“min” is {least} and “max” is {most}: no number is between them.")
    count = len(made_calls(case, tool))
    if tool is not None:
        found = f"“{tool}” was {f'called {times(count)}' if count else 'never called'}"
    else:
        found = "There was one call" if count == 1 else f"There were {count or 'no'} calls"
    lost = strayed(case, tool)
    if (least is not None and count < least) or (most is not None and count > most):
        return failed(f"{found}; expected: {_bounds(least, most)}.{lost}")
    return passed(f"{found}; expected: {_bounds(least, most)}.{lost}")


def _bounds(least: int | None, most: int | None) -> str:
    if least == most:
        return f"exactly {least}"
    if most is None:
        return f"at least {least}"
    if least is None:
        return f"at most {most}"
    return f"{least} to {most}"


__all__ = ["judge"]
