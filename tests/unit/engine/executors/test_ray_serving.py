"""`rollout serve --executor ray` has its runs done by workers of a cluster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Event

import httpx
from servers.chat import ChatServer, Connection, says
from servers.rollout_server import Platform

from rollout.check import check
from rollout.compile import compile_environment
from rollout.source import read_one

DESK = Path(__file__).parents[3] / "cases" / "models" / "desk"


def test_a_server_has_its_runs_done_by_a_cluster(tmp_path: Path) -> None:
    compiled = compile_environment(check(read_one(DESK)).environment())
    with Platform(tmp_path / "data", "--executor", "ray") as platform:
        headers = {"authorization": f"Bearer {platform.key}"}
        with httpx.Client(base_url=platform.address, headers=headers, timeout=60) as client:
            pushed = client.post("/api/environments", json=compiled.environment)
            assert pushed.status_code == 201, pushed.text
            body = {"environmentSlug": compiled.environment["slug"], "model": "noop", "n": 20}
            run = client.post("/api/runs", json=body).json()["runId"]
            for _ in range(600):
                shown = client.get(f"/api/runs/{run}", params={"include": "rollouts"}).json()
                if shown["run"]["status"] not in ("queued", "running"):
                    break
                Event().wait(0.2)
            # Twenty of each of its three tasks.
            places = [(each["taskIndex"], each["trial"]) for each in shown["rollouts"]]
            assert (shown["run"]["status"], len(set(places)), len(places)) == ("done", 60, 60)


def slowly(connection: Connection) -> None:
    Event().wait(0.1)
    says("It is done.")(connection)


def test_a_run_that_ends_takes_the_cluster_from_no_other(tmp_path: Path) -> None:
    compiled = compile_environment(check(read_one(DESK)).environment())
    with ChatServer([slowly]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": "sk-none"}
        with Platform(tmp_path / "data", "--executor", "ray", **variables) as platform:
            headers = {"authorization": f"Bearer {platform.key}"}
            with httpx.Client(base_url=platform.address, headers=headers, timeout=60) as client:
                assert client.post("/api/environments", json=compiled.environment).status_code == 201
                body = {"environmentSlug": compiled.environment["slug"], "model": "openai/slow"}
                begun = [
                    client.post("/api/runs", json={**body, "n": n, "concurrency": 2}).json()["runId"]
                    for n in (1, 40)
                ]
                for _ in range(600):
                    found = [client.get(f"/api/runs/{run}").json()["run"] for run in begun]
                    if all(run["status"] not in ("queued", "running") for run in found):
                        break
                    Event().wait(0.2)
    assert [(run["status"], run["progress"]) for run in found] == [("done", 3), ("done", 120)]


def test_a_cluster_does_not_take_the_signals_that_end_a_server() -> None:
    code = (
        "import signal\n"
        "from rollout.engine.executors._cluster import join\n"
        "for each in (signal.SIGTERM, signal.SIGINT):\n"
        "    signal.signal(each, lambda *_: None)\n"
        "kept = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)]\n"
        "cluster = join('local')\n"
        "print(kept == [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)])\n"
        "cluster.ray.shutdown()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.stdout.split() == ["True"], ended.stderr
