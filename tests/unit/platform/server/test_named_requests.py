"""A named request whose server breaks down after the work is done is answered as it would have been, not done again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx

from rollout.check import check
from rollout.compile import compile_environment
from rollout.platform.server.app import application
from rollout.platform.server.runner import Runner
from rollout.platform.store import Store, environments, runs
from rollout.source import read

DESK = Path(__file__).parents[3] / "cases" / "models" / "desk"


class BreaksDown(Runner):
    """Is told of a run, and takes the answer with it."""

    def wake(self, *_: Any) -> None:
        raise RuntimeError


def test_a_run_is_begun_once_though_its_answer_was_lost(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    (document,) = read(DESK)
    entry = store.write(environments.push, compile_environment(check(document).environment())).entry
    app = application(store, BreaksDown(store), everybody=True)
    body = {"environmentSlug": entry.slug, "model": "noop", "n": 1}

    async def twice() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:
            headers = {"idempotency-key": "once"}
            return [await client.post("/api/runs", json=body, headers=headers) for _ in range(2)]

    try:
        first, second = asyncio.run(twice())
        assert (first.status_code, second.status_code) == (500, 201)
        (run,) = store.read(runs.newest)
        assert second.json()["runId"] == run.id
    finally:
        store.close()
