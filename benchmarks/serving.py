"""How many requests the platform answers, beside a bare Starlette route and a bare SQLite insert in the same run.

    .venv/bin/python benchmarks/serving.py

A server is started as `rollout serve` starts it, on a new SQLite database that is filled with an environment, runs and
100,000 rollouts. What is asked goes over HTTP from a process of its own, with as many connections as are named:

- reads: the list of runs (a page of 20), an environment, a run; against a route that answers a short constant JSON, on
  the same uvicorn with the same settings.
- writes: a run that is queued and not executed (a model that is never asked), each one transaction that is on disk
  before it is answered; against one INSERT and COMMIT with the same settings of SQLite (WAL, synchronous=FULL).
- pushes: 50 clients at once, each an environment of its own and one that all share; none may be lost.
- a page: a page of 50 rollouts of a run that has 100,000, and how long one takes alone.

Limits are ratios: what a request costs more than the bare route, and an insert.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from rollout.check import check
from rollout.compile import compile_environment
from rollout.platform.store import Store, environments, keys, rollouts, runs, tables
from rollout.platform.store.ids import new_id, now
from rollout.platform.store.keys import Scope
from rollout.source import read

ROLLOUTS = 100_000
READ_LIMIT, WRITE_LIMIT = 6.0, 12.0
"""How many times the bare route and the bare insert a request may cost."""

PAGE_LIMIT = 0.05
"""Seconds that a page of a list may take, with 100,000 rollouts."""

BARE = """
import sys, socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def answer(request): return JSONResponse({"runs": []})
app = Starlette(routes=[Route("/", answer)])
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
config = uvicorn.Config(app, log_level="warning", access_log=False)
uvicorn.Server(config).run(sockets=[listening])
"""


@contextmanager
def bare() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, "-c", BARE], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.wait()


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "rollout", "serve", "--port", "0", "--data", str(folder)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if "Serving at " in line:
                yield line.split("Serving at ")[1].split(". ")[0]
                break
    finally:
        process.terminate()
        process.wait()


def fill(folder: Path, environment: Path) -> tuple[str, str, dict[str, Any]]:
    """Fills a database; a key, the id of the large run, and the environment's payload."""
    (document,) = read(environment)
    compiled = compile_environment(check(document).environment())
    store = Store(f"sqlite:///{folder / 'rollout.db'}")
    try:
        _, whole = store.write(keys.create, "benchmark", Scope.ADMIN)
        entry = store.write(environments.push, compiled).entry
        options = {"n": 1, "maxToolCalls": 20}
        made = [
            store.write(
                runs.create,
                environment_id=entry.id,
                digest=entry.digest,
                model="noop",
                options=options,
                total=ROLLOUTS,
            )
            for _ in range(200)
        ]
        for run in made:
            store.write(runs.end, run.id, None, runs.Status.DONE)
        large = made[0]
        line = zlib.compress(json.dumps({"trace": {"messages": ["x" * 2000]}, "verdict": {}}).encode(), 3)

        def rows(start: int) -> list[dict[str, Any]]:
            return [
                {
                    "run_id": large.id,
                    "task_index": index // 100,
                    "trial": index % 100,
                    "id": new_id(),
                    "task": f"task-{index // 100}",
                    "instruction": "Refund order O-1 for $100 for Alice.",
                    "split": "dev",
                    "outcome": ("passed", "failed")[index % 3 == 0],
                    "again": False,
                    "score": 1.0,
                    "reason": "",
                    "calls": 3,
                    "seconds": 1.5,
                    "line": line,
                    "finished_at": now(),
                }
                for index in range(start, start + 5000)
            ]

        for start in range(0, ROLLOUTS, 5000):
            store.write(
                lambda connection, part: connection.execute(tables.rollouts.insert(), part), rows(start)
            )
        assert len(store.read(rollouts.page, large.id, limit=10)) == 10
    finally:
        store.close()
    return whole, large.id, {**compiled.environment, "verifier": compiled.verifier}


async def load(
    address: str,
    requests: Callable[[int], tuple[str, str, Any]],
    *,
    number: int,
    connections: int,
    key: str = "",
) -> tuple[float, list[int]]:
    """Sends ``number`` requests; the seconds that it took, and every status."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    statuses: list[int] = []
    numbers = iter(range(number))
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(address, headers=headers, connector=connector) as session:

        async def work() -> None:
            for each in numbers:
                method, path, body = requests(each)
                async with session.request(method, path, json=body) as answer:
                    await answer.read()
                    statuses.append(answer.status)

        await work_once(session, requests)
        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(connections)))
        return time.perf_counter() - began, statuses


async def work_once(session: aiohttp.ClientSession, requests: Callable[[int], tuple[str, str, Any]]) -> None:
    """Opens what is opened once."""
    method, path, body = requests(0)
    if method == "GET":
        async with session.request(method, path, json=body) as answer:
            await answer.read()


def bare_inserts(folder: Path, number: int) -> float:
    """The seconds that so many transactions of one row take."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("create table t (id text primary key, body text)")
    began = time.perf_counter()
    for _ in range(number):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("insert into t values (?, ?)", (new_id(), "x" * 500))
        connection.execute("COMMIT")
    took = time.perf_counter() - began
    connection.close()
    return took


def told(what: str, ours: float, peer: float, number: int, limit: float, statuses: list[int]) -> bool:
    failed = sum(status >= 400 for status in statuses)
    ratio = ours / peer
    sound = ratio <= limit and not failed
    print(
        f"{what:<28} {number / ours:>7,.0f} a second, bare {number / peer:>7,.0f}: {ratio:.2f}x "
        f"(limit {limit:g}x), {failed} errors  {'ok' if sound else 'FAIL'}"
    )
    return sound


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--environment", default="environments/refund")
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--connections", type=int, default=16)
    wishes = parser.parse_args()
    sound = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        key, large, payload = fill(folder, Path(wishes.environment))
        slug = payload["slug"]
        with bare() as plain, serving(folder) as address:

            def asked(where: str, requests: Any, number: int, connections: int, key: str = "") -> Any:
                return asyncio.run(load(where, requests, number=number, connections=connections, key=key))

            reads = {
                "a page of 20 runs": "/api/runs?limit=20",
                "an environment": f"/api/environments/{slug}",
                "a run": f"/api/runs/{large}",
                "50 of 100,000 rollouts": f"/api/runs/{large}?include=rollouts&limit=50&cursor=500.0",
            }
            for what, path in reads.items():
                peer, _ = asked(plain, lambda _: ("GET", "/", None), wishes.requests, wishes.connections)
                ours, statuses = asked(
                    address,
                    lambda _, path=path: ("GET", path, None),
                    wishes.requests,
                    wishes.connections,
                    key,
                )
                limit = READ_LIMIT * (2 if "50 of" in what else 1)
                sound &= told(what, ours, peer, wishes.requests, limit, statuses)
            number = wishes.requests // 4
            peer = bare_inserts(folder, number)
            body = {"environmentSlug": slug, "model": "noop", "n": 1, "limit": 1}
            ours, statuses = asked(
                address, lambda _: ("POST", "/api/runs", body), number, wishes.connections, key
            )
            sound &= told("runs that are begun", ours, peer, number, WRITE_LIMIT, statuses)
            pushes = [
                ("POST", "/api/environments", {**payload, "slug": f"{slug}-{each}", "name": f"Number {each}"})
                if each % 2
                else ("POST", "/api/environments", {**payload, "name": f"Number {each}"})
                for each in range(200)
            ]
            ours, statuses = asked(address, lambda each: pushes[each], len(pushes), 50, key)
            store = Store(f"sqlite:///{folder / 'rollout.db'}")
            entry = store.read(environments.find, slug)
            assert entry is not None
            versions = len(store.read(environments.versions, entry.id))
            slugs = len(store.read(environments.list_all))
            store.close()
            lost = 202 - versions - slugs
            failed = sum(status >= 400 for status in statuses)
            print(
                f"{'50 clients that push':<28} {len(pushes) / ours:>7,.0f} a second, {failed} errors, {lost} lost"
            )
            sound &= not failed and not lost
            times = sorted(
                asked(address, lambda _: ("GET", reads["50 of 100,000 rollouts"], None), 1, 1, key)[0]
                for _ in range(21)
            )
            print(f"{'a page alone':<28} {times[10] * 1000:>7.1f} ms (limit {PAGE_LIMIT * 1000:g} ms)")
            sound &= times[10] <= PAGE_LIMIT
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
