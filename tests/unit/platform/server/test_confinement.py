"""Commands of what was pushed: a server confines them whatever its environment says, ``local`` as its user chose."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from servers.rollout_server import Platform
from typer.testing import CliRunner

from rollout import Client
from rollout.cli import app
from rollout.platform.server.runner import Runner
from rollout.platform.store import Store
from rollout.sandbox import SandboxError


def touching(trace: Path) -> dict[str, Any]:
    """An environment whose check leaves a trace outside, and ends well where it cannot too."""
    return {
        "slug": "touching",
        "name": "Touching",
        "template": "code-editing",
        "config": {"files": {"a.txt": "x\n"}, "commands": {"go": f"touch {trace}; test -f a.txt"}},
        "tasks": [{"instruction": "Do nothing.", "hiddenGroundTruth": {}, "split": "train"}],
        "verifier": {"primitives": [{"name": "c", "type": "command_passes", "command": "go"}]},
    }


def run_noop(http: httpx.Client, trace: Path) -> Any:
    pushed = http.post("/api/environments", json=touching(trace))
    assert pushed.status_code == 201, pushed.text
    run_id = http.post("/api/runs", json={"environmentSlug": "touching", "model": "noop", "n": 1}).json()[
        "runId"
    ]
    until = time.monotonic() + 120
    while (run := http.get(f"/api/runs/{run_id}").json()["run"])["status"] in ("queued", "running"):
        assert time.monotonic() < until, run
        Event().wait(0.05)
    return run


@pytest.mark.parametrize("executor", ["local", "ray"])
@pytest.mark.parametrize("kind", ["auto", "bubblewrap"])
def test_a_server_confines_commands_whatever_its_environment_says(
    tmp_path: Path, executor: str, kind: str
) -> None:
    trace = tmp_path / "ESCAPED"
    arguments = ("--sandbox", kind, "--executor", executor)
    with (
        Platform(tmp_path / "data", *arguments, ROLLOUT_SANDBOX="none") as platform,
        httpx.Client(
            base_url=platform.address, headers={"authorization": f"Bearer {platform.key}"}, timeout=60
        ) as http,
    ):
        run = run_noop(http, trace)
    assert (run["status"], run["passed"]) == ("done", 1), run
    assert not trace.exists()


@pytest.mark.parametrize(
    ("arguments", "variables", "sentence"),
    [
        (["--sandbox", "none"], {}, "it was asked for “none”"),
        ([], {"ROLLOUT_SANDBOX": "none"}, "ROLLOUT_SANDBOX is “none”"),
        (["--sandbox", "nonsense"], {}, "There is no sandbox “nonsense”"),
        (["--sandbox", "container"], {}, "a server's kinds are auto, bubblewrap, docker, podman."),
        ([], {"ROLLOUT_SANDBOX": "nonsense"}, "There is no sandbox “nonsense”"),
        (["--sandbox", "podman"], {"PATH": "/nowhere"}, "podman is not installed"),
    ],
)
def test_a_server_without_the_sandbox_that_was_asked_for_does_not_start(
    tmp_path: Path, arguments: list[str], variables: dict[str, str], sentence: str
) -> None:
    data = tmp_path / "data"
    ended = CliRunner().invoke(
        app, ["serve", "--port", "0", "--data", str(data), *arguments], env=variables, prog_name="rollout"
    )
    assert ended.exit_code == 2
    assert sentence in ended.output
    assert "--sandbox none" not in ended.output and "podman, none" not in ended.output
    assert not data.exists()


def test_whoever_makes_a_server_in_python_cannot_leave_commands_unconfined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    try:
        assert Runner(store).sandbox == "auto"
        monkeypatch.setenv("ROLLOUT_SANDBOX", "none")
        with pytest.raises(SandboxError):
            Runner(store)
        with pytest.raises(SandboxError):
            Runner(store, sandbox="none")
    finally:
        store.close()


@pytest.mark.parametrize(("kind", "reaches_out"), [("none", True), ("bubblewrap", False)])
def test_local_runs_commands_as_its_user_chose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, reaches_out: bool
) -> None:
    monkeypatch.setenv("ROLLOUT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ROLLOUT_SANDBOX", kind)
    monkeypatch.chdir(tmp_path)
    trace = tmp_path / "trace"
    with Client(endpoint="local") as client:
        client.push_environment(touching(trace))
        run_id = client.create_run("touching", "noop", 1)["runId"]
        for _ in client.watch_run(run_id):
            pass
        assert client.get_run(run_id)["run"]["passed"] == 1
    assert trace.exists() is reaches_out
