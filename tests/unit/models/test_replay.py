"""replay:FILE: says again what was recorded, strictly, and records what is missing when told to."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from servers.chat import ChatServer, call, says

from rollout.engine import Trace
from rollout.engine.loop import EnvironmentWorkflow
from rollout.environment import Environment, Task
from rollout.models import ConnectError, Patience, Setup, UnknownModelError, connect
from rollout.settings import ProviderSettings, Settings

ENVIRONMENT = Environment(
    slug="desk",
    name="Desk",
    template="workflow",
    config={
        "tools": [{"name": "ping", "kind": "mock", "response": "pong"}],
        "initialMutableState": {},
    },
    tasks=[Task("Ping.", id="first"), Task("Ping twice.", id="second")],
)


def run(
    model_id: str, environment: Environment = ENVIRONMENT, setup: Setup | None = None, trial: int = 0
) -> list[Trace]:
    async def through() -> list[Trace]:
        model = connect(model_id, setup)
        workflow = EnvironmentWorkflow(environment)
        traces = [await workflow.run(task, model, trial=trial) for task in environment.tasks]
        await model.close()
        return traces

    return asyncio.run(through())


def record(path: Path, traces: list[Trace]) -> None:
    path.write_text(
        "".join(json.dumps({"trace": asdict(trace)}) + "\n" for trace in traces), encoding="utf-8"
    )


def same(trace: Trace) -> Trace:
    return replace(trace, model="", seconds=0.0)


def test_a_run_is_repeated_from_its_file_and_from_its_folder(tmp_path: Path) -> None:
    traces = run("random:3")
    assert any(trace.calls for trace in traces)
    record(tmp_path / "rollouts.jsonl", traces)
    for source in (tmp_path, tmp_path / "rollouts.jsonl"):
        assert [same(trace) for trace in run(f"replay:{source}")] == [same(trace) for trace in traces]


def test_what_was_not_recorded_is_an_error_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    record(file, run("random:3")[:1])
    first, second = run(f"replay:{file}")
    assert first.failure is None
    assert second.failure is not None
    assert second.failure.charged_to == "infrastructure"
    assert "has no turn 1 of task “second” of “desk”, trial 0." in second.failure.sentence
    assert run(f"replay:{file}", trial=1)[0].failure is not None


def test_a_tool_that_answers_otherwise_now_is_the_environments_error(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    record(file, run("random:3"))
    tools = [{"name": "ping", "kind": "mock", "response": "peng"}]
    changed = replace(ENVIRONMENT, config={"tools": tools, "initialMutableState": {}})
    trace = run(f"replay:{file}", changed)[0]
    assert trace.failure is not None
    assert trace.failure.charged_to == "environment"
    assert trace.failure.sentence.startswith(
        "Before turn 2 the conversation is not the one that was recorded"
    )


def test_a_torn_last_line_counts_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    record(file, run("random:3"))
    file.write_bytes(file.read_bytes()[:-40])
    first, second = run(f"replay:{file}")
    assert first.failure is None
    assert second.failure is not None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{}\n", "is of no rollout"),
        ("not json\n{}\n", "is not JSON"),
        ('{"environment": 1, "messages": []}\n', "no rollout"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConnectError, match=f"Line 1 of .* {sentence}|{sentence}"):
        connect(f"replay:{file}")


@pytest.mark.parametrize("model_id", ["replay", "replay:", "replay/x"])
def test_an_id_without_a_file_is_refused(model_id: str) -> None:
    with pytest.raises(UnknownModelError, match="which recording"):
        connect(model_id)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="There is no recording"):
        connect(f"replay:{tmp_path / 'none.jsonl'}")


def test_what_is_missing_is_asked_once_and_recorded(tmp_path: Path) -> None:
    file = tmp_path / "kept" / "recording.jsonl"
    with ChatServer(
        [says(calls=[call("ping")]), says("Pong."), says("Done.", reasoning_content="Hm.")]
    ) as server:
        setup = Setup(Settings({"desk": ProviderSettings(server.address)}), {}, 4, Patience(attempts=1))
        recorded = run(f"replay:{file}?missing=desk/llama", setup=setup)
        assert len(server.asked) == 3
        assert [trace.final_output for trace in recorded] == ["Pong.", "Done."]
        again = run(f"replay:{file}?missing=desk/llama", setup=setup)
        assert len(server.asked) == 3
        assert [trace.messages for trace in again] == [trace.messages for trace in recorded]
    assert [trace.messages for trace in run(f"replay:{file}")] == [trace.messages for trace in recorded]


def test_a_recording_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    with ChatServer([says("One."), says("Two."), says("Three.")]) as server:
        setup = Setup(Settings({"desk": ProviderSettings(server.address)}), {}, 4, Patience(attempts=1))
        run(f"replay:{file}?missing=desk/llama", setup=setup)
        file.write_bytes(file.read_bytes()[:-10])
        traces = run(f"replay:{file}?missing=desk/llama", setup=setup)
    assert [trace.final_output for trace in traces] == ["One.", "Three."]
    assert [trace.final_output for trace in run(f"replay:{file}")] == ["One.", "Three."]


def test_a_recording_is_only_for_the_conversation_it_was_made_in(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    with ChatServer([says("One.")]) as server:
        setup = Setup(Settings({"desk": ProviderSettings(server.address)}), {}, 4, Patience(attempts=1))
        run(f"replay:{file}?missing=desk/llama", setup=setup)
    tasks = [replace(task, instruction="Pong.") for task in ENVIRONMENT.tasks]
    trace = run(f"replay:{file}", replace(ENVIRONMENT, tasks=tasks))[0]
    assert trace.failure is not None
    assert trace.failure.charged_to == "environment"


def test_an_insider_is_not_recorded(tmp_path: Path) -> None:
    with pytest.raises(UnknownModelError, match="is not recorded"):
        connect(f"replay:{tmp_path / 'a.jsonl'}?missing=oracle")


def recording(tmp_path: Path, setup: Setup) -> Path:
    file = tmp_path / "recording.jsonl"
    run(f"replay:{file}?missing=desk/llama", setup=setup)
    return file


def test_a_recording_whose_last_line_break_is_missing_goes_on_in_a_line_of_its_own(tmp_path: Path) -> None:
    with ChatServer([says("One."), says("Two."), says("Three."), says("Four.")]) as server:
        setup = Setup(Settings({"desk": ProviderSettings(server.address)}), {}, 4, Patience(attempts=1))
        file = recording(tmp_path, setup)
        file.write_bytes(file.read_bytes()[:-1])
        changed = replace(ENVIRONMENT, slug="other")
        run(f"replay:{file}?missing=desk/llama", changed, setup=setup)
    assert [trace.final_output for trace in run(f"replay:{file}")] == ["One.", "Two."]
    assert [trace.final_output for trace in run(f"replay:{file}", changed)] == ["Three.", "Four."]


@pytest.mark.parametrize("text", ["alias ll='ls -l'", '{"name": "x"}\nexport KEY=secret', "{"])
@pytest.mark.parametrize("missing", ["", "?missing=desk/llama"])
def test_a_file_of_others_is_left_as_it_is_and_not_quoted(tmp_path: Path, text: str, missing: str) -> None:
    file = tmp_path / "bashrc"
    file.write_text(text, encoding="utf-8")
    setup = Setup(Settings({"desk": ProviderSettings("http://127.0.0.1:9")}), {})
    try:
        connect(f"replay:{file}{missing}", setup)
    except ConnectError as error:
        assert not any(word in f"{error} {error.hint}" for word in ("alias", "secret"))
    else:
        # To play it alone does no harm: all of it is a line that was cut off.
        assert not missing
    assert file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("missing", ["", "?missing=desk/llama"])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path, missing: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder" / "rollouts.jsonl").mkdir(parents=True)
    setup = Setup(Settings({"desk": ProviderSettings("http://127.0.0.1:9")}), {})
    for path in (tmp_path / "pipe", tmp_path / "folder", Path("/dev/null"), Path("/dev/zero")):
        with pytest.raises(ConnectError, match=r"cannot be read: It is no file\."):
            connect(f"replay:{path}{missing}", setup)


def test_a_recording_that_becomes_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    with ChatServer([says("One.")]) as server:
        setup = Setup(Settings({"desk": ProviderSettings(server.address)}), {}, 4, Patience(attempts=1))
        model = connect(f"replay:{file}?missing=desk/llama", setup)
        os.mkfifo(file)

        async def through() -> Trace:
            try:
                return await EnvironmentWorkflow(ENVIRONMENT).run(ENVIRONMENT.tasks[0], model)
            finally:
                await model.close()

        trace = asyncio.run(through())
    assert trace.failure is not None
    assert (trace.failure.charged_to, "cannot be written" in trace.failure.sentence) == (
        "infrastructure",
        True,
    )
