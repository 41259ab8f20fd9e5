"""no_tool_errors: no tool call came back with an error. A rollout without any call passes this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.verifiers import Case, Judgement, failed, passed


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when no call failed, else 0 with the first error."""
    errors = [call for call in case.calls if call.error is not None]
    if errors:
        if len(case.calls) == 1:
            return failed(f"The one call, of “{errors[0].tool}”, failed: {errors[0].error}")
        count = f"{len(errors)} of {len(case.calls)} calls"
        return failed(f"{count} failed. The first, of “{errors[0].tool}”: {errors[0].error}")
    if not case.calls:
        return passed("No tool was called, so none failed.")
    return passed(
        f"None of {len(case.calls)} calls failed." if len(case.calls) > 1 else "The one call did not fail."
    )


__all__ = ["judge"]
