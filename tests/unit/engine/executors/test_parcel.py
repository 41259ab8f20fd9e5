"""What travels to a worker arrives as it was sent, and keys only in the half that nobody keeps."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.check import check
from rollout.engine.batch import Batch, Done, Job
from rollout.engine.budget import Budget
from rollout.engine.executors import Recipe
from rollout.engine.executors._parcel import (
    inputs_of,
    pack,
    pack_task,
    read_done,
    unpack,
    unpack_task,
)
from rollout.engine.rollout_line import encode
from rollout.engine.stored import StoredError
from rollout.environment import Environment, Task
from rollout.models import ConnectError, Patience, Sampling, Setup
from rollout.settings import Price, ProviderSettings, Settings
from rollout.source import read

ROOT = Path(__file__).parents[4]
EXAMPLES = sorted(path.parent for path in (ROOT / "environments").glob("*/environment.*"))
LETTERS = ROOT / "tests" / "cases" / "executors" / "letters"

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def environment(folder: Path) -> Environment:
    (document,) = read(folder)
    return check(document).environment()


@pytest.mark.parametrize("folder", [*EXAMPLES, LETTERS], ids=lambda folder: folder.name)
def test_an_environment_arrives_as_it_was_sent(folder: Path, tmp_path: Path) -> None:
    sent = Recipe(environment(folder), "oracle", Sampling(0.5, seed=3), 7, 9.5, sandbox="none")
    arrived, inputs = unpack(pack(sent), tmp_path, concurrency=4)
    assert arrived.environment == replace(sent.environment, tasks=[])
    assert inputs == inputs_of(arrived) == inputs_of(sent)
    assert (arrived.sampling, arrived.max_tool_calls, arrived.seconds) == (Sampling(0.5, seed=3), 7, 9.5)
    assert (arrived.sandbox, arrived.setup.concurrency) == ("none", 4)


def test_the_files_of_functions_that_judge_are_laid_down(tmp_path: Path) -> None:
    arrived, _ = unpack(pack(Recipe(environment(LETTERS), "oracle")), tmp_path, concurrency=1)
    assert arrived.environment.folder == tmp_path
    for name in ("judging/grade.py", "judging/words.py", "environment.yaml"):
        assert (tmp_path / name).read_bytes() == (LETTERS / name).read_bytes()


def test_an_environment_from_no_folder_has_none_there_either(tmp_path: Path) -> None:
    sent = Recipe(replace(environment(LETTERS), folder=None), "noop")
    arrived, _ = unpack(pack(sent), tmp_path, concurrency=1)
    assert arrived.environment.folder is None


def test_of_all_variables_only_those_that_were_read_travel_and_only_in_the_private_half(
    tmp_path: Path,
) -> None:
    judged = environment(LETTERS)
    judge = {"name": "tone", "type": "llm_judge", "model": "together/large", "rubric": "Is it kind?"}
    judged.verifier = {"primitives": [judge]}
    settings = Settings(
        {"desk": ProviderSettings("https://desk.example/v1", "DESK_KEY", {"X-Team": "${env.TEAM_TOKEN}"})},
        {"desk/small": Price(1.0, 2.0)},
    )
    variables = {
        "DESK_KEY": "secret-1",
        "TEAM_TOKEN": "secret-2",
        "TOGETHER_API_KEY": "secret-3",
        "HOME": "/h",
    }
    setup = Setup(settings, variables, patience=Patience(call=7.0))
    parcel = pack(Recipe(judged, "desk/small", setup=setup))
    arrived, _ = unpack(parcel, tmp_path, concurrency=1)
    assert dict(arrived.setup.environ) == {name: variables[name] for name in variables if name != "HOME"}
    assert (arrived.setup.settings, arrived.setup.patience) == (settings, Patience(call=7.0))
    assert not any(secret.encode() in parcel.data for secret in variables.values())
    assert "secret" not in repr(parcel)
    assert arrived.furnish().model.id == "desk/small"


def test_a_model_that_cannot_be_had_here_is_not_asked_for_elsewhere() -> None:
    with pytest.raises(ConnectError, match="OPENAI_API_KEY is not set"):
        pack(Recipe(environment(LETTERS), "openai/gpt-4o-mini", setup=Setup(environ={})))


@given(
    instruction=st.text(),
    truth=st.dictionaries(st.text(), json_values, max_size=3),
    given_input=st.none() | st.dictionaries(st.text(), json_values, max_size=3),
    solution=st.none() | st.lists(st.dictionaries(st.text(), json_values, max_size=2), max_size=2),
    name=st.none() | st.text(min_size=1),
)
def test_a_task_arrives_as_it_was_sent(
    instruction: str, truth: Any, given_input: Any, solution: Any, name: str | None
) -> None:
    task = Task(instruction, truth, given_input, "test", id=name, solution=solution)
    arrived = unpack_task(pack_task(task))
    assert arrived == task
    assert repr(arrived) == repr(task)


async def finished(recipe: Recipe, task: Task) -> Done:
    made = recipe.furnish()
    done = await Batch(made.workflow, made.grader, made.model, budget=Budget()).one(Job(task, 2))
    await made.close()
    assert done is not None
    return done


@pytest.mark.parametrize("model", ["oracle", "random:5", "noop"])
@pytest.mark.parametrize("folder", [*EXAMPLES, LETTERS], ids=lambda folder: folder.name)
def test_a_rollout_that_comes_back_has_the_very_line_it_was_sent_as(folder: Path, model: str) -> None:
    recipe = Recipe(environment(folder), model)
    done = asyncio.run(finished(recipe, recipe.environment.tasks[0]))
    line = encode(done).data
    again = read_done(done.job, line)
    assert again.rollout == done.rollout
    assert encode(again).data == line


def test_a_line_of_another_rollout_is_not_taken() -> None:
    recipe = Recipe(environment(LETTERS), "oracle")
    done = asyncio.run(finished(recipe, recipe.environment.tasks[0]))
    with pytest.raises(StoredError, match="is of another rollout: “ada”, trial 2"):
        read_done(Job(done.job.task, 1), encode(done).data)
