"""`--executor`: what is no executor or no cluster is said at once, in a sentence with the way out."""

from __future__ import annotations

import importlib.util
import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from rollout.cli import app
from rollout.engine.executors import ExecutorError, find

DESK = Path(__file__).parents[3] / "cases" / "models" / "desk"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)

    def invoke(executor: str, *more: str) -> Result:
        arguments = ["test", str(DESK), "-m", "oracle", "--executor", executor, *more]
        return CliRunner().invoke(app, arguments)

    return invoke


@pytest.mark.parametrize(
    ("executor", "words", "way_out"),
    [
        ("rays", "There is no executor “rays”.", "There are local, ray; ray takes an address."),
        ("", "There is no executor “”.", "There are local, ray"),
        ("local:4", "“local” takes no address, and “4” was given.", "Write --executor local."),
        ("ray:somewhere", "“somewhere” is no address of a Ray cluster.", "ray:10.0.0.2:6379"),
        ("ray:ray://head:10001", "A run is part of its cluster, and not a client of it.", "ray:auto"),
    ],
)
def test_what_is_no_executor_is_named_with_the_way_out(
    run: Any, executor: str, words: str, way_out: str
) -> None:
    ended = run(executor, "--json")
    assert ended.exit_code == 2
    assert set(json.loads(ended.stdout)) == {"schema_version", "command", "error"}
    assert words in ended.stderr
    assert way_out in ended.stderr


@pytest.mark.parametrize("address", ["127.0.0.1:99999", "no.such.host.invalid:6379"])
def test_an_address_that_leads_nowhere_is_told_from_what_is_none(run: Any, address: str) -> None:
    ended = run(f"ray:{address}", "--json")
    assert ended.exit_code == 3
    assert set(json.loads(ended.stdout)) == {"schema_version", "command", "error"}
    assert f"There is no Ray cluster at “{address}”: " in ended.stderr
    assert "ray status" in ended.stderr


def test_ray_that_is_not_installed_is_named_with_its_extra(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "rollout.engine.executors.ray.find_spec", lambda name: None if name == "ray" else found(name)
    )
    ended = run("ray", "--out", "run")
    assert ended.exit_code == 3
    assert "Ray is not installed here" in ended.stderr
    assert "pip install 'rolloutdev[ray]'" in ended.stderr
    assert not Path("run").exists()


def test_an_address_where_nothing_listens_is_no_cluster(run: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    ended = run(f"ray:{address}")
    assert ended.exit_code == 3
    assert f"There is no Ray cluster at “{address}”: Connection refused." in ended.stderr


@pytest.mark.parametrize("executor", ["ray", "ray:auto"])
def test_the_cluster_in_the_environment_is_looked_for_first(
    run: Any, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    ended = run(executor)
    assert ended.exit_code == 3
    assert "There is no Ray cluster at “127.0.0.1:1”" in ended.stderr
    monkeypatch.setenv("RAY_ADDRESS", "everywhere")
    ended = run(executor)
    assert ended.exit_code == 2
    assert "“everywhere” is no address of a Ray cluster." in ended.stderr


def test_a_cluster_that_cannot_be_started_is_not_there(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    def refuse(*_: Any, **__: Any) -> None:
        raise ValueError("The current node timed out during startup.")

    monkeypatch.setattr(ray, "init", refuse)
    ended = run("ray")
    assert ended.exit_code == 3
    assert "Ray could not be started on this machine: The current node timed out" in ended.stderr


def test_a_server_tells_what_is_no_executor_from_one_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def serve(executor: str) -> int:
        arguments = ["serve", "--data", str(tmp_path), "--executor", executor]
        return CliRunner().invoke(app, arguments).exit_code

    assert serve("rays") == 2
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "rollout.engine.executors.ray.find_spec", lambda name: None if name == "ray" else found(name)
    )
    assert serve("ray") == 3


@pytest.mark.parametrize("greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.6\r\n", b""])
def test_an_address_where_something_else_listens_is_no_cluster(run: Any, greeting: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            accepted, _ = server.accept()
            with accepted:
                accepted.recv(100)
                accepted.sendall(greeting)

        answering = threading.Thread(target=answer)
        answering.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        ended = run(f"ray:{address}")
        answering.join()
    assert ended.exit_code == 3
    assert f"What answers at “{address}” is no Ray cluster." in ended.stderr


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("human", "You sit at this machine, so “human” cannot act on another machine."),
        ("replay:run", "The recording lies on this machine, so “replay” cannot act on another machine."),
    ],
)
def test_a_model_that_is_only_here_cannot_act_elsewhere(run: Any, model: str, words: str) -> None:
    ended = run("ray", "-m", model)
    assert ended.exit_code == 2
    assert words in ended.stderr


@pytest.mark.parametrize("given", ["soon", "-1", "0", "inf", "nan"])
def test_patience_is_a_number_of_seconds(run: Any, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("ROLLOUT_RAY_PATIENCE", given)
    ended = run("ray")
    assert ended.exit_code == 2
    assert f"ROLLOUT_RAY_PATIENCE is “{given}”, which is no number of seconds." in ended.stderr


def test_local_is_an_executor_like_any_other(run: Any) -> None:
    assert run("local", "--task", "solved").exit_code == 0
    with pytest.raises(ExecutorError):
        find(":")
