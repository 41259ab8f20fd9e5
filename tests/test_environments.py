"""The example environments are sound, hold what they promise, and judge what they say they judge."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rollout.check import Report, check
from rollout.cli import app
from rollout.compile.payload import compile_environment
from rollout.engine import Outcome, Verdict, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.engine.prove import diagnose, prove
from rollout.environment import Environment, Task
from rollout.models import connect
from rollout.source import find, read_one

ENVIRONMENTS = Path(__file__).parent.parent / "environments"
FOLDERS = sorted(path.name for path in ENVIRONMENTS.iterdir() if path.is_dir())
TASKS_AT_LEAST = {"workflow": 10, "custom": 12, "sql": 15, "code-editing": 6, "browser": 8}


@cache
def report_of(name: str) -> Report:
    return check(read_one(ENVIRONMENTS / name))


@cache
def environment(name: str) -> Environment:
    return report_of(name).environment()


def of_template(*templates: str) -> list[str]:
    return [name for name in FOLDERS if environment(name).template in templates]


def tasks_of(*templates: str) -> list[Any]:
    return [
        pytest.param(name, task, id=f"{name}/{task.key}")
        for name in of_template(*templates)
        for task in environment(name).tasks
    ]


def test_every_template_has_examples() -> None:
    templates = [environment(name).template for name in FOLDERS]
    assert len(FOLDERS) >= 10
    assert {template: templates.count(template) >= 2 for template in TASKS_AT_LEAST} == dict.fromkeys(
        TASKS_AT_LEAST, True
    )


def test_they_are_found_as_a_folder_of_environments() -> None:
    assert [path.name for path in find([str(ENVIRONMENTS)])] == FOLDERS


@pytest.mark.parametrize("name", FOLDERS)
class TestAnEnvironment:
    def test_validates_without_a_warning(self, name: str) -> None:
        assert report_of(name).diagnostics == ()

    def test_is_what_its_folder_is_called_and_says_what_it_is(self, name: str) -> None:
        here = environment(name)
        assert here.slug == name
        assert here.name != name
        assert here.description is not None and len(here.description) > 80
        assert (ENVIRONMENTS / name / "README.md").read_text(encoding="utf-8").startswith(f"# {name}\n")

    def test_has_enough_tasks_with_ids_in_every_split(self, name: str) -> None:
        tasks = environment(name).tasks
        assert len(tasks) >= TASKS_AT_LEAST[environment(name).template]
        assert {task.split for task in tasks} == {"dev", "test", "train"}
        assert all(task.id for task in tasks)
        assert len({task.id for task in tasks}) == len({task.instruction for task in tasks}) == len(tasks)

    def test_has_a_ground_truth_for_every_task_and_a_verifier(self, name: str) -> None:
        here = environment(name)
        assert here.verifier is not None
        assert all(task.hidden_ground_truth for task in here.tasks)

    def test_compiles_to_the_same_bytes_without_what_is_only_local(self, name: str) -> None:
        compiled = compile_environment(environment(name))
        again = compile_environment(check(read_one(ENVIRONMENTS / name)).environment())
        assert (compiled.data, compiled.digest) == (again.data, again.digest)
        tasks = json.loads(compiled.data)["environment"]["tasks"]
        assert {key for task in tasks for key in task} <= {
            "instruction",
            "hiddenGroundTruth",
            "split",
            "input",
        }
        assert b'"x-' not in compiled.data


def play(name: str, task: Task) -> Verdict:
    """What the verifier says of a rollout that follows the solution on ``task``."""
    here = environment(name)
    rollout = asyncio.run(
        roll_out(EnvironmentWorkflow(here, max_tool_calls=100), VerifierGrader(here), task, connect("oracle"))
    )
    return rollout.verdict


@pytest.mark.parametrize("name", of_template("workflow", "custom"))
class TestAWorkflowOrCustomEnvironment:
    def test_is_proved(self, name: str) -> None:
        proof = asyncio.run(prove(environment(name)))
        assert diagnose(report_of(name).document, proof) == []
        assert proof.tasks == len(environment(name).tasks)

    def test_fails_an_agent_that_does_the_work_of_another_task(self, name: str) -> None:
        tasks = environment(name).tasks
        mixed_up = [
            replace(task, solution=other.solution)
            for task, other in zip(tasks, [*tasks[1:], tasks[0]], strict=True)
        ]
        assert {play(name, task).outcome for task in mixed_up} == {Outcome.FAILED}

    def test_fails_an_agent_that_acts_twice(self, name: str) -> None:
        for task in environment(name).tasks:
            assert task.solution is not None
            *steps, answer = task.solution
            if environment(name).template == "workflow":
                assert (
                    play(name, replace(task, solution=[*steps, steps[-1], answer])).outcome is Outcome.FAILED
                )

    def test_uses_every_tool_in_some_solution(self, name: str) -> None:
        config = environment(name).config
        assert config is not None
        used = {step.get("tool") for task in environment(name).tasks for step in task.solution or ()}
        assert {tool["name"] for tool in config["tools"]} <= used


def told_to_agent(name: str) -> list[Any]:
    """The tools as a model is shown them."""
    tools = EnvironmentWorkflow(environment(name), max_tool_calls=100).stage.tools
    return [(tool.name, tool.description, tool.parameters) for tool in tools]


def test_the_refund_agent_is_the_same_in_both_dialects() -> None:
    names = ("refund", "refund-toml")
    tasks = [environment(name).tasks for name in names]
    assert tasks[0] == tasks[1]
    assert told_to_agent(names[0]) == told_to_agent(names[1])
    for task in tasks[0]:
        traces = [
            asyncio.run(
                roll_out(
                    EnvironmentWorkflow(environment(name), max_tool_calls=100),
                    VerifierGrader(environment(name)),
                    task,
                    connect("oracle"),
                )
            ).trace
            for name in names
        ]
        # One dialect adds the arguments in the order of the call, the other what its value says.
        assert read_answers(traces[0].messages) == read_answers(traces[1].messages)
        assert traces[0].final_state == traces[1].final_state


def read_answers(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages, with what tools answered as values."""
    return [
        {**each, "content": json.loads(each["content"])} if each["role"] == "tool" else dict(each)
        for each in messages
    ]


@pytest.mark.parametrize("name", of_template("browser"))
class TestABrowserEnvironment:
    def test_is_proved(self, name: str) -> None:
        proof = asyncio.run(prove(environment(name)))
        assert diagnose(report_of(name).document, proof) == []
        assert proof.tasks == len(environment(name).tasks)

    def test_fails_an_agent_that_does_the_work_of_another_task(self, name: str) -> None:
        tasks = environment(name).tasks
        mixed_up = [
            replace(task, solution=other.solution)
            for task, other in zip(tasks, [*tasks[1:], tasks[0]], strict=True)
        ]
        assert {play(name, task).outcome for task in mixed_up} == {Outcome.FAILED}

    def test_fails_an_agent_that_stops_before_the_last_step(self, name: str) -> None:
        cut_short = [replace(task, solution=(task.solution or [])[:-1]) for task in environment(name).tasks]
        assert {play(name, task).outcome for task in cut_short} == {Outcome.FAILED}

    def test_fails_an_agent_that_only_opens_the_last_page(self, name: str) -> None:
        verifier = environment(name).verifier
        assert verifier is not None
        (url,) = [each["url"] for each in verifier["primitives"] if each["type"] == "page_reached"]
        jump = [{"tool": "navigate", "args": {"url": url}}]
        for task in environment(name).tasks:
            assert play(name, replace(task, solution=jump)).outcome is Outcome.FAILED

    def test_passes_an_agent_that_looks_around_first(self, name: str) -> None:
        for task in environment(name).tasks:
            looks = [{"tool": "read_page"}, {"tool": "click", "args": {"element": "nope"}}]
            around = replace(task, solution=[*looks, *(task.solution or []), {"answer": "Done."}])
            assert play(name, around).outcome is Outcome.PASSED


def test_the_command_proves_the_refund_agent() -> None:
    result = CliRunner().invoke(app, ["prove", str(ENVIRONMENTS / "refund")])
    assert result.exit_code == 0, result.output
    assert "36 tasks proved" in result.output


def database(name: str) -> sqlite3.Connection:
    here = environment(name)
    connection = sqlite3.connect(":memory:")
    connection.executescript(f"PRAGMA foreign_keys = ON;\n{here.schema}\n{here.seed or ''}")
    return connection


@pytest.mark.parametrize("name", of_template("sql"))
def test_a_database_is_worth_asking(name: str) -> None:
    connection = database(name)
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = sum(connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in tables)
    assert len(tables) >= 4 and rows >= 200
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


@pytest.mark.parametrize(("name", "task"), tasks_of("sql"))
def test_a_gold_query_comes_to_the_answer_of_the_solution(name: str, task: Task) -> None:
    assert task.solution is not None
    connection = database(name)
    rows = [list(row) for row in connection.execute(task.hidden_ground_truth["query"])]
    connection.close()
    answer = task.solution[-1]["answer"]
    assert rows and rows == (answer if isinstance(answer, list) else [[answer]])


def run_tests(name: str, files: dict[str, str], folder: Path) -> int:
    """The exit code of the environment's tests over ``files``."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    config = environment(name).config
    assert config is not None
    program, *arguments = config["commands"]["test"]["command"].split()
    found = sys.executable if program == "python" else shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed here")
    # Whatever plugins of pytest are installed here are no part of the environment, and slow to load.
    variables = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        [found, *arguments], cwd=folder, env=variables, capture_output=True, timeout=60
    ).returncode


def files_of(name: str) -> dict[str, str]:
    config = environment(name).config
    assert config is not None
    return dict(config["files"])


def written(task: Task) -> dict[str, str]:
    """The files that the task's solution writes."""
    steps = [step for step in task.solution or () if step.get("tool") == "write_file"]
    return {step["args"]["path"]: step["args"]["content"] for step in steps}


@pytest.mark.parametrize("name", of_template("code-editing"))
def test_code_is_green_at_the_start_and_red_when_only_the_list_is_changed(name: str, tmp_path: Path) -> None:
    assert run_tests(name, files_of(name), tmp_path / "start") == 0
    cheating = files_of(name) | environment(name).tasks[0].hidden_ground_truth["files"]
    assert run_tests(name, cheating, tmp_path / "cheating") != 0


@pytest.mark.parametrize(("name", "task"), tasks_of("code-editing"))
def test_a_solution_passes_the_tests_and_matches_the_ground_truth(
    name: str, task: Task, tmp_path: Path
) -> None:
    final = files_of(name) | written(task)
    assert task.hidden_ground_truth["files"].items() <= final.items()
    assert not task.hidden_ground_truth["files"].items() <= files_of(name).items()
    assert run_tests(name, final, tmp_path) == 0


@pytest.mark.parametrize(("name", "task"), tasks_of("browser"))
def test_a_ground_truth_of_a_site_differs_from_its_start(name: str, task: Task) -> None:
    config = environment(name).config
    assert config is not None
    start, truth = config["initialState"], task.hidden_ground_truth
    assert truth.keys() <= start.keys()
    assert all(truth[key] != start[key] for key in truth)
