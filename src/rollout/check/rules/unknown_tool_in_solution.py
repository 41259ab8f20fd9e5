"""A step of a solution calls a tool that the environment does not have.

The oracle plays the solution back to prove that the task can be solved. A call of a tool that is not there proves
nothing but the misspelling.

Before:

    "solution": [{"tool": "refnd", "args": {"order_id": "O-1", "amount": 100}}]

After:

    "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.solution_screen import may_hold_solution
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, listed, quoted
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL308"
SEVERITY = Severity.ERROR


screen = may_hold_solution


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if subject.template is None or not subject.tools_are_known:
        return None
    names = subject.tool_names
    if not names and subject.fixed_tools == frozenset() and not subject.is_stateful:
        # The template's own tools are not listed in its schema.
        return None

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        steps = record.value.get("solution")
        if not steps:
            return None
        for step in steps:
            if "tool" in step and step["tool"] not in names:
                return list(_findings(record, names))
        return None

    return judge


def _findings(record: TaskRecord, names: frozenset[str]) -> Iterator[Finding]:
    for index, step in enumerate(record.value["solution"]):
        if "tool" in step and step["tool"] not in names:
            yield Finding(
                ("tasks", record.index, "solution", index, "tool"),
                f"There is no tool {quoted(step['tool'])}.",
                did_you_mean(step["tool"], sorted(names), kind="tools")
                or (f"The only tool is {listed(names)}." if names else "Declare it in config.tools."),
            )
