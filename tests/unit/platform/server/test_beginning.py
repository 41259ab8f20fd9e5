"""A training job is asked for once, whatever becomes of the database, the server, or the provider's answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx
import pytest
from servers.browsing import Browser
from servers.fine_tuning import FineTuning
from servers.rollout_server import Platform
from sqlalchemy import Connection

from rollout.platform.server import beginning
from rollout.platform.server.app import application
from rollout.platform.server.runner import Runner
from rollout.platform.store import Store, StoreError, jobs

P = ParamSpec("P")
T = TypeVar("T")

REFUNDS = {
    "slug": "refunds",
    "name": "Refunds",
    "template": "workflow",
    "config": {
        "tools": [
            {
                "name": "refund",
                "kind": "action",
                "stateArray": "refunds",
                "paramsSchema": {"order_id": "string", "amount": "number"},
            }
        ],
        "fixtures": {},
        "initialMutableState": {"refunds": []},
    },
    "tasks": [
        {
            "instruction": "Refund order O-1 in full: 100.",
            "hiddenGroundTruth": {"refunds": [{"order_id": "O-1", "amount": 100}]},
            "split": "dev",
        }
    ],
}
KEY = "sk-desk-4f6c5cce93aa71"
MODEL = "openai/gpt-4o-mini-2024-07-18"
ONCE = {"idempotency-key": "once"}


class Away(Store):
    """A database that nothing can be written into for a while."""

    is_away = False

    def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **more: P.kwargs) -> T:
        if self.is_away:
            raise StoreError("The database does not answer: it is away.")
        return super().write(work, *args, **more)


@pytest.fixture
def provider() -> Iterator[FineTuning]:
    with FineTuning(key=KEY) as made:
        yield made


@pytest.fixture
def store(tmp_path: Path, provider: FineTuning, monkeypatch: pytest.MonkeyPatch) -> Iterator[Away]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", provider.address)
    made = Away(f"sqlite:///{tmp_path}/rollout.db")
    yield made
    made.close()


async def trained(client: httpx.AsyncClient) -> dict[str, Any]:
    """What to ask for a job with: a run that passed is there."""
    assert (await client.post("/api/environments", json=REFUNDS)).status_code == 201
    body = {"environmentSlug": "refunds", "model": "oracle", "n": 1}
    run = (await client.post("/api/runs", json=body)).json()["runId"]
    await client.get(f"/api/runs/{run}/events")
    found = (await client.get(f"/api/runs/{run}", params={"include": "rollouts"})).json()["rollouts"]
    return {
        "sourceRunId": run,
        "rolloutIds": [each["id"] for each in found if each["passed"]],
        "baseModel": MODEL,
    }


def serving(store: Store, asking: Callable[[httpx.AsyncClient, dict[str, Any]], Any]) -> Any:
    app = application(store, Runner(store, only_asked=True), everybody=True)

    async def serve() -> Any:
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://local", timeout=60
            ) as client,
        ):
            return await asking(client, await trained(client))

    return asyncio.run(serve())


async def listed(client: httpx.AsyncClient) -> list[Any]:
    found: list[Any] = (await client.get("/api/training-jobs")).json()["jobs"]
    return found


def test_a_job_whose_database_goes_away_meanwhile_is_told_and_kept_when_it_is_back(
    store: Away, provider: FineTuning, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(beginning, "_SECONDS_TO_KEEP", 0.05)

    def taken() -> tuple[int, Any]:
        store.is_away = True
        return 200, {"id": "ftjob-1", "object": "fine_tuning.job"}

    provider.instead = taken

    async def ask(client: httpx.AsyncClient, body: dict[str, Any]) -> Any:
        first = await client.post("/api/training-jobs", json=body, headers=ONCE)
        store.is_away = False
        while not (found := await listed(client))[0]["providerJobId"]:
            await asyncio.sleep(0.01)
        again = await client.post("/api/training-jobs", json=body, headers=ONCE)
        return first, again, found

    first, again, (job,) = serving(store, ask)
    assert (first.status_code, first.json()["providerJobId"]) == (201, "ftjob-1")
    assert (again.status_code, again.json()) == (201, first.json())
    assert (job["id"], job["status"]) == (first.json()["id"], "queued")
    assert "is “ftjob-1” at “openai”" in caplog.text
    assert len(provider.jobs) == 1


def test_a_job_is_asked_for_once_though_whoever_asked_is_gone(store: Away, provider: FineTuning) -> None:
    asked, answered = Event(), Event()

    def slow() -> tuple[int, Any]:
        asked.set()
        answered.wait(30)
        return 200, {"id": "ftjob-1", "object": "fine_tuning.job"}

    provider.instead = slow

    async def ask(client: httpx.AsyncClient, body: dict[str, Any]) -> Any:
        first = asyncio.create_task(client.post("/api/training-jobs", json=body, headers=ONCE))
        await asyncio.to_thread(asked.wait, 30)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        (starting,) = await listed(client)
        meanwhile = await client.post("/api/training-jobs", json=body, headers=ONCE)
        answered.set()
        while not (found := await listed(client))[0]["providerJobId"]:
            await asyncio.sleep(0.01)
        again = await client.post("/api/training-jobs", json=body, headers=ONCE)
        return starting, meanwhile, again, found

    starting, meanwhile, again, (job,) = serving(store, ask)
    assert (starting["status"], starting["providerJobId"]) == ("starting", None)
    assert meanwhile.status_code == 409
    assert (again.status_code, again.json()) == (201, {"id": job["id"], "providerJobId": "ftjob-1"})
    assert len(provider.jobs) == 1


@pytest.mark.parametrize(
    "instead",
    [(0, None), (502, {}), (500, {"error": {"message": "Oh."}}), (408, {}), (200, {}), (200, "text")],
    ids=["no answer", "502", "500", "408", "no id", "no object"],
)
def test_a_job_whose_answer_is_lost_may_have_begun_and_is_not_asked_for_again(
    store: Away, provider: FineTuning, instead: tuple[int, Any]
) -> None:
    provider.instead = lambda: instead

    async def ask(client: httpx.AsyncClient, body: dict[str, Any]) -> Any:
        answers = [await client.post("/api/training-jobs", json=body, headers=ONCE) for _ in range(2)]
        (job,) = await listed(client)
        refreshed = await client.post(f"/api/training-jobs/{job['id']}/refresh")
        return answers, job, refreshed

    (first, again), job, refreshed = serving(store, ask)
    assert (first.status_code, again.status_code) == (422, 422)
    assert "may have begun there: look at the training jobs of “openai”" in first.json()["hint"]
    assert "ry it again" not in first.text + again.text
    assert again.json()["error"] == job["error"] == f"{first.json()['error']} {first.json()['hint']}"
    assert (job["status"], job["providerJobId"]) == ("unknown", None)
    assert (refreshed.status_code, refreshed.json()["job"]) == (200, job)
    assert len(provider.jobs) == 1


@pytest.mark.parametrize("refused", ["by the provider", "without a key", "out of reach"])
def test_of_a_job_that_was_refused_nothing_is_left(
    store: Away, provider: FineTuning, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    if refused == "by the provider":
        provider.refuses = "The model may not be trained."
    elif refused == "without a key":
        monkeypatch.delenv("OPENAI_API_KEY")
    else:
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    async def ask(client: httpx.AsyncClient, body: dict[str, Any]) -> Any:
        answer = await client.post("/api/training-jobs", json=body, headers=ONCE)
        left = await listed(client)
        provider.refuses = None
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", provider.address)
        return answer, left, await client.post("/api/training-jobs", json=body, headers=ONCE)

    answer, left, again = serving(store, ask)
    assert (answer.status_code, left) == (422, [])
    assert "may have begun" not in answer.text
    assert (again.status_code, len(provider.jobs)) == (201, 1)


def test_a_server_that_is_killed_while_it_asks_leaves_a_job_that_says_so(
    tmp_path: Path, provider: FineTuning
) -> None:
    asked, over = Event(), Event()

    def hangs() -> tuple[int, Any]:
        asked.set()
        over.wait(60)
        return 0, None

    provider.instead = hangs
    variables = {"OPENAI_BASE_URL": provider.address, "OPENAI_API_KEY": KEY}
    with Platform(tmp_path / "data", **variables) as platform:

        async def ask() -> dict[str, Any]:
            async with asking(platform) as client:
                body = await trained(client)
                first = asyncio.create_task(client.post("/api/training-jobs", json=body, headers=ONCE))
                await asyncio.to_thread(asked.wait, 60)
                platform.kill()
                await asyncio.gather(first, return_exceptions=True)
                return body

        body = asyncio.run(ask())
        platform.start()

        async def again() -> Any:
            async with asking(platform) as client:
                answers = [await client.post("/api/training-jobs", json=body, headers=ONCE) for _ in range(2)]
                return answers, await listed(client)

        answers, (job,) = asyncio.run(again())
        over.set()
        said = "The server ended before “openai” had answered. The job may have begun there"
        assert [each.status_code for each in answers] == [422, 422]
        assert answers[0].json()["error"] == answers[1].json()["error"] == job["error"]
        assert job["error"].startswith(said)
        assert job["status"] == "unknown"
        with httpx.Client(base_url=platform.address, headers={"accept": "text/html"}, timeout=60) as http:
            browser = Browser(http)
            browser.sign_in(platform.key)
            assert said in browser.get(f"/training/{job['id']}").text
            assert "unknown" in browser.get("/training").text
        assert len(provider.jobs) == 1


def asking(platform: Platform) -> httpx.AsyncClient:
    headers = {"authorization": f"Bearer {platform.key}"}
    return httpx.AsyncClient(base_url=platform.address, headers=headers, timeout=60)


def test_a_request_has_one_job_however_many_servers_carry_it_out(store: Away) -> None:
    async def ask(client: httpx.AsyncClient, body: dict[str, Any]) -> Any:
        given = {
            "run_id": body["sourceRunId"],
            "provider": "openai",
            "base_model": MODEL,
            "method": "sft",
            "suffix": None,
            "hyperparams": {},
            "rollout_ids": body["rolloutIds"],
        }
        made = store.write(jobs.create, **given, asked="mark")
        with pytest.raises(StoreError):
            store.write(jobs.create, **given, asked="mark")
        return made, store.read(jobs.by_request, "mark"), await listed(client)

    made, found, all_of_them = serving(store, ask)
    assert found == made
    assert [each["id"] for each in all_of_them] == [made.id]
