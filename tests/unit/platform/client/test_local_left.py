"""A program or a client that ends while a run of its own is under way on ``local``, and a start that is broken off."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rollout import AsyncClient, Client, Environment, Task
from rollout.platform import local

PROGRAM = """
from rollout import Client, Environment, Task

files = {"files": {"a.py": "A = 1"}}
env = Environment("desk", "Desk", "code-editing", config=files, tasks=[Task("Go.", {"files": {"a.py": "A = 2"}})])
client = Client(endpoint="local")
env.push(client)
run = client.create_run("desk", "noop", n=5_000)
print(run["runId"])
client.get_run(run["runId"])
"""


def test_a_run_that_is_left_under_way_is_told_of(tmp_path: Path) -> None:
    variables = {**os.environ, "ROLLOUT_DATA": str(tmp_path / "data")}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=variables,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    run_id = ended.stdout.strip()
    assert re.search(rf"The run {run_id} is left under way on local.*rollout resume {run_id}", ended.stderr)
    assert "Traceback" not in ended.stderr


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment on ``local``."""
    monkeypatch.setenv("ROLLOUT_DATA", str(tmp_path / "data"))
    files = {"files": {"a.py": "A = 1"}}
    tasks = [Task("Go.", {"files": {"a.py": "A = 2"}})]
    with Client(endpoint="local") as client:
        Environment("desk", "Desk", "code-editing", config=files, tasks=tasks).push(client)


@pytest.mark.usefixtures("desk")
def test_a_client_that_is_closed_tells_of_a_run_under_way() -> None:
    client = Client(endpoint="local")
    run_id = client.create_run("desk", "noop", n=5_000)["runId"]
    with pytest.warns(RuntimeWarning, match="is left under way on local") as warned:
        client.close()
    assert [str(each.message).rpartition(": ")[2] for each in warned] == [f"rollout resume {run_id}"]
    assert not local._homes
    with Client(endpoint="local") as client:
        assert client.get_run(run_id)["run"]["status"] == "cancelled"


@pytest.mark.usefixtures("desk")
def test_an_asynchronous_client_tells_of_it_too() -> None:
    async def leave() -> None:
        async with AsyncClient(endpoint="local") as client:
            await client.create_run("desk", "noop", n=5_000)

    with pytest.warns(RuntimeWarning, match="is left under way on local"):
        asyncio.run(leave())


@pytest.mark.usefixtures("desk")
def test_a_client_that_is_not_the_last_or_has_no_run_under_way_tells_of_nothing() -> None:
    with Client(endpoint="local") as client:
        with Client(endpoint="local") as other:
            run_id = other.create_run("desk", "noop", n=5_000)["runId"]
        client.cancel_run(run_id)
        assert [event.kind for event in client.watch_run(run_id)][-1] == "end"


def test_a_start_that_is_broken_off_leaves_no_task_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun: list[asyncio.Task[None]] = []

    async def start(home: local._Home) -> None:
        begun.append(asyncio.create_task(asyncio.sleep(3600)))
        raise RuntimeError

    monkeypatch.setattr(local._Home, "_start", start)
    with caplog.at_level(logging.ERROR), pytest.raises(RuntimeError):
        local._Home(tmp_path)
    assert begun[0].cancelled()
    assert not caplog.records
