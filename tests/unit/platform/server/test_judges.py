"""A server asks providers to judge and nobody else: what a judge is called must not open a file of its machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from rollout.check import check
from rollout.compile import compile_environment
from rollout.environment import Environment
from rollout.models import is_elsewhere
from rollout.platform.server.app import application
from rollout.platform.server.runner import Runner
from rollout.platform.store import Store, environments, runs
from rollout.source import read

DESK = Path(__file__).parents[3] / "cases" / "models" / "desk"
NOBODY = [
    "replay:{folder}/kept.jsonl?missing=openai/o1",
    "replay:{folder}/kept.jsonl",
    "replay/{folder}/kept.jsonl",
    "oracle",
    "oracle/x",
    "noop",
    "random:1",
    "human",
    "nobody",
    "/m",
    "desk/",
    "desk /m",
    "desk/ m",
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(f"sqlite:///{tmp_path}/data/rollout.db")
    yield made
    made.close()


def judged_by(model: str) -> Environment:
    (document,) = read(DESK)
    judge = {"name": "j", "type": "llm_judge", "rubric": "It is kind.", "model": model}
    return replace(check(document).environment(), verifier={"primitives": [judge]})


def through(store: Store, work: Callable[[httpx.AsyncClient], Awaitable[Any]]) -> Any:
    async def opened() -> Any:
        runner = Runner(store)
        transport = httpx.ASGITransport(application(store, runner, everybody=True))
        await runner.start()
        try:
            async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:
                return await work(client)
        finally:
            await runner.close()

    return asyncio.run(opened())


@pytest.mark.parametrize("model", NOBODY)
def test_a_judge_of_no_provider_is_not_taken(store: Store, tmp_path: Path, model: str) -> None:
    bad = compile_environment(judged_by(model.format(folder=tmp_path)))
    good = compile_environment(judged_by("openai/gpt-4o-mini"))

    async def work(client: httpx.AsyncClient) -> list[httpx.Response]:
        body = {**bad.environment, "verifier": bad.verifier}
        refused = await client.post("/api/environments", json=body)
        taken = await client.post("/api/environments", json={**body, "verifier": good.verifier})
        assert taken.status_code == 201, taken.text
        return [refused, await client.put("/api/environments/desk/verifier", json=bad.verifier)]

    pushed, put = through(store, work)
    assert [pushed.status_code, put.status_code] == [422, 422]
    assert pushed.json()["pointer"] == "/verifier/primitives/0/model"
    assert put.json()["pointer"] == "/primitives/0/model"
    assert "asks only models of providers" in pushed.json()["error"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


@pytest.mark.parametrize("model", ["/m", "desk/", "desk//m", "desk/m m", "human/m", "replay/x", "nobody"])
def test_a_model_that_is_not_there_is_refused_without_naming_what_no_server_has(
    store: Store, model: str
) -> None:
    (document,) = read(DESK)
    store.write(environments.push, compile_environment(check(document).environment()))

    async def work(client: httpx.AsyncClient) -> httpx.Response:
        return await client.post("/api/runs", json={"environmentSlug": "desk", "model": model, "n": 1})

    refused = through(store, work)
    assert (refused.status_code, refused.json()["pointer"]) == (400, "/model")
    assert "PROVIDER/MODEL" in refused.json()["hint"] or model in ("human/m", "replay/x")
    for word in ("human,", "replay:"):
        assert word not in refused.json()["hint"]


def test_a_model_at_a_server_of_ones_own_may_be_called_by_its_path() -> None:
    assert is_elsewhere("lab//models/one.gguf") and is_elsewhere("lab/One 7b")


@pytest.mark.parametrize("model", NOBODY)
def test_what_was_pushed_before_with_such_a_judge_is_not_run(
    store: Store, tmp_path: Path, model: str
) -> None:
    compiled = compile_environment(judged_by(model.format(folder=tmp_path)))
    entry = store.write(environments.push, compiled).entry
    options = {"n": 1, "maxToolCalls": 5}
    old = store.write(
        runs.create,
        environment_id=entry.id,
        digest=entry.digest,
        model="noop",
        options=options,
        total=len(compiled.environment["tasks"]),
    )

    async def work(client: httpx.AsyncClient) -> tuple[httpx.Response, Any]:
        body = {"environmentSlug": entry.slug, "model": "noop", "n": 1}
        refused = await client.post("/api/runs", json=body)
        while True:
            run = (await client.get(f"/api/runs/{old.id}")).json()["run"]
            if run["status"] not in ("queued", "running"):
                return refused, run
            await asyncio.sleep(0.02)

    refused, run = through(store, work)
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/environmentSlug")
    assert run["status"] == "failed"
    assert "asks only models of providers" in run["reason"]
    assert run["done"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


@pytest.mark.parametrize("model", ["replay:{folder}/kept.jsonl?missing=openai/o1", "human"])
def test_a_run_that_was_begun_with_such_a_model_is_not_gone_on_with(
    store: Store, tmp_path: Path, model: str
) -> None:
    (document,) = read(DESK)
    entry = store.write(environments.push, compile_environment(check(document).environment())).entry
    old = store.write(
        runs.create,
        environment_id=entry.id,
        digest=entry.digest,
        model=model.format(folder=tmp_path),
        options={"n": 1, "maxToolCalls": 5},
        total=1,
    )

    async def work(client: httpx.AsyncClient) -> Any:
        while True:
            run = (await client.get(f"/api/runs/{old.id}")).json()["run"]
            if run["status"] not in ("queued", "running"):
                return run
            await asyncio.sleep(0.02)

    run = through(store, work)
    assert run["status"] == "failed"
    assert "cannot act in a run of the platform" in run["reason"]
    assert run["done"] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]
