"""A placeholder reads a part of the task's input that a task does not have.

`${task.input.today}` is filled in from the `input` of the task that is run. In a task without it every call of the
tool fails, and the agent can do nothing about it. Add it to the task's input, or take the placeholder out.

Before:

    # a tool has  value: {date: "${task.input.today}"}
    {"instruction": "Refund O-1.", "hidden_ground_truth": {"day": "2025-03-14"}}

After:

    {"instruction": "Refund O-1.", "input": {"today": "2025-03-14"}, "hidden_ground_truth": {"day": "2025-03-14"}}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import Read, ToolView
from rollout.check.wording import closest, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.language.paths import MISSING, Step, get, write

CODE = "RL339"
SEVERITY = Severity.ERROR

_MOST = 1_000


def check(subject: Subject) -> Iterator[Finding]:
    wanted: dict[tuple[Step, ...], tuple[ToolView, Read]] = {}
    for tool in subject.tool_views:
        for read in tool.reads:
            if subject.calculates(read.route, read.text):
                continue
            if read.root == "task" and ("task", read.steps) not in tool.asked_for:
                wanted.setdefault(read.steps, (tool, read))
    if not wanted:
        return
    lacking: dict[tuple[Step, ...], list[int]] = {steps: [] for steps in wanted}
    given: set[tuple[Step, ...]] = set()
    names: set[str] = set()
    for record in subject.document.tasks.read([]):
        known = record.value.get("input")
        names |= known.keys() if isinstance(known, dict) and len(names) < _MOST else set()
        for steps, without in lacking.items():
            if get({"input": known if isinstance(known, dict) else {}}, steps) is not MISSING:
                given.add(steps)
            elif len(without) < _MOST:
                without.append(record.index)
    for steps, without in lacking.items():
        tool, read = wanted[steps]
        if without and steps not in given:
            near = closest(str(steps[1]), sorted(names)) if len(steps) > 1 else None
            meant = write(["input", near or "", *steps[2:]])
            yield Finding(
                read.route,
                f"{quoted(read.text)} is in no task's input, so the tool {tool} can never be called.",
                suggestion(near, str(steps[1]), read.instead(f"task.{meant}"))
                if near
                else "Add it to the input of every task.",
                at=read.at,
                span=read.span(subject),
            )
            continue
        for index in without:
            yield Finding(
                ("tasks", index, "input"),
                f"The tool {tool} reads {quoted(read.text)}, which this task's input does not have.",
                f"Add {quoted(write(steps[1:]) or 'input')} to the task's input.",
                at="key",
                see=((read.route, "the placeholder" if read.text.startswith("$") else "read here"),),
            )
