"""An environment file does not hold an object.

The file that says what the environment is has keys at its top: `template`, `name`, `tasks` and so on. A list, a text
or a number there says nothing. In YAML this happens when the keys begin with dashes.

Before:

    - template: workflow
    - name: Refund agent

After:

    template: workflow
    name: Refund agent
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL135"
SEVERITY = Severity.ERROR

_KINDS = {
    "list": "a list",
    "str": "text",
    "int": "a number",
    "float": "a number",
    "bool": "a truth value",
    "NoneType": "nothing",
}


def describe(problem: Problem) -> tuple[str, str | None]:
    kind = _KINDS.get(problem.facts["type"], "something else")
    hint = "Write keys at the top of the file: template: workflow"
    if kind == "a list":
        hint = (
            'Take the outer brackets away, so that the file is one object: {"template": "workflow", …}'
            if problem.span.path.endswith(".json")
            else "Take the dashes away, so that the keys stand at the top of the file: template: workflow"
        )
    return f"This file holds {kind} where the keys of an environment are expected.", hint


__all__ = ["CODE", "SEVERITY", "describe"]
