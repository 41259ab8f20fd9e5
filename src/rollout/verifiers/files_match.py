"""files_match: the final files have the expected content, to the character.

``files`` maps paths to contents, the ground truth's ``files`` unless given; null is for a file that must not be there.
Files that are not named are not looked at. A file that is not there fails, and so it does under ``not``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.verifiers import CannotJudgeError, Case, Judgement, passed
from rollout.verifiers._expected_files import difference, files_of, judged_files


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when every file that is named is as expected, else 0 with the first that is not."""
    wanted = options.get("files")
    if wanted is None:
        wanted = judged_files(case)
    if not wanted:
        raise CannotJudgeError("“files” names no file.")
    final = files_of(case.final_state)
    if (found := difference(wanted, final)) is not None:
        return found
    named = [f"“{path}”" for path in wanted]
    shown = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    return passed(f"{shown} {'is' if len(named) == 1 else 'are'} as expected.")


__all__ = ["judge"]
