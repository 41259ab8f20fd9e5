"""The far end of a run on a cluster: what it refuses, and that it ends as it is told."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from servers.chat import ChatServer, hangs, says

import rollout
from rollout.check import check
from rollout.engine import Outcome
from rollout.engine.batch import Job
from rollout.engine.executors import Recipe
from rollout.engine.executors._parcel import Parcel, pack, pack_task, read_done
from rollout.engine.executors._worker import Share, Worker
from rollout.environment import Environment
from rollout.models import Setup, Usage
from rollout.source import read

LETTERS = Path(__file__).parents[3] / "cases" / "executors" / "letters"


def letters() -> Environment:
    (document,) = read(LETTERS)
    return check(document).environment()


def with_worker(parcel: Parcel, then: Any) -> Any:
    async def whole() -> Any:
        worker = Worker()
        opened = await worker.open(rollout.__version__, parcel.data, parcel.private, 4)
        try:
            return await then(worker, opened)
        finally:
            await worker.close()

    return asyncio.run(whole())


async def only_opened(worker: Worker, opened: dict[str, str]) -> dict[str, str]:
    return opened


def asks(server: ChatServer) -> Parcel:
    environ = {"OPENAI_API_KEY": "sk-desk-4f6c5cce93aa71", "OPENAI_BASE_URL": server.address}
    return pack(Recipe(letters(), "openai/gpt-4o-mini", setup=Setup(environ=environ)))


def test_a_rollout_is_done_and_judged_by_the_files_that_were_sent() -> None:
    environment = letters()

    async def then(worker: Worker, opened: dict[str, str]) -> list[Outcome]:
        assert "refused" not in opened
        outcomes = []
        for task in environment.tasks:
            line, stop = await worker.do(pack_task(task), 1)
            assert line is not None and stop is None
            outcomes.append(read_done(Job(task, 1), line).rollout.verdict.outcome)
        return outcomes

    assert with_worker(pack(Recipe(environment, "oracle")), then) == [
        Outcome.PASSED,
        Outcome.PASSED,
        Outcome.FAILED,
        Outcome.PASSED,
    ]


def test_a_machine_without_a_sandbox_is_refused_where_one_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("rollout.sandbox.choice._found", {})
    monkeypatch.delenv("ROLLOUT_SANDBOX", raising=False)
    opened = with_worker(pack(Recipe(letters(), "oracle")), only_opened)
    assert opened["refused"].startswith("There is no sandbox to run commands in: bubblewrap")
    judged = replace(letters(), verifier=None)
    assert "refused" not in with_worker(pack(Recipe(judged, "oracle")), only_opened)


def test_files_that_are_changed_on_the_way_are_noticed() -> None:
    sent = pack(Recipe(letters(), "oracle"))
    changed = Parcel(sent.data.replace(b"Lieber ", b"Liebste"), sent.private)
    opened = with_worker(changed, only_opened)
    assert opened["refused"] == "what arrived there is not what was sent: its verifier"


def test_a_key_that_did_not_arrive_is_refused() -> None:
    sent = pack(
        Recipe(letters(), "openai/gpt-4o-mini", setup=Setup(environ={"OPENAI_API_KEY": "sk-4f6c5cce"}))
    )
    emptied = Parcel(sent.data, sent.private.replace(b"OPENAI_API_KEY", b"ANOTHER_KEY"))
    assert "OPENAI_API_KEY is not set" in with_worker(emptied, only_opened)["refused"]


def test_a_spent_budget_drops_what_is_under_way_and_tells_what_was_used() -> None:
    task = pack_task(letters().tasks[0])

    async def then(worker: Worker, opened: dict[str, str]) -> Any:
        done = await worker.do(task, 0)
        used = Usage(**await worker.spent())
        await worker.halt("budget", "All is spent.", None)
        return done, used, await worker.do(task, 1)

    with ChatServer([says("Done.")]) as server:
        done, used, dropped = with_worker(asks(server), then)
    assert done[0] is not None
    assert (used.input_tokens, used.output_tokens) == (100, 10)
    assert dropped == (None, ("budget", "All is spent.", None))


def test_closing_gives_up_what_is_under_way() -> None:
    task = pack_task(letters().tasks[0])

    async def then(worker: Worker, opened: dict[str, str]) -> None:
        under_way = asyncio.ensure_future(worker.do(task, 0))
        while not server.asked:
            await asyncio.sleep(0.01)
        await worker.close()
        with pytest.raises(asyncio.CancelledError):
            await under_way

    async def whole() -> None:
        worker = Worker()
        parcel = asks(server)
        await then(worker, await worker.open(rollout.__version__, parcel.data, parcel.private, 1))

    with ChatServer([hangs]) as server:
        asyncio.run(whole())


def test_what_was_used_is_told_once() -> None:
    async def whole() -> list[Usage]:
        share = Share()
        share.charge(Usage(1, 2, 0.5))
        share.charge(Usage(3, 4, None))
        first = await share.take()
        share.charge(Usage(5, 6, 1.0))
        return [first, await share.take(), share.used]

    assert asyncio.run(whole()) == [Usage(4, 6, None), Usage(5, 6, 1.0), Usage(9, 12, None)]
