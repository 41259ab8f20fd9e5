"""What runs is what compiles: a copy that was compiled and unpacked comes to the same, down to what the model reads."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from rollout.check import check
from rollout.compile.payload import compile_environment, environment_of
from rollout.compile.spread import spread
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.engine.toolbox import read_arguments
from rollout.environment import Environment
from rollout.models import connect
from rollout.source import read_one
from rollout.verifiers import Case
from rollout.verifiers.python import told_case

EXAMPLES = sorted(
    path.parent for path in (Path(__file__).parents[3] / "environments").glob("*/environment.*")
)
FLOATS = """
template: workflow
description: "Written by hand.\\n"
config:
  description: A desk.
  x-note: not sent
  tools:
    - {name: get, kind: lookup, fromArray: orders, matchField: id, paramsSchema: {id: number}}
    - {name: add, kind: action, stateArray: out, paramsSchema: {id: number, n: number}}
    - {name: tell, kind: mock, response: {b: 1, a: 2.0}, paramsSchema: {}}
  fixtures:
    orders: [{id: 1.0, b: 2.50, a: [3.0, {z: 1, y: -0.0}]}]
  initialMutableState: {out: [], b: {d: 4.0, c: 1e20}}
tasks:
  - instruction: Do it.
    id: one
    input: {z: 1, a: 2.0}
    hidden_ground_truth: {out: [{n: 4.0, id: 1.0}]}
    solution: [{tool: get, args: {id: 1.0}}, {tool: tell, args: {}}, {tool: add, args: {n: 4.0, id: 1.0}}]
verifier:
  passThreshold: 1.0
  primitives:
    - {type: state_match, name: it, not: false, expected: {"out[0].n": 4.0, b: {d: 4.0, c: 1e20}}}
"""


def environment_at(folder: Path) -> Environment:
    return check(read_one(folder)).environment()


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def in_words(value: Any) -> str:
    """A value as text, in which 1.0 is not 1 and the order of keys shows."""
    return json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_an_environment_is_run_as_it_compiles(folder: Path) -> None:
    environment = environment_at(folder)
    compiled = compile_environment(environment)
    assert in_words(environment.to_payload()) == in_words(compiled.environment)
    assert in_words(environment.verifier) == in_words(compiled.verifier)


def test_an_unpacked_copy_comes_to_the_same_to_the_letter(tmp_path: Path) -> None:
    here = environment_at(written(tmp_path / "desk", {"environment.yaml": FLOATS}))
    compiled = compile_environment(here)
    payload = {"environment": compiled.environment, "verifier": compiled.verifier}
    unpacked = environment_at(written(tmp_path / "copy" / "desk", spread(payload)))
    lines = []
    for environment in (here, unpacked, environment_of(payload)):
        task = environment.tasks[0]
        # They are the author's own, and never leave the machine.
        task.id, task.solution = "one", here.tasks[0].solution
        workflow, grader = EnvironmentWorkflow(environment), VerifierGrader(environment)
        trace = asyncio.run(workflow.run(task, connect("oracle")))
        verdict = asyncio.run(grader.grade(task, trace))
        told = told_case(Case(task, trace.template, trace.initial_state, trace.final_state, "", trace.calls))
        lines.append(in_words([list(trace.messages), told, str(verdict.outcome), verdict.score]))
    assert lines[0] == lines[1] == lines[2]
    assert '\\"a\\":[3,{\\"y\\":0,\\"z\\":1}]' in lines[0]
    assert "passed" in lines[0]


def test_a_whole_float_among_arguments_is_an_int_and_keys_stay_in_their_order() -> None:
    text = '{"n": 4.0, "list": [1e2, {"z": -0.0, "a": 2.5}], "large": 1e300}'
    wanted = {"n": 4, "list": [100, {"z": 0, "a": 2.5}], "large": 1e300}
    assert in_words(read_arguments(text)) == in_words(wanted)
