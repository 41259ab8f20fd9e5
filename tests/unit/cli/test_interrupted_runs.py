"""Runs on `local` that are interrupted, killed, left, or cancelled from elsewhere: none goes on unasked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from servers.chat import ChatServer, Connection, says
from servers.rollout_server import Platform
from typer.testing import CliRunner

from rollout.cli import app, following, output
from rollout.platform.client import Client
from rollout.platform.errors import RolloutError
from rollout.platform.store import Store, environments, runs

DESK = Path(__file__).parents[2] / "cases" / "models" / "desk"
TASKS = 3
MODEL = ("--model", "openai/gpt-4o-mini", "--concurrency", "2")


def slowly(connection: Connection) -> None:
    connection.server.closing.wait(0.02)
    says("Done.")(connection)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    for name in ("ROLLOUT_API_KEY", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROLLOUT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ROLLOUT_ENDPOINT", "local")
    monkeypatch.chdir(tmp_path)
    with ChatServer([slowly]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-desk-4f6c5cce93aa71")
        said(0, "push", str(DESK))
        yield server


def said(code: int, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "rollout", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == code, ended.stderr
    return ended.stdout


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "rollout", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def newest() -> Any:
    return json.loads(said(0, "runs", "--json"))["data"]["runs"][0]


def under_way(model: ChatServer, least: int) -> None:
    while len(model.asked) < least:
        Event().wait(0.02)


@pytest.mark.parametrize("after", [0, 1, 40])
def test_ctrl_c_ends_a_run_in_words_whenever_it_comes(model: ChatServer, after: int) -> None:
    with started("run", "desk", *MODEL, "-n", "100") as process:
        assert process.stdout is not None
        process.stdout.readline()
        under_way(model, after)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "They are kept. Go on with: rollout resume" in stderr
    for word in ("Traceback", "Exception ignored", "Task was destroyed", "never awaited", "Error"):
        assert word not in stderr, stderr
    run = newest()
    assert f"{run['progress']:,} of 300 rollouts are done.\n" in stderr
    assert run["status"] == "cancelled"
    assert run["reason"] == f"It was interrupted. Go on with it: rollout resume {run['id'][:12]}"
    with started("resume", run["id"]) as process:
        under_way(model, len(model.asked) + 20)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Exception ignored" not in stderr and "Traceback" not in stderr, stderr
    assert newest()["progress"] > run["progress"]


@pytest.mark.usefixtures("model")
def test_ctrl_c_right_after_a_run_was_named_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(following, "show", interrupted)
    monkeypatch.setattr(output, "show", interrupted)
    ended = CliRunner().invoke(app, ["run", "desk", *MODEL, "-n", "100"], prog_name="rollout")
    assert ended.exit_code == 130
    assert "They are kept. Go on with: rollout resume" in ended.stderr


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_server_over_the_same_data_goes_on_with_a_run_of_local_only_when_it_is_asked(
    model: ChatServer, tmp_path: Path, end: signal.Signals
) -> None:
    with started("run", "desk", *MODEL, "-n", "10") as process:
        under_way(model, 5)
        process.send_signal(end)
        process.wait(60)
    asked = len(model.asked)
    with (
        Platform(tmp_path / "data") as platform,
        httpx.Client(
            base_url=platform.address, headers={"authorization": f"Bearer {platform.key}"}, timeout=30
        ) as http,
    ):
        left = http.get("/api/runs").json()["runs"][0]
        assert left["status"] == "cancelled" and 0 < left["progress"] < left["n"]
        other = http.post("/api/runs", json={"environmentSlug": "desk", "model": "noop", "n": 1}).json()
        with Client(platform.key, platform.address) as client:
            # By then the server has looked for what there is to do.
            assert [event.kind for event in client.watch_run(other["runId"])][-1] == "end"
            assert len(model.asked) == asked
            client.resume_run(left["id"])
            assert list(client.watch_run(left["id"]))[-1].data["progress"] == 10 * TASKS


def test_a_run_whose_process_was_killed_is_shown_as_what_it_is(model: ChatServer) -> None:
    with started("run", "desk", *MODEL, "-n", "100") as process:
        under_way(model, 5)
        process.kill()
        process.wait(60)
    shown = said(0, "show", newest()["id"][:8])
    assert "cancelled\n  It was interrupted. Go on with it: rollout resume " in shown


def test_a_run_that_another_process_executes_is_cancelled_when_that_has_stopped(model: ChatServer) -> None:
    with started("run", "desk", *MODEL, "-n", "300") as process:
        under_way(model, 5)
        run_id = newest()["id"]
        told = said(0, "cancel", run_id)
        process.communicate(timeout=60)
    assert told == f"run {run_id} is cancelled, {newest()['progress']:,} of 900 rollouts are done\n"


def test_who_watches_a_run_that_nobody_executes_is_told_so(model: ChatServer, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'data' / 'rollout.db'}")
    entry = store.read(environments.find, "desk")
    assert entry is not None
    run = store.write(
        runs.create,
        environment_id=entry.id,
        digest=entry.digest,
        model="noop",
        options={"n": 1, "maxToolCalls": 20},
        total=TASKS,
    )
    store.close()
    with Client(endpoint="local") as client:
        with pytest.raises(RolloutError) as caught:
            list(client.watch_run(run.id))
        assert caught.value.message == f"Nobody executes the run {run.id[:12]} now."
        assert caught.value.hint == f"Go on with it: rollout resume {run.id[:12]}"
        client.resume_run(run.id)
        assert list(client.watch_run(run.id))[-1].data["status"] == "done"
