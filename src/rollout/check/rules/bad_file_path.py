"""A file of a code-editing environment has a path that there cannot be.

Paths are relative to the project's folder, their steps parted by `/`, and stay inside: no `/` at the beginning, no
`..`, no empty step, no backslash. A path cannot be both a file and a folder. It holds for `files` and `hidden`, for the
`files` and `tests` of a ground truth, and for the `files` of a `files_match`. An environment with such a path is not
run.

Before:

    files: {/src/main.py: "print(1)\n"}

After:

    files: {src/main.py: "print(1)\n"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from posixpath import normpath
from typing import Any

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.project_path import file_above, path_fault
from rollout.source.document import TaskRecord
from rollout.source.folder import leaves_folder
from rollout.source.place import Route

CODE = "RL362"
SEVERITY = Severity.ERROR

_WAY_OUT = "Write it as it is seen from the project's folder, such as src/main.py."


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template != "code-editing":
        return
    for key in ("files", "hidden"):
        yield from _findings(subject.config.get(key), ("config", key))
    for primitive in subject.primitives:
        if primitive.value.get("type") == "files_match":
            yield from _findings(primitive.value.get("files"), (*primitive.route, "files"))


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if subject.template != "code-editing":
        return None

    def judge(record: TaskRecord) -> Iterator[Finding]:
        truth = record.ground_truth
        key = "hidden_ground_truth" if "hidden_ground_truth" in record.value else "hiddenGroundTruth"
        for name in ("files", "tests"):
            if isinstance(truth, dict):
                yield from _findings(truth.get(name), ("tasks", record.index, key, name))

    return judge


def _way_out(path: str) -> str:
    straight = normpath(path) if path else ""
    if path != straight and path_fault(straight) is None:
        return f"Write it as {quoted(straight)}."
    return _WAY_OUT


def _findings(files: Any, route: Route) -> Iterator[Finding]:
    if not isinstance(files, dict):
        return
    there = {path for path, content in files.items() if content is not None}
    for path in files:
        if route[:1] == ("config",) and leaves_folder(path):
            continue  # path-leaves-folder has told it
        if (fault := path_fault(path)) is not None:
            yield Finding((*route, path), fault, _way_out(path), at="key")
        elif path in there and (above := file_above(path, there)) is not None:
            yield Finding(
                (*route, path),
                f"{quoted(above)} is a file, so there cannot be a file {quoted(path)}.",
                "Give one of the two another name.",
                at="key",
            )
