"""A disk without room is called that, and what was under way goes on when there is some again."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from servers import chat
from servers.chat import Act, ChatServer, says
from servers.rollout_server import Platform
from sqlalchemy import Connection
from starlette.applications import Starlette

from rollout.check import check
from rollout.compile import compile_environment
from rollout.platform.server import access
from rollout.platform.server.app import application
from rollout.platform.server.processes import this_process
from rollout.platform.server.runner import Runner
from rollout.platform.store import FullError, Store, environments, keys, repeats, rollouts, runs
from rollout.platform.store.keys import Scope
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


def asking(app: Starlette, whole: str = "") -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {whole}"} if whole else {}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://local", headers=headers)


def queued(store: Store, model: str = "noop") -> runs.Run:
    (document,) = read(LETTERS)
    environment = replace(
        check(document).environment(),
        verifier={"primitives": [{"name": "clean", "type": "no_tool_errors"}]},
    )
    entry = store.write(environments.push, compile_environment(environment)).entry
    return store.write(
        runs.create,
        environment_id=entry.id,
        digest=entry.digest,
        model=model,
        options={"n": 1, "maxToolCalls": 5},
        total=len(environment.tasks),
    )


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


LARGE = (rollouts.keep, repeats.forget, repeats.answered)


class Filling(Store):
    """A store that takes nothing more while its disk ``has_room`` no more, and nothing large while it is nearly so."""

    has_room = True
    is_nearly_full = False

    def write(self, work: Any, *args: Any, **more: Any) -> Any:
        has_room = self.has_room and not (self.is_nearly_full and work in LARGE)
        if not has_room:
            self.is_full = True
            raise FullError
        return super().write(work, *args, **more)


@pytest.fixture
def filling(tmp_path: Path) -> Iterator[Filling]:
    store = Filling(f"sqlite:///{tmp_path}/rollout.db")
    yield store
    store.close()


def test_a_server_ends_in_words_though_nothing_can_be_noted_down(
    filling: Filling, caplog: pytest.LogCaptureFixture
) -> None:
    _, whole = filling.write(keys.create, "mine", Scope.READ)
    app = application(filling, Runner(filling))

    async def serve() -> None:
        async with app.router.lifespan_context(app), asking(app, whole) as client:
            assert (await client.get("/api/runs")).status_code == 200
            filling.has_room = False

    asyncio.run(serve())
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "When keys were used last could not be noted. The disk that the database is on is full."
    ]


def test_a_server_starts_though_the_runs_of_a_dead_one_cannot_be_freed(
    filling: Filling, caplog: pytest.LogCaptureFixture
) -> None:
    run = queued(filling)
    filling.write(runs.lease, f"{this_process().rpartition(' ')[0]} 00000000 1", 1000)
    filling.has_room = False

    async def serve() -> int:
        app = application(filling, Runner(filling), everybody=True)
        async with app.router.lifespan_context(app), asking(app) as client:
            return (await client.get(f"/api/runs/{run.id}")).status_code

    assert asyncio.run(serve()) == 200
    assert "is full" in caplog.text and "Traceback" not in caplog.text


def test_a_run_that_stands_still_says_why_at_once_and_once(
    filling: Filling, caplog: pytest.LogCaptureFixture
) -> None:
    run = queued(filling)
    filling.is_nearly_full = True
    full = "The disk that the database is on is full."

    async def serve() -> Any:
        app = application(filling, Runner(filling), everybody=True)
        async with app.router.lifespan_context(app), asking(app) as client:
            while (filling.read(runs.get, run.id) or run).reason is None:
                await asyncio.sleep(0.01)
            stands = filling.read(runs.get, run.id)
            filling.is_nearly_full = False
            while (told := (await client.get(f"/api/runs/{run.id}")).json()["run"])["status"] == "running":
                await asyncio.sleep(0.01)
            return stands, told

    stands, told = asyncio.run(serve())
    assert (stands.status, stands.reason) == ("running", f"{full} It goes on when there is room.")
    assert (told["status"], told["done"], told["reason"]) == ("done", run.total, None)
    said = [record.getMessage() for record in caplog.records if run.id in record.getMessage()]
    assert said == [f"The run {run.id} stands still, as no rollout of it can be kept. {full}"]


def test_a_request_that_comes_again_is_told_of_the_full_disk_and_not_of_itself(
    filling: Filling, monkeypatch: pytest.MonkeyPatch
) -> None:
    (document,) = read(LETTERS)
    body = dict(compile_environment(check(document).environment()).environment)
    push = environments.push

    def has_no_room(*_: Any, **__: Any) -> Any:
        raise FullError

    async def thrice() -> list[httpx.Response]:
        app = application(filling, Runner(filling), everybody=True)
        async with asking(app) as client:

            async def ask() -> httpx.Response:
                headers = {"idempotency-key": "once"}
                return await client.post("/api/environments", json=body, headers=headers)

            filling.is_nearly_full = True
            monkeypatch.setattr(environments, "push", has_no_room)
            full = [await ask(), await ask()]
            filling.has_room = False
            full.append(await ask())
            filling.has_room = True
            monkeypatch.setattr(environments, "push", push)
            return [*full, await ask()]

    *full, last = asyncio.run(thrice())
    assert [answer.status_code for answer in full] == [503, 503, 503]
    assert {answer.json()["error"] for answer in full} == {"The disk that the database is on is full."}
    assert (last.status_code, last.json()["slug"]) == (201, "letters")


def test_what_is_done_is_answered_so_though_the_answer_cannot_be_kept(filling: Filling) -> None:
    (document,) = read(LETTERS)
    body = dict(compile_environment(check(document).environment()).environment)
    filling.is_nearly_full = True

    async def ask() -> httpx.Response:
        async with asking(application(filling, Runner(filling), everybody=True)) as client:
            return await client.post("/api/environments", json=body, headers={"idempotency-key": "once"})

    assert asyncio.run(ask()).status_code == 201


def test_uses_of_keys_are_noted_again_when_there_is_room(
    filling: Filling, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "_BETWEEN_NOTES", 0.01)
    _, whole = filling.write(keys.create, "mine", Scope.READ)
    app = application(filling, Runner(filling))

    async def serve() -> None:
        async with app.router.lifespan_context(app), asking(app, whole) as client:
            filling.has_room = False
            await client.get("/api/runs")
            while "could not be noted" not in caplog.text:
                await asyncio.sleep(0.01)
            filling.has_room = True
            while (key := filling.read(keys.known, whole)) is None or key.used_at is None:
                await asyncio.sleep(0.01)

    asyncio.run(serve())


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
