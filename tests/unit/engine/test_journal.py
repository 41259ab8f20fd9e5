"""The folder of a run: what is counted as done is on the disk, once, whatever happens to the process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from servers.chat import ChatServer, Connection, says

from rollout.engine import Outcome, Rollout, Trace, Verdict
from rollout.engine.batch import Done, Job
from rollout.engine.journal import Journal
from rollout.engine.rollout_line import Key, encode, read_line
from rollout.engine.run_folder import JournalError, index, read_rollouts
from rollout.engine.stored import from_json
from rollout.environment import Task
from rollout.language.exact_json import load
from rollout.models import Usage

DESK = Path(__file__).parents[2] / "cases" / "models" / "desk"


def done(task: str = "t", trial: int = 0, *, state: Any = None, output: str = "") -> Done:
    trace = Trace(
        environment="desk",
        template="workflow",
        task=task,
        model="noop",
        messages=({"role": "user", "content": output},),
        calls=(),
        initial_state={},
        final_state={} if state is None else state,
        final_output=output,
        ending="answer",
        usage=Usage(),
        trial=trial,
    )
    return Done(Job(Task("Do it.", id=task), trial), Rollout(trace, Verdict(Outcome.PASSED, 1.0)))


def written(folder: Path, *rollouts: Done) -> None:
    async def write() -> None:
        journal = Journal.begin(folder, {"inputs": {}})
        for each in rollouts:
            await journal.add(encode(each).data)
        await journal.flush()
        journal.close()

    asyncio.run(write())


def test_a_rollout_counts_as_done_when_its_line_is_on_the_disk(tmp_path: Path) -> None:
    counted: list[int] = []

    async def write() -> None:
        journal = Journal.begin(tmp_path / "run", {})
        for number in range(1500):
            await journal.add(
                encode(done(trial=number)).data,
                lambda: counted.append((tmp_path / "run/rollouts.jsonl").stat().st_size),
            )
        await journal.flush()
        journal.close()

    asyncio.run(write())
    lines = (tmp_path / "run" / "rollouts.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == len(counted) == 1500
    so_far = 0
    for line, size in zip(lines, counted, strict=True):
        so_far += len(line)
        assert size >= so_far


def test_lines_that_wait_are_written_when_the_journal_is_closed(tmp_path: Path) -> None:
    async def write() -> Journal:
        journal = Journal.begin(tmp_path, {})
        await journal.add(encode(done()).data)
        return journal

    asyncio.run(write()).close()
    assert [line["trace"]["task"] for line in read_rollouts(tmp_path)] == ["t"]


def test_a_disk_that_is_full_ends_the_run_and_leaves_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "run", done())
    before = (tmp_path / "run" / "rollouts.jsonl").read_bytes()
    half = os.write

    async def write() -> None:
        journal, _ = Journal.go_on(tmp_path / "run")
        monkeypatch.setattr(os, "write", lambda descriptor, data: half(descriptor, data[: len(data) // 2]))
        try:
            await journal.add(encode(done(trial=1)).data)
            await journal.flush()
        finally:
            monkeypatch.undo()
            journal.close()

    with pytest.raises(OSError, match="No space"):
        asyncio.run(write())
    assert (tmp_path / "run" / "rollouts.jsonl").read_bytes() == before


@pytest.mark.parametrize("torn", [b'{"trace": {"ta', b"\0" * 40, b"\n"])
def test_a_torn_last_line_is_cut_and_the_rest_is_kept(tmp_path: Path, torn: bytes) -> None:
    written(tmp_path, done("a"), done("b"))
    file = tmp_path / "rollouts.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + torn)
    journal, opened = Journal.go_on(tmp_path)
    journal.close()
    assert (set(opened.places), opened.torn) == ({Key("a", 0), Key("b", 0)}, len(torn))
    assert file.read_bytes() == whole


@given(st.integers(0, 400))
@settings(max_examples=25, deadline=None)
def test_wherever_the_file_was_cut_the_whole_lines_before_are_kept(tmp_path_factory: Any, at: int) -> None:
    folder = tmp_path_factory.mktemp("run")
    written(folder, done("a"), done("b"), done("c"))
    file = folder / "rollouts.jsonl"
    data = file.read_bytes()
    at = len(data) * at // 400
    file.write_bytes(data[:at])
    places, end = index(file)
    assert data[:end] == b"".join(
        line for line in data[:at].splitlines(keepends=True) if line.endswith(b"\n")
    )
    assert len(places) == data[:at].count(b"\n")


def test_a_whole_last_line_that_is_no_rollout_is_not_taken_for_a_torn_one(tmp_path: Path) -> None:
    written(tmp_path, done("a"))
    with (tmp_path / "rollouts.jsonl").open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(JournalError, match=r"Line 2 of “.*rollouts.jsonl” is no rollout"):
        Journal.go_on(tmp_path)


def test_a_line_in_the_middle_that_is_no_rollout_is_refused_by_its_number(tmp_path: Path) -> None:
    written(tmp_path, done("a"), done("b"))
    file = tmp_path / "rollouts.jsonl"
    first, second = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + b"oops\n" + second)
    with pytest.raises(JournalError, match=r"Line 2 of “.*rollouts.jsonl” is no rollout"):
        Journal.go_on(tmp_path)


def test_of_two_lines_of_one_rollout_the_later_counts(tmp_path: Path) -> None:
    again = done("a")
    again = replace(again, rollout=replace(again.rollout, verdict=Verdict(Outcome.FAILED, 0.0)))
    written(tmp_path, done("a"), done("b"), again)
    told = [(line["trace"]["task"], line["verdict"]["outcome"]) for line in read_rollouts(tmp_path)]
    assert told == [("b", "passed"), ("a", "failed")]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values, max_size=3), st.text(st.characters(), max_size=20))
@settings(max_examples=80)
def test_whatever_a_state_and_a_text_hold_comes_back_as_it_was(state: dict[str, Any], text: str) -> None:
    line = encode(done(state=state, output=text)).data
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    read = read_line(line)
    assert read["trace"]["final_state"] == state
    assert read["trace"]["final_output"] == text


@pytest.mark.parametrize("text", ["\ud800", "\u2028\x85", "\0"])
def test_text_that_no_other_reader_takes_does_not_break_the_file(tmp_path: Path, text: str) -> None:
    line = encode(done(output=text, state={"long": 10**30})).data
    assert line.count(b"\n") == 1 and len(line.decode().splitlines()) == 1
    assert json.loads(line)["trace"]["final_output"] == text
    assert json.loads(line)["trace"]["final_state"] == {"long": 10**30}
    (tmp_path / "rollouts.jsonl").write_bytes(line)
    assert [each["trace"]["final_output"] for each in read_rollouts(tmp_path)] == [text]


def test_a_line_gives_the_rollout_back(tmp_path: Path) -> None:
    finished = done(state={"refunds": [1.5]}, output="Zoë")
    assert from_json(load(encode(finished).data)) == finished.rollout


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [100, 300, 900, 2_000])
def test_a_line_that_is_written_can_be_read_however_deep_its_state_is(tmp_path: Path, depth: int) -> None:
    line = encode(done(state={"a": nested(depth)}))
    (tmp_path / "rollouts.jsonl").write_bytes(line.data)
    (read,) = read_rollouts(tmp_path)
    assert read["verdict"]["outcome"] == line.done.rollout.verdict.outcome
    assert (read["trace"]["final_state"] != {}) == (read["verdict"]["outcome"] == "passed")


@pytest.mark.parametrize("value", [object(), {"long": 10**30, "no number": float("nan")}, nested(100_000)])
def test_what_json_cannot_say_is_an_error_of_the_environment_and_stops_no_run(value: Any) -> None:
    line = encode(done(state={"a": value}))
    assert line.done.rollout.verdict.outcome is Outcome.ERROR
    read = load(line.data)
    assert (read["trace"]["task"], read["verdict"]["outcome"]) == ("t", "error")
    assert read["verdict"]["failure"]["charged_to"] == "environment"


def test_a_folder_has_one_run_and_one_writer(tmp_path: Path) -> None:
    journal = Journal.begin(tmp_path, {})
    with pytest.raises(JournalError, match="Another process is at work"):
        Journal.go_on(tmp_path)
    journal.close()
    with pytest.raises(JournalError, match="There is a run in") as refused:
        Journal.begin(tmp_path, {})
    assert "--resume" in str(refused.value.hint)
    Journal.go_on(tmp_path)[0].close()


def test_a_folder_that_holds_something_else_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "refund").mkdir()
    with pytest.raises(JournalError, match="holds something else than a run") as refused:
        Journal.begin(tmp_path, {})
    assert refused.value.hint == f"Name a folder that is not there yet, such as {tmp_path / 'run'}."
    assert [path.name for path in tmp_path.iterdir()] == ["refund"]


def test_a_folder_with_nothing_but_hidden_files_takes_a_run(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*")
    Journal.begin(tmp_path, {}).close()
    assert (tmp_path / "run.json").is_file()


@pytest.mark.parametrize("config", [b"", b"[]", b'{"schema_version": 99}'])
def test_a_folder_of_another_version_is_refused(tmp_path: Path, config: bytes) -> None:
    (tmp_path / "run.json").write_bytes(config)
    with pytest.raises(JournalError, match="is not of a run that this version can go on with"):
        Journal.go_on(tmp_path)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="There is no run in"):
        Journal.go_on(tmp_path)
    with pytest.raises(JournalError, match="There are no rollouts in"):
        next(read_rollouts(tmp_path))


def rollout(server: ChatServer, *arguments: str, at: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rollout", "test", *arguments],
        cwd=at,
        env={**os.environ, "OPENAI_BASE_URL": server.address, "OPENAI_API_KEY": "none", "PYTHONPATH": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def held_after(server: ChatServer, answers: int, then: int) -> Callable[[], None]:
    """Lets the server answer so many requests and hold the next; what it gives waits until ``then`` are held."""
    from threading import Semaphore

    held = Semaphore(0)

    def hold(connection: Connection) -> None:
        held.release()
        connection.server.closing.wait()

    server.play(*[says("Done.")] * answers, hold)

    def wait() -> None:
        for _ in range(then):
            assert held.acquire(timeout=60)

    return wait


NEW = (str(DESK), "-m", "openai/gpt-4o-mini", "-n", "4", "--concurrency", "2", "--out", "run")


def test_a_run_that_was_killed_is_finished_with_no_rollout_twice_and_none_missed(tmp_path: Path) -> None:
    with ChatServer([says("Done.")]) as server:
        wait = held_after(server, 5, then=2)
        running = rollout(server, *NEW, at=tmp_path)
        wait()
        second = rollout(server, "--resume", "run", at=tmp_path)
        _, refusal = second.communicate(timeout=60)
        assert second.returncode == 2
        assert "Another process is at work on the run in “run”." in refusal
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=60)
        kept = len((tmp_path / "run" / "rollouts.jsonl").read_bytes().splitlines())
        assert 3 <= kept <= 5
        with (tmp_path / "run" / "rollouts.jsonl").open("ab") as file:
            file.write(b'{"trace": {"environment": "de')
        server.play(says("Done."))
        third = rollout(server, "--resume", "run", "--json", at=tmp_path)
        output, words = third.communicate(timeout=60)
        asked = len(server.asked)
    assert third.returncode == 1
    assert "had been cut short" in words
    assert asked == 12 - kept
    lines = [json.loads(line) for line in (tmp_path / "run" / "rollouts.jsonl").read_bytes().splitlines()]
    keys = [(line["trace"]["task"], line["trace"]["trial"]) for line in lines]
    assert sorted(keys) == sorted(
        (task, trial) for task in ("solved", "wrong", "unsolved") for trial in range(4)
    )
    data = json.loads(output)["data"]
    assert (data["planned"], data["all"], data["outcomes"]) == (12, 12, {"failed": 12})
    assert json.loads((tmp_path / "run" / "summary.json").read_bytes())["all"] == 12


def test_an_interrupted_run_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path) -> None:
    with ChatServer([says("Done.")]) as server:
        wait = held_after(server, 4, then=2)
        running = rollout(server, *NEW, "--report", "report.html", at=tmp_path)
        wait()
        running.send_signal(signal.SIGINT)
        output, words = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in words
    assert "4 of 12 rollouts are done. Go on with: rollout test --resume run" in words
    assert "0 passed, 4 failed, 0 errors (passed 0 of 4 graded, 0 of 12 planned)" in output
    assert len(list(read_rollouts(tmp_path / "run"))) == 4
    assert "4 of 12 rollouts are done." in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_line_says_which_task_it_is_of_by_what_is_asked_and_wanted(tmp_path: Path) -> None:
    truth = {"state.refunds": [{"id": "O-1"}]}
    task = Task("Refund O-1.", truth, split="test", id="refund")
    alike = replace(task, id="another", split="dev", input={}, solution=[])
    others = [
        replace(task, instruction="Refund O-2."),
        replace(task, hidden_ground_truth={}),
        replace(task, input={"a": 1}),
    ]
    [line] = [json.loads(encode(replace(done(), job=Job(task))).data)]
    assert line["task"] == {"content": task.content, "split": "test"}
    assert alike.content == task.content
    assert len({task.content, *(other.content for other in others)}) == 4
