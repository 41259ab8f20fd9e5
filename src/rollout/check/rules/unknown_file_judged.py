"""A `files_match` primitive names a file that the environment does not have.

The files are judged for every task alike. One that is not there at the start must be made by the agent in every
task, which is rarely meant: most often the path is misspelt. Where it is meant, allow this line and say why,
with `# rollout: allow unknown-file-judged — every task has it made`.

Before:

    - {name: version, type: files_match, files: {VERSON: "2.0.0\n"}}

After:

    - {name: version, type: files_match, files: {VERSION: "2.0.0\n"}}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.known import keys_are_known
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity
from rollout.language.project_path import path_fault

CODE = "RL505"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template != "code-editing" or not keys_are_known(subject, "config", "files"):
        return
    possible = tuple(path for path in subject.files if path_fault(path) is None)
    for primitive in subject.primitives:
        files = primitive.value.get("files")
        if primitive.value.get("type") != "files_match" or not isinstance(files, dict):
            continue
        for path, content in files.items():
            if path not in subject.files and content is not None and path_fault(path) is None:
                yield Finding(
                    (*primitive.route, "files", path),
                    f"There is no file {quoted(path)} at the start, and every task is judged on it.",
                    did_you_mean(path, possible, kind="files"),
                    at="key",
                )
