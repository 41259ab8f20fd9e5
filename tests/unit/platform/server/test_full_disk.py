"""A disk without room is called that, and what was under way goes on when there is some again."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import httpx
import pytest
from servers import chat
from servers.chat import Act, ChatServer, says
from servers.rollout_server import Platform
from sqlalchemy import Connection

from rollout.check import check
from rollout.compile import compile_environment
from rollout.platform.store import FullError, Store, environments
from rollout.source import read

LETTERS = Path(__file__).parents[3] / "cases" / "executors" / "letters"
MEGABYTES = 8


@pytest.fixture
def small() -> Iterator[Path]:
    """A folder on a disk of a few megabytes."""
    folder = Path(tempfile.mkdtemp())
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        shutil.rmtree(folder)
        pytest.skip("nothing can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
    folder.rmdir()


def fill(folder: Path) -> None:
    with (folder / "filling").open("wb", buffering=0) as file:
        for size in (65536, 4096, 512):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


def slowly(seconds: float) -> Act:
    def answer(connection: chat.Connection) -> None:
        connection.server.closing.wait(seconds)
        says("Done. " * 2000)(connection)

    return answer


def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_room(small: Path) -> None:
    (document,) = read(LETTERS)
    compiled = compile_environment(check(document).environment())
    verifier = {"primitives": [{"name": "clean", "type": "no_tool_errors"}]}
    body = {**compiled.environment, "slug": "letters", "verifier": verifier}
    with ChatServer([slowly(0.05)]) as server:
        variables = {"OPENAI_BASE_URL": server.address, "OPENAI_API_KEY": "sk-x"}
        with Platform(small / "data", **variables) as platform:
            headers = {"authorization": f"Bearer {platform.key}"}
            with httpx.Client(base_url=platform.address, headers=headers, timeout=60) as http:
                assert http.post("/api/environments", json=body).status_code == 201
                asked = {"environmentSlug": "letters", "model": "openai/o1", "n": 20, "concurrency": 2}
                run_id = http.post("/api/runs", json=asked).json()["runId"]
                while http.get(f"/api/runs/{run_id}").json()["run"]["done"] < 4:
                    Event().wait(0.05)
                fill(small)
                for number in range(200):
                    refused = http.post(
                        "/api/environments", json={**body, "description": f"N{number} " * 20000}
                    )
                    if refused.status_code == 503:
                        break
                assert refused.status_code == 503
                assert refused.json()["error"] == "The disk that the database is on is full."
                health = http.get("/api/health")
                assert (health.status_code, health.json()["error"]) == (503, refused.json()["error"])
                run = http.get(f"/api/runs/{run_id}").json()["run"]
                assert (run["status"], "is full" in run["reason"]) == ("running", True)
                (small / "filling").unlink()
                while (run := http.get(f"/api/runs/{run_id}").json()["run"])["status"] == "running":
                    Event().wait(0.1)
                assert (run["status"], run["done"], run["reason"]) == ("done", 80, None)
                assert http.get("/api/health").status_code == 200


def test_a_database_that_may_grow_no_further_is_full(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    (document,) = read(LETTERS)
    compiled = compile_environment(replace(check(document).environment(), description="Long. " * 50_000))

    def push(connection: Connection, most: int) -> None:
        # The least that it may be is what it is now.
        connection.exec_driver_sql(f"PRAGMA max_page_count = {most}")
        environments.push(connection, compiled)

    try:
        with pytest.raises(FullError, match="is full"):
            store.write(push, 1)
        assert store.is_full
        store.write(push, 1_000_000)
        assert not store.is_full
    finally:
        store.close()
