"""A ground truth names a file that the environment does not have.

The final files are compared with those of the ground truth. A file that is neither among `files` nor named by the
task or its solution is most likely misspelt, and then no agent can ever match it. Mend the path; where the task is
to make a new file, name the file in the instruction, so that the agent can know it too.

Before:

    {"instruction": "Mend parse().", "hidden_ground_truth": {"files": {"src/parser.py": "…"}}}

After:

    {"instruction": "Mend parse().", "hidden_ground_truth": {"files": {"src/parse.py": "…"}}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.known import keys_are_known
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity
from rollout.language.project_path import path_fault
from rollout.source.document import TaskRecord

CODE = "RL360"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if subject.template != "code-editing" or not keys_are_known(subject, "config", "files"):
        return None
    files = subject.files
    possible = tuple(path for path in files if path_fault(path) is None)

    def judge(record: TaskRecord) -> Iterator[Finding]:
        truth = record.ground_truth
        wanted = truth.get("files") if isinstance(truth, dict) else None
        for path in wanted if isinstance(wanted, dict) else ():
            if path in files or path_fault(path) is not None or _is_announced(path, record):
                continue
            key = "hidden_ground_truth" if "hidden_ground_truth" in record.value else "hiddenGroundTruth"
            yield Finding(
                ("tasks", record.index, key, "files", path),
                f"The ground truth names a file {quoted(path)} that is not among files.",
                did_you_mean(path, possible, kind="files")
                or "Where the task is to make it, name it in the instruction.",
                at="key",
            )

    return judge


def _is_announced(path: str, record: TaskRecord) -> bool:
    name = path.rpartition("/")[2]
    if name and name in str(record.value.get("instruction", "")):
        return True
    steps = record.value.get("solution")
    return any(
        isinstance(step, dict) and isinstance(step.get("args"), dict) and step["args"].get("path") == path
        for step in (steps if isinstance(steps, list) else ())
    )
