"""The example environments of code-editing are not passed by work that was not done: `tests/cases/forgeries/NAME/`.

A folder has the files that an agent writes in the place of a solution; what the ground truth's `files` say is written
as well, since that is what tells the tasks apart and needs no skill.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from rollout.check import check
from rollout.engine import Outcome, Verdict, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.environment import Environment, Task
from rollout.models import connect
from rollout.source import read_one

ENVIRONMENTS = Path(__file__).parent.parent / "environments"
FORGERIES = Path(__file__).parent / "cases" / "forgeries"


def play(environment: Environment, task: Task) -> Verdict:
    rollout = asyncio.run(
        roll_out(EnvironmentWorkflow(environment), VerifierGrader(environment), task, connect("oracle"))
    )
    return rollout.verdict


@pytest.mark.parametrize("name", sorted(path.name for path in FORGERIES.iterdir()))
def test_a_forgery_passes_no_task(name: str) -> None:
    folder = FORGERIES / name
    written = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    environment = check(read_one(ENVIRONMENTS / name)).environment()
    for task in environment.tasks[:4]:
        files = {**written, **task.hidden_ground_truth["files"]}
        forged = [
            {"tool": "write_file", "args": {"path": path, "content": content}}
            for path, content in files.items()
        ]
        verdict = play(environment, replace(task, solution=[*forged, {"answer": "Done."}]))
        marks = {mark.name: mark.value for mark in verdict.marks}
        assert (verdict.outcome, marks) == (Outcome.FAILED, {"off the list": 1.0, "tests pass": 0.0})
