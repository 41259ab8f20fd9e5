"""Compares the files that an agent left with those that were expected, text by text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.verifiers import CannotJudgeError, Case, Judgement, absent, failed
from rollout.verifiers._differences import told

_MOST_SHOWN = 60


def files_of(state: Mapping[str, Any]) -> dict[str, str]:
    """The files of a state. Raises CannotJudgeError when it has none."""
    files = state.get("files")
    if not isinstance(files, dict):
        raise CannotJudgeError("The final state has no files; only a code-editing environment has.")
    return files


def difference(wanted: Mapping[str, Any], final: Mapping[str, str]) -> Judgement | None:
    """The judgement on files that are not as expected, None where all are; None as a content means no file."""
    lost: dict[str, str] = {}
    found: dict[str, str] = {}
    for path, content in wanted.items():
        if content is not None and not isinstance(content, str):
            raise CannotJudgeError(f"What is expected of “{path}” is neither a text nor null.")
        left = final.get(path)
        if left == content:
            continue
        if content is None:
            found[path] = f"“{path}” is still there."
        elif left is None:
            lost[path] = f"There is no file “{path}”."
        else:
            found[path] = f"“{path}” is not as expected. {_first_difference(content, left)}"
    if lost:
        return absent(told(lost | found))
    return failed(told(found)) if found else None


def unasked(
    wanted: Mapping[str, Any], start: Mapping[str, str], final: Mapping[str, str]
) -> Judgement | None:
    """The judgement on files that were changed without being named, or None."""
    found: dict[str, str] = {}
    for path in sorted(start.keys() | final.keys()):
        if path not in wanted and start.get(path) != final.get(path):
            did = "deleted" if path not in final else "changed" if path in start else "made"
            found[path] = f"The ground truth does not name “{path}”, but it was {did}."
    return failed(told(found)) if found else None


def judged_files(case: Case) -> dict[str, Any]:
    """The files of the ground truth. Raises CannotJudgeError when it names none."""
    wanted = case.ground_truth.get("files")
    if not isinstance(wanted, dict) or not wanted:
        raise CannotJudgeError("The task's hidden_ground_truth names no files.", charged_to="environment")
    return wanted


def _first_difference(wanted: str, left: str) -> str:
    if wanted.rstrip("\n") == left.rstrip("\n"):
        return "Only the line breaks at its end differ."
    if wanted.replace("\r\n", "\n") == left.replace("\r\n", "\n"):
        return "Only the kind of line breaks differs."
    ours, theirs = wanted.split("\n"), left.split("\n")
    for number, (expected, found) in enumerate(zip(ours, theirs, strict=False), start=1):
        if expected != found:
            return f"Line {number} is {_shown(found)}, not {_shown(expected)}."
    if len(theirs) < len(ours):
        return f"It ends after line {len(theirs)}; {_shown(ours[len(theirs)])} is missing."
    return f"It goes on after line {len(ours)} with {_shown(theirs[len(ours)])}."


def _shown(line: str) -> str:
    return f"“{line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 1] + '…'}”"


__all__ = ["difference", "files_of", "judged_files", "unasked"]
