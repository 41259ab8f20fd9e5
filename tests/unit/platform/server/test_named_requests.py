"""A named request whose server breaks down after the work is done is answered as it would have been, not done again."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from rollout.check import check
from rollout.compile import compile_environment
from rollout.models import ConnectError
from rollout.platform.server import generating
from rollout.platform.server.app import application
from rollout.platform.server.processes import is_gone, this_process
from rollout.platform.server.runner import Runner
from rollout.platform.store import Store, environments, repeats, runs
from rollout.source import read

DESK = Path(__file__).parents[3] / "cases" / "models" / "desk"


class BreaksDown(Runner):
    """Is told of a run, and takes the answer with it."""

    def wake(self, *_: Any) -> None:
        raise RuntimeError


def test_a_run_is_begun_once_though_its_answer_was_lost(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    (document,) = read(DESK)
    entry = store.write(environments.push, compile_environment(check(document).environment())).entry
    app = application(store, BreaksDown(store), everybody=True)
    body = {"environmentSlug": entry.slug, "model": "noop", "n": 1}

    async def twice() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:
            headers = {"idempotency-key": "once"}
            return [await client.post("/api/runs", json=body, headers=headers) for _ in range(2)]

    try:
        first, second = asyncio.run(twice())
        assert (first.status_code, second.status_code) == (500, 201)
        (run,) = store.read(runs.newest)
        assert second.json()["runId"] == run.id
    finally:
        store.close()


def test_a_request_that_takes_long_is_not_carried_out_a_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model writes for longer than anybody believes a server that says nothing."""
    monkeypatch.setattr(repeats, "SECONDS_BETWEEN", 0.02)
    monkeypatch.setattr(repeats, "_ABANDONED", 200)
    begun: list[str] = []

    async def slow(*_: Any, **__: Any) -> Any:
        begun.append("once")
        await asyncio.sleep(1.0)
        raise ConnectError("It has nothing to say.", "Ask another.")

    monkeypatch.setattr(generating, "write", slow)
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    app = application(store, Runner(store), everybody=True)
    body = {"description": "A shop.", "template": "workflow", "model": "openai/o1"}

    async def twice() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://local") as client:
            headers = {"idempotency-key": "once"}
            asked = client.post("/api/environments/generate", json=body, headers=headers, timeout=30)
            first = asyncio.create_task(asked)
            await asyncio.sleep(0.7)
            again = await client.post("/api/environments/generate", json=body, headers=headers)
            return [await first, again]

    try:
        first, again = asyncio.run(twice())
    finally:
        store.close()
    assert (first.status_code, again.status_code, begun) == (400, 409, ["once"])


def test_a_server_that_is_killed_while_it_answers_is_not_waited_for(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    name = "import sys; from rollout.platform.server.processes import this_process; print(this_process())"
    dead = subprocess.run(
        [sys.executable, "-c", name], capture_output=True, text=True, check=True
    ).stdout.strip()
    same_number = f"{this_process().rpartition(' ')[0]} 00000000"
    try:
        for number, process in enumerate((dead, same_number)):
            given = ("me", f"n{number}", "push")
            assert store.write(repeats.begin, *given, process=process) is None
            assert store.write(repeats.begin, *given, process=this_process(), is_gone=is_gone) is None
            with pytest.raises(repeats.UnderWayError):
                store.write(repeats.begin, *given, process=this_process(), is_gone=is_gone)
    finally:
        store.close()
    assert not is_gone("another-machine 1 00000000")
