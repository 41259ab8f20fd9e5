"""A program that ends while a run of its own is under way on ``local``, and a start that is broken off."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
