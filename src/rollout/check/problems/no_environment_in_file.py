"""A Python file makes no environment.

Every `Environment` that one of the file's variables holds is read, also in a list, a tuple or the values of a dict.
One that only a function returns, or that is made under `if __name__ == "__main__":`, is not there when the file is
read.

Before:

    def make():
        return Environment(slug="refund", name="Refund", template="workflow", config={"tools": []})

After:

    def make():
        return Environment(slug="refund", name="Refund", template="workflow", config={"tools": []})

    env = make()
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL141"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    hint = "Give one to a variable of the file: env = Environment(…)"
    if problem.facts["has_main"]:
        hint = 'What stands under if __name__ == "__main__": is not run. ' + hint
    return "None of the variables of this file holds an Environment.", hint


__all__ = ["CODE", "SEVERITY", "describe"]
