"""A task's ground truth has nothing at the path that a primitive reads.

A primitive such as `output_equals` with `groundTruth: answer` looks for what is right in each task's ground truth.
A task without it cannot be judged: every rollout of it would end in an error.

Before:

    {"instruction": "How many?", "hidden_ground_truth": {"anwser": 42}}

After:

    {"instruction": "How many?", "hidden_ground_truth": {"answer": 42}}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.grading import also_reads, ground_truth_path, is_foreign, judging, parsed
from rollout.check.subject import Subject
from rollout.check.wording import closest, did_you_mean, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.language.paths import MISSING, Path, get
from rollout.source.document import TaskRecord

CODE = "RL518"
SEVERITY = Severity.ERROR

_QUERY = re.compile(r"\s*(?:SELECT|WITH|VALUES)\b", re.IGNORECASE)


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    wanted: dict[Path, tuple[str, tuple[str, ...], bool]] = {}
    for primitive in judging(subject):
        if is_foreign(subject, primitive):
            continue  # it would look in vain whatever the ground truth holds, which another rule tells
        written = ground_truth_path(primitive, subject.template)
        path = parsed(written) if written else None
        if path is not None:
            kind = str(primitive.value.get("type"))
            also = () if "groundTruth" in primitive.value else also_reads().get(kind, ())
            is_own = "groundTruth" in primitive.value
            wanted[path] = str(primitive.value.get("name")), also, is_own
    if not wanted:
        return None

    def judge(record: TaskRecord) -> Iterator[Finding]:
        truth = record.ground_truth
        if not isinstance(truth, dict) or not truth:
            return  # a task without any ground truth is another defect
        key = "hidden_ground_truth" if "hidden_ground_truth" in record.value else "hiddenGroundTruth"
        for path, (name, also, is_own) in wanted.items():
            if get(truth, path.steps) is MISSING and not any(part in truth for part in also):
                meant = None if is_own else _misnamed(truth, (path.text, *also))
                yield Finding(
                    ("tasks", record.index, key, *meant[:1]) if meant else ("tasks", record.index, key),
                    f"The ground truth has nothing at {quoted(path.text)}, where {quoted(name)} looks for it.",
                    suggestion(meant[1], meant[0])
                    if meant
                    else _way_out(subject, path, truth, is_own=is_own),
                    at="key" if meant else "value",
                )

    return judge


def _misnamed(truth: dict[str, Any], known: tuple[str, ...]) -> tuple[str, str] | None:
    """The key of a ground truth that stands for one of those that are looked for, and that one."""
    for name, value in truth.items():
        near = closest(name, known)
        if near is None and "query" in known and isinstance(value, str) and _QUERY.match(value):
            near = "query"
        if near is not None:
            return name, near
    return None


def _way_out(subject: Subject, path: Path, truth: dict[str, Any], *, is_own: bool) -> str:
    names = tuple(truth)
    if path.text == "files" and closest("files", names) is None and _are_files(subject, truth):
        return f"The files go under “files”: {{files: {{{names[0]}: …}}}}."
    near = did_you_mean(str(path.steps[0]), names, kind="parts of the ground truth") if is_own else None
    return near or f"Add {quoted(path.text)} to it."


def _are_files(subject: Subject, truth: dict[str, Any]) -> bool:
    return any(name in subject.files or "." in name or "/" in name for name in truth)
