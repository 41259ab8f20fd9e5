"""Runs that a server executes: through kill -9, a wrong key, a cancellation, and a change of what it asks."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from servers.chat import Act, ChatServer, Connection, hangs, refuses, says
from servers.postgres import Postgres
from servers.rollout_server import Platform

from rollout.check import check
from rollout.compile import compile_environment
from rollout.platform.server.runner import SECONDS_TO_DRAIN
from rollout.source import read

LETTERS = Path(__file__).parents[3] / "cases" / "executors" / "letters"
KEY = "sk-desk-4f6c5cce93aa71"


def later(act: Act, seconds: float) -> Act:
    def answer(connection: Connection) -> None:
        connection.server.closing.wait(seconds)
        act(connection)

    return answer


def client(platform: Platform) -> httpx.Client:
    return httpx.Client(
        base_url=platform.address, headers={"authorization": f"Bearer {platform.key}"}, timeout=30
    )


def push(http: httpx.Client) -> None:
    (document,) = read(LETTERS)
    compiled = compile_environment(check(document).environment())
    assert compiled.verifier is not None
    # Functions of the author's stay on the author's machine.
    primitives = [each for each in compiled.verifier["primitives"] if each["type"] != "python"]
    verifier = {**compiled.verifier, "primitives": primitives}
    body = {**compiled.environment, "slug": "letters", "verifier": verifier}
    assert http.post("/api/environments", json=body).status_code in (200, 201)


def begin(http: httpx.Client, model: str, n: int, **more: Any) -> str:
    body = {"environmentSlug": "letters", "model": model, "n": n, **more}
    answer = http.post("/api/runs", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["runId"])


def run_of(http: httpx.Client, run_id: str) -> Any:
    return http.get(f"/api/runs/{run_id}").json()["run"]


def wait_for(http: httpx.Client, run_id: str, *statuses: str, seconds: float = 90.0) -> Any:
    pause = Event()
    until = time.monotonic() + seconds
    while (run := run_of(http, run_id))["status"] not in statuses:
        assert time.monotonic() < until, run
        pause.wait(0.05)
    return run


def rollouts(http: httpx.Client, run_id: str) -> list[Any]:
    found: list[Any] = http.get(f"/api/runs/{run_id}", params={"include": "rollouts"}).json()["rollouts"]
    return found


def outcomes(found: list[Any]) -> Counter[tuple[str, int, str]]:
    return Counter((each["taskId"], each["trial"], each["outcome"]) for each in found)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_server_that_is_killed_goes_on_where_it_was_and_does_nothing_twice(
    tmp_path: Path, seed: int
) -> None:
    moments = random.Random(seed)
    with ChatServer([later(says("Done."), 0.02)]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        with Platform(tmp_path / "data", **variables) as platform:
            with client(platform) as http:
                push(http)
                undisturbed = begin(http, "openai/gpt-4o-mini", 40, concurrency=4)
                wait_for(http, undisturbed, "done")
                expected = outcomes(rollouts(http, undisturbed))
                disturbed = begin(http, "openai/gpt-4o-mini", 40, concurrency=4)
            for _ in range(6):
                Event().wait(moments.uniform(0.1, 0.6))
                platform.kill()
                platform.start()
            with client(platform) as http:
                run = wait_for(http, disturbed, "done")
                found = rollouts(http, disturbed)
                assert outcomes(found) == expected
                assert run["progress"] == run["n"] == len(found) == 160
                assert run["passed"] + run["failed"] + run["errors"] + run["unscored"] == 160
        assert KEY.encode() not in b"".join(
            path.read_bytes() for path in (tmp_path / "data").iterdir() if path.is_file()
        )


def test_a_server_that_is_asked_to_end_gives_its_runs_back_at_once(tmp_path: Path) -> None:
    with ChatServer([later(says("Done."), 0.05)]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        platform = Platform(tmp_path / "data", **variables)
        platform.start()
        with client(platform) as http:
            push(http)
            run_id = begin(http, "openai/gpt-4o-mini", 100, concurrency=2)
            while run_of(http, run_id)["progress"] < 5:
                Event().wait(0.05)
        began = time.monotonic()
        platform.end()
        assert time.monotonic() - began < 30
        platform.start()
        with client(platform) as http:
            # It is not waited for a lease to run out.
            assert run_of(http, run_id)["status"] == "running"
            before = run_of(http, run_id)["progress"]
            while run_of(http, run_id)["progress"] <= before:
                Event().wait(0.05)
            http.post(f"/api/runs/{run_id}/cancel")
            wait_for(http, run_id, "cancelled")
        platform.end()


def test_a_server_that_is_asked_to_end_finishes_what_is_under_way_and_begins_nothing_else(
    tmp_path: Path,
) -> None:
    with ChatServer([later(says("Done."), 1.0)]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        platform = Platform(tmp_path / "data", **variables)
        platform.start()
        with client(platform) as http:
            push(http)
            run_id = begin(http, "openai/gpt-4o-mini", 3, concurrency=5)
            while len(chat.asked) < 5:
                Event().wait(0.01)
        platform.end()
        assert len(chat.asked) == 5
        platform.start()
        with client(platform) as http:
            run = wait_for(http, run_id, "done")
            # Each rollout is one request: none was asked for twice.
            assert run["progress"] == len(rollouts(http, run_id)) == len(chat.asked) == 12
        platform.end()


def test_a_server_that_is_asked_to_end_twice_waits_for_no_rollout(tmp_path: Path) -> None:
    with ChatServer([hangs]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        platform = Platform(tmp_path / "data", **variables)
        platform.start()
        with client(platform) as http:
            push(http)
            run_id = begin(http, "openai/gpt-4o-mini", 1, concurrency=1)
            while not chat.asked:
                Event().wait(0.01)
        began = time.monotonic()
        platform.ask_to_end()
        Event().wait(0.5)
        platform.end()
        assert time.monotonic() - began < SECONDS_TO_DRAIN
        chat.play(says("Done."))
        platform.start()
        with client(platform) as http:
            assert wait_for(http, run_id, "done")["progress"] == 4
        platform.end()


def test_a_run_is_cancelled_and_gone_on_with(tmp_path: Path) -> None:
    with ChatServer([later(says("Done."), 0.05)]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        with Platform(tmp_path / "data", **variables) as platform, client(platform) as http:
            push(http)
            run_id = begin(http, "openai/gpt-4o-mini", 10, concurrency=2)
            while run_of(http, run_id)["progress"] < 3:
                Event().wait(0.05)
            http.post(f"/api/runs/{run_id}/cancel")
            cancelled = wait_for(http, run_id, "cancelled")
            assert 3 <= cancelled["progress"] < 40
            assert cancelled["reason"] == "It was cancelled."
            http.post(f"/api/runs/{run_id}/resume")
            done = wait_for(http, run_id, "done")
            assert (done["progress"], done["reason"]) == (40, None)
            assert max(outcomes(rollouts(http, run_id)).values()) == 1
            assert http.post(f"/api/runs/{run_id}/resume").status_code == 409


def test_a_run_that_is_gone_on_with_right_after_it_was_cancelled_goes_on(tmp_path: Path) -> None:
    with ChatServer([later(says("Done."), 0.05)]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        with Platform(tmp_path / "data", **variables) as platform, client(platform) as http:
            push(http)
            run_id = begin(http, "openai/gpt-4o-mini", 20, concurrency=2)
            for progress in (2, 8, 14, 20, 26):
                while run_of(http, run_id)["progress"] < progress:
                    Event().wait(0.02)
                assert http.post(f"/api/runs/{run_id}/cancel").status_code == 200
                assert http.post(f"/api/runs/{run_id}/resume").status_code == 200
            done = wait_for(http, run_id, "done", "cancelled", "failed")
            assert (done["status"], done["progress"], done["reason"]) == ("done", 80, None)
            assert max(outcomes(rollouts(http, run_id)).values()) == 1


def test_a_provider_that_refuses_the_key_ends_the_run_with_its_words(tmp_path: Path) -> None:
    with ChatServer([refuses(401, "Wrong key.")]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        with Platform(tmp_path / "data", **variables) as platform, client(platform) as http:
            push(http)
            run = wait_for(http, begin(http, "openai/gpt-4o-mini", 50, concurrency=2), "failed")
            assert "does not accept the key" in run["reason"]
            assert run["successRate"] is None


def test_a_budget_ends_the_run(tmp_path: Path) -> None:
    with ChatServer([says("Done.")]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        with Platform(tmp_path / "data", **variables) as platform, client(platform) as http:
            push(http)
            run = wait_for(
                http, begin(http, "openai/gpt-4o-mini", 50, concurrency=2, budgetTokens=200), "failed"
            )
            assert "limit of 200 tokens" in run["reason"]


def test_a_run_is_not_gone_on_with_on_another_provider(tmp_path: Path) -> None:
    with ChatServer([later(says("Done."), 0.05)]) as chat, ChatServer([says("Done.")]) as other:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        with Platform(tmp_path / "data", **variables) as platform, client(platform) as http:
            push(http)
            run_id = begin(http, "openai/gpt-4o-mini", 50, concurrency=2)
            while run_of(http, run_id)["progress"] < 3:
                Event().wait(0.05)
        variables["OPENAI_BASE_URL"] = other.address
        again = Platform(tmp_path / "data", **variables)
        again.key = platform.key
        with again, client(again) as http:
            run = wait_for(http, run_id, "failed")
            assert "It was begun with something else" in run["reason"]
        assert other.asked == []


def test_a_database_that_is_gone_for_a_while_costs_no_rollout(postgres: Postgres, tmp_path: Path) -> None:
    with ChatServer([later(says("Done."), 0.05)]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        arguments = ("--database", postgres.url)
        with Platform(tmp_path / "data", *arguments, **variables) as platform, client(platform) as http:
            push(http)
            run_id = begin(http, "openai/gpt-4o-mini", 20, concurrency=4)
            while run_of(http, run_id)["progress"] < 10:
                Event().wait(0.05)
            postgres.stop()
            gone = http.get(f"/api/runs/{run_id}")
            assert (gone.status_code, gone.headers["retry-after"]) == (503, "2")
            assert "postgres" not in gone.text
            Event().wait(5)
            postgres.start()
            run = wait_for(http, run_id, "done")
            assert run["progress"] == 80, run
            assert run["errors"] == 0, rollouts(http, run_id)[0]
            assert max(outcomes(rollouts(http, run_id)).values()) == 1


def test_two_servers_over_one_database_share_its_runs(postgres: Postgres, tmp_path: Path) -> None:
    with ChatServer([later(says("Done."), 0.02)]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": KEY}
        arguments = ("--database", postgres.url, "--runs-at-once", "1")
        with Platform(tmp_path / "one", *arguments, **variables) as one:
            two = Platform(tmp_path / "two", *arguments, **variables)
            two.key = one.key
            with two, client(one) as http, client(two) as other:
                push(http)
                begun = [begin(http, "openai/gpt-4o-mini", 10, concurrency=2) for _ in range(4)]
                for run_id in begun:
                    assert wait_for(other, run_id, "done")["progress"] == 40
                    assert max(outcomes(rollouts(http, run_id)).values()) == 1
