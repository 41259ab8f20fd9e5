"""An environment's folder holds more than an environment should.

More than 10,000 files and folders, or more than 64 MB of text in `files/`: most likely a folder of dependencies or of
build results came in by mistake. Hidden folders, `node_modules` and `__pycache__` are left out by themselves. Delete
what does not belong, or move it out of the folder.

Before:

    $ ls environments/fix-parser/files
    build/  src/  vendor/

After:

    $ ls environments/fix-parser/files
    src/
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL137"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    limit = problem.facts["limit"]
    what = {
        "entries": f"There are more than {limit:,} files and folders in this environment.",
        "depth": f"Folders lie inside each other more than {limit} deep here.",
        "bytes": f"The texts of this folder come to more than {limit // 2**20} MB together.",
    }[problem.facts["kind"]]
    return what, "Move what does not belong to the environment out of its folder."


__all__ = ["CODE", "SEVERITY", "describe"]
