"""The environment has no tasks.

There is nothing to run, to prove or to train on; a push would make an empty environment. Add at least one task,
to `tasks.jsonl` (one a line), to `tasks.yaml`, or under `tasks` in `environment.yaml`.

Before:

    tasks: []

After:

    tasks:
      - instruction: Refund order O-1 for $100.
        hidden_ground_truth: {refunds: [{order_id: O-1, amount: 100}]}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL307"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    problems: list[Problem] = []
    if not subject.is_sound("tasks") or "tasks" in subject.document.unread:
        return
    if next(iter(subject.document.tasks.read(problems)), None) is None and not problems:
        yield Finding(
            ("tasks",),
            "The environment has no tasks.",
            _way_out(subject.document.label),
        )


def _way_out(label: str) -> str:
    if label.endswith(".py"):
        return 'Give the Environment one: tasks=[Task(instruction="…", hidden_ground_truth={…})].'
    if label.endswith((".yaml", ".yml", ".toml", ".json")):
        return "Add one under “tasks”, with an “instruction” and a “hidden_ground_truth”."
    return 'Add one to tasks.jsonl: {"instruction": "…", "hidden_ground_truth": {…}}.'
