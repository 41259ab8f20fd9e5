"""A run over a real Ray cluster on this machine, whose nodes are killed as machines are: the results stay the same."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers.chat import Act, ChatServer, Connection, refuses, says
from servers.ray_cluster import RayCluster

CASES = Path(__file__).parents[3] / "cases"
LETTERS = CASES / "executors" / "letters"
KEY = "sk-desk-4f6c5cce93aa71"
ASKING = (str(LETTERS), "-m", "openai/gpt-4o-mini", "--all")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with RayCluster() as made:
        made.add(2)
        yield made


def rollout(cluster: RayCluster | None, *arguments: str, at: Path, **variables: str) -> subprocess.Popen[str]:
    spread = () if cluster is None else ("--executor", f"ray:{cluster.address}")
    return subprocess.Popen(
        [sys.executable, "-m", "rollout", "test", *arguments, *spread],
        cwd=at,
        env={**os.environ, "OPENAI_API_KEY": KEY, "PYTHONPATH": "", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def asking(
    server: ChatServer, cluster: RayCluster | None, *arguments: str, at: Path
) -> subprocess.Popen[str]:
    return rollout(cluster, *arguments, at=at, OPENAI_BASE_URL=server.address)


def ended(running: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        output, words = running.communicate(timeout=120)
    finally:
        running.kill()
    return running.returncode, output, words


def rollouts(folder: Path) -> dict[tuple[str, int], Any]:
    """What was done, by task and trial, without how long it took."""
    found = {}
    for line in (folder / "rollouts.jsonl").read_bytes().splitlines():
        each = json.loads(line)
        del each["trace"]["seconds"]
        found[each["trace"]["task"], each["trace"]["trial"]] = each
    return found


def keys(folder: Path) -> Counter[tuple[str, int]]:
    lines = [json.loads(line) for line in (folder / "rollouts.jsonl").read_bytes().splitlines()]
    return Counter((line["trace"]["task"], line["trace"]["trial"]) for line in lines)


def planned(trials: int) -> Counter[tuple[str, int]]:
    return Counter((task, trial) for task in ("ada", "emil", "rude", "unsolved") for trial in range(trials))


class Gate:
    """Answers so many requests and holds those that follow, until it is opened."""

    def __init__(self, answers: int) -> None:
        self._answered = threading.Semaphore(answers)
        self._held = threading.Semaphore(0)
        self._opened = threading.Event()

    @property
    def acts(self) -> list[Act]:
        return [self._answer]

    def wait(self, held: int) -> None:
        """Waits until so many requests are held."""
        for _ in range(held):
            assert self._held.acquire(timeout=60)

    def open(self) -> None:
        """Answers all that are held, and all that come."""
        self._opened.set()

    def _answer(self, connection: Connection) -> None:
        if not self._answered.acquire(blocking=False) and not self._opened.is_set():
            self._held.release()
            while not self._opened.wait(0.1):
                if connection.server.closing.is_set():
                    return
        says("Done.")(connection)


@pytest.mark.parametrize("model", ["oracle", "random:3"])
def test_traces_and_verdicts_are_those_of_this_machine(
    cluster: RayCluster, model: str, tmp_path: Path
) -> None:
    # The folder that it is run in has a file that would be taken for a module of Python's own.
    (tmp_path / "statistics.py").write_text("raise RuntimeError")
    arguments = (str(LETTERS), "-m", model, "--all", "-n", "3", "--concurrency", "5", "--out")
    here = ended(rollout(None, *arguments, "here", at=tmp_path))
    there = ended(rollout(cluster, *arguments, "there", at=tmp_path))
    assert there[:2] == here[:2]
    # A slow run says how far it is; Ray says nothing.
    assert [line for line in there[2].splitlines() if " of 12 done: " not in line] == []
    assert rollouts(tmp_path / "there") == rollouts(tmp_path / "here")
    assert keys(tmp_path / "there") == planned(3)


def test_the_rollouts_of_a_node_that_is_killed_are_done_again_elsewhere(
    cluster: RayCluster, tmp_path: Path
) -> None:
    doomed = cluster.add(2)
    gate = Gate(5)
    with ChatServer(gate.acts) as server:
        running = asking(
            server, cluster, *ASKING, "-n", "4", "--concurrency", "4", "--out", "run", "--json", at=tmp_path
        )
        gate.wait(held=4)
        cluster.kill(doomed)
        # Of its two rollouts, at least, others ask again.
        gate.wait(held=2)
        gate.open()
        code, output, words = ended(running)
        sent = {asked.headers["authorization"] for asked in server.asked}
    data = json.loads(output)["data"]
    assert (code, data["planned"], data["all"], data["errors"]) == (1, 16, 16, {})
    assert keys(tmp_path / "run") == planned(4)
    assert "was lost; its 1 rollout is done again." in words
    assert sent == {f"Bearer {KEY}"}
    lost = [
        attempt["failure"]
        for line in (tmp_path / "run" / "rollouts.jsonl").read_bytes().splitlines()
        for attempt in json.loads(line)["earlier"]
    ]
    # A rollout may be lost twice, when it is given to a worker that begins on the node while that dies.
    assert len(lost) >= 2
    assert {each["charged_to"] for each in lost} == {"infrastructure"}
    assert KEY not in words + output
    assert [
        str(file) for file in everything_in(tmp_path, cluster.session) if KEY.encode() in file.read_bytes()
    ] == []


def everything_in(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        yield from (file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def test_a_run_that_was_killed_leaves_no_worker_and_is_finished_by_any_executor(
    cluster: RayCluster, tmp_path: Path
) -> None:
    gate = Gate(5)
    with ChatServer(gate.acts) as server:
        running = asking(
            server, cluster, *ASKING, "-n", "2", "--concurrency", "2", "--out", "run", at=tmp_path
        )
        gate.wait(held=2)
        assert cluster.workers(0) != []
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=60)
        kept = keys(tmp_path / "run")
        assert 3 <= kept.total() <= 5
        gate.open()
        _, output, _ = ended(asking(server, None, "--resume", "run", "--json", at=tmp_path))
    assert json.loads(output)["data"]["all"] == 8
    assert keys(tmp_path / "run") == planned(2)
    wait_until(lambda: cluster.workers(0) == [])


def wait_until(holds: Any) -> None:
    pause = threading.Event()
    for _ in range(300):
        if holds():
            return
        pause.wait(0.2)
    raise AssertionError("It did not come about within a minute.")


def test_an_interrupted_run_keeps_what_is_done_and_asks_for_nothing_more(
    cluster: RayCluster, tmp_path: Path
) -> None:
    gate = Gate(3)
    with ChatServer(gate.acts) as server:
        running = asking(
            server, cluster, *ASKING, "-n", "2", "--concurrency", "2", "--out", "run", at=tmp_path
        )
        gate.wait(held=2)
        running.send_signal(signal.SIGINT)
        code, _, words = ended(running)
        asked = len(server.asked)
        gate.open()
        assert len(server.asked) == asked == 5
    assert (code, "Traceback" in words) == (130, False)
    assert "3 of 8 rollouts are done. Go on with: rollout test --resume run" in words
    assert keys(tmp_path / "run").total() == 3


def test_a_spent_budget_ends_the_run_on_all_machines(cluster: RayCluster, tmp_path: Path) -> None:
    with ChatServer([says("Done.")]) as server:
        limits = ("-n", "50", "--concurrency", "2", "--max-tokens", "500", "--out", "run")
        code, _, words = ended(asking(server, cluster, *ASKING, *limits, at=tmp_path))
        assert len(server.asked) < 200
    assert code == 1
    assert "stopped: The limit of 500 tokens is reached: " in words
    assert 5 <= keys(tmp_path / "run").total() < 200


def test_an_error_that_all_would_meet_ends_the_run(cluster: RayCluster, tmp_path: Path) -> None:
    with ChatServer([refuses(401, "Wrong key.")]) as server:
        code, _, words = ended(
            asking(server, cluster, *ASKING, "-n", "50", "--concurrency", "2", at=tmp_path)
        )
        assert len(server.asked) <= 4
    assert code == 1
    assert "stopped: “openai” does not accept the key" in words


def test_a_cluster_without_a_machine_that_can_work_ends_the_run(cluster: RayCluster, tmp_path: Path) -> None:
    cluster.kill(0)
    old = tmp_path / "old" / "rollout"
    old.mkdir(parents=True)
    (old / "__init__.py").write_text('__version__ = "0.2.0"\n')
    node = cluster.add(1, path=old.parent)
    code, _, words = ended(rollout(cluster, str(LETTERS), "-m", "oracle", at=tmp_path))
    assert code == 1
    assert (
        "stopped: rollout cannot be imported on a machine of the cluster (No module named 'rollout." in words
    )
    cluster.kill(node)
    arguments = (str(LETTERS), "-m", "oracle", "--out", "run")
    code, _, words = ended(rollout(cluster, *arguments, at=tmp_path, ROLLOUT_RAY_PATIENCE="3"))
    assert code == 1
    # Whether the cluster has noticed by then that the machine is gone is up to it.
    assert re.search("stopped: No (machine of the cluster|worker could be started on the cluster)", words)
    assert "0 of 3 rollouts are done. Go on with: rollout test --resume run" in words


def test_a_cluster_of_another_version_of_ray_is_not_joined(cluster: RayCluster, tmp_path: Path) -> None:
    cluster.pretend(ray_version="2.1.0")
    code, output, words = ended(rollout(cluster, str(LETTERS), "-m", "oracle", at=tmp_path))
    assert (code, output) == (3, "")
    assert "is of another version. Version mismatch: The cluster was started with: Ray: 2.1.0" in words
    assert "help: Install the same versions" in words
