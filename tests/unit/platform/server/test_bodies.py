"""What a body may cost a server: however many faults it has, others are answered meanwhile."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers.postgres import Postgres

from rollout.check import check
from rollout.compile import compile_environment
from rollout.platform.server import bodies
from rollout.platform.server import environments as endpoints
from rollout.platform.server.app import application
from rollout.platform.server.runner import Runner
from rollout.platform.store import Store, environments
from rollout.source import read

DESK = Path(__file__).parents[3] / "cases" / "models" / "desk"
TWICE = {"primitives": [{"name": "a", "type": "no_tool_errors"}]}


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        made = Store(f"sqlite:///{tmp_path}/rollout.db")
    else:
        made = Store(request.getfixturevalue("postgres").url)
    yield made
    made.close()


def ask(store: Store, *requests: tuple[str, str, Any], **headers: str) -> list[httpx.Response]:
    async def all_of_them() -> list[httpx.Response]:
        transport = httpx.ASGITransport(application(store, Runner(store), everybody=True))
        async with httpx.AsyncClient(transport=transport, base_url="http://local", timeout=60) as client:
            answers = []
            for method, path, body in requests:
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                kind = {"content-type": "application/json"}
                answers.append(
                    await client.request(method, path, content=content, headers={**kind, **headers})
                )
            return answers

    return asyncio.run(all_of_them())


def payload(**changes: Any) -> dict[str, Any]:
    (document,) = read(DESK)
    compiled = compile_environment(check(document).environment())
    return {**compiled.environment, "verifier": compiled.verifier, **changes}


FAULTS = {
    "zeros": ("POST", "/api/environments", payload(tasks=[0] * 30_000)),
    "keys": ("POST", "/api/environments", payload(**{f"k{n}": 1 for n in range(20_000)})),
    "tasks with unknown keys": ("POST", "/api/environments", payload(tasks=[{"a": 1}] * 20_000)),
    "primitives": ("POST", "/api/environments", payload(verifier={"primitives": [{"a": 1}] * 20_000})),
    "run": ("POST", "/api/runs", {"environmentSlug": "e", **{f"k{n}": 1 for n in range(20_000)}}),
    "training": ("POST", "/api/training-jobs", {"rolloutIds": [0] * 50_000}),
    "generation": ("POST", "/api/environments/generate", {f"k{n}": 1 for n in range(20_000)}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_body_with_endless_faults_is_refused_beside_the_loop_and_briefly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    threads = []
    within = bodies._check_shape

    def noted(*given: Any) -> None:
        threads.append(threading.current_thread())
        within(*given)

    monkeypatch.setattr(bodies, "_check_shape", noted)
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    try:
        (refused,) = ask(store, FAULTS[name])
    finally:
        store.close()
    assert refused.status_code == 400
    assert 0 < len(refused.json()["errors"]) <= 60
    assert len(refused.content) < 100_000
    assert threads
    assert threading.main_thread() not in threads


@pytest.mark.parametrize(
    ("content", "pointer", "words"),
    [
        (b'{"slug": "a", "slug": "b"}', "/slug", "is there twice"),
        (
            b'{"tasks": [{}, {"split": "dev", "x": {"y/z": 1, "y/z": 1}}]}',
            "/tasks/1/x/y~1z",
            "is there twice",
        ),
        (b'{"a": ' * 101 + b"[1, 2]" + b"}" * 101, "", "“a” is not a key"),
        (b'{"a": ' * 103 + b"1" + b"}" * 103, None, "More than 102 objects and lists lie inside each other"),
        (b'{"a": ' * 900 + b"1" + b"}" * 900, None, "More than 102 objects and lists lie inside each other"),
        (b"[" * 5000, None, "More than 102 objects and lists lie inside each other"),
        (b'{"slug": NaN}', None, "is no JSON"),
        (b'{"slug": "\\ud800"}', None, "is no JSON"),
    ],
)
def test_a_body_is_read_as_strictly_as_a_file(
    tmp_path: Path, content: bytes, pointer: str | None, words: str
) -> None:
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    try:
        (refused,) = ask(store, ("POST", "/api/environments", content))
    finally:
        store.close()
    told = refused.json()
    assert (refused.status_code, told.get("pointer")) == (400, pointer)
    assert any(words in each for each in (told["error"], *(e["message"] for e in told.get("errors", ()))))


def test_a_slug_that_is_the_name_of_a_page_is_not_taken(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/rollout.db")
    try:
        (refused,) = ask(store, ("POST", "/api/environments", payload(slug="new")))
    finally:
        store.close()
    assert (refused.status_code, refused.json()["pointer"]) == (422, "/slug")


@pytest.mark.parametrize("first", ["environment", "verifier"])
def test_a_push_that_comes_in_between_is_kept(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """One says all but the verifier, the other the verifier; the second ends when the first has looked already."""
    store = Store(postgres.url)
    slug = f"both-{first}"
    ask(store, ("POST", "/api/environments", payload(slug=slug)))
    whole = payload(slug=slug, description="Pushed anew.")
    del whole["verifier"]
    pushes = {
        "environment": ("POST", "/api/environments", whole),
        "verifier": ("PUT", f"/api/environments/{slug}/verifier", TWICE),
    }
    second = next(pushes[name] for name in pushes if name != first)
    in_between: list[httpx.Response] = []
    locking = environments.lock

    def lock(connection: Any, name: str) -> bool:
        if not in_between:
            in_between.append(httpx.Response(102))
            with ThreadPoolExecutor(1) as other:
                in_between[:] = other.submit(ask, store, second).result()
        return locking(connection, name)

    monkeypatch.setattr(endpoints.environments, "lock", lock)
    (answer,) = ask(store, pushes[first])
    assert [answer.status_code, in_between[0].status_code] == [200, 200]
    held = store.read(environments.find, slug)
    assert held is not None
    data = json.loads(store.read(environments.data, held.id, held.digest) or b"")
    assert data["verifier"]["primitives"][0]["name"] == "a"
    assert data["environment"]["description"] == "Pushed anew."
    store.close()


def test_what_is_pushed_by_many_at_once_is_undone_by_none(store: Store) -> None:
    slug = "many-at-once"
    ask(store, ("POST", "/api/environments", payload(slug=slug)))
    whole = payload(slug=slug)
    del whole["verifier"]

    def environment(number: int) -> httpx.Response:
        return ask(store, ("POST", "/api/environments", {**whole, "description": f"{number}"}))[0]

    def verifier(number: int) -> httpx.Response:
        said = {"primitives": [{"name": f"v{number}", "type": "no_tool_errors"}]}
        return ask(store, ("PUT", f"/api/environments/{slug}/verifier", said))[0]

    with ThreadPoolExecutor(2) as both:
        for number in range(8):
            one, other = both.submit(environment, number), both.submit(verifier, number)
            assert [one.result().status_code, other.result().status_code] == [200, 200]
            held = store.read(environments.find, slug)
            assert held is not None
            data = json.loads(store.read(environments.data, held.id, held.digest) or b"")
            found = data["environment"]["description"], data["verifier"]["primitives"][0]["name"]
            assert found == (f"{number}", f"v{number}")


@pytest.mark.parametrize("kind", ["environment", "verifier"])
def test_a_push_that_is_sent_twice_is_not_refused_for_its_own_version(store: Store, kind: str) -> None:
    slug = f"twice-{kind}"
    (made,) = ask(store, ("POST", "/api/environments", payload(slug=slug)))
    digest = made.json()["digest"]
    push = (
        ("POST", "/api/environments", payload(slug=slug, description="Anew."))
        if kind == "environment"
        else ("PUT", f"/api/environments/{slug}/verifier", TWICE)
    )
    headers = {"if-match": digest, "idempotency-key": f"once-{kind}"}
    first, again = ask(store, push, push, **headers)
    assert [first.status_code, again.status_code] == [200, 200]
    assert first.json() == again.json()
    (other,) = ask(store, push, **{**headers, "idempotency-key": f"other-{kind}"})
    assert other.status_code == 412


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/runs?cursor=1.%00", None, 400),
        ("GET", "/api/runs?environment=%00", None, 200),
        ("GET", "/api/runs?status=%00", None, 400),
        ("GET", "/api/runs/%00", None, 404),
        ("GET", "/api/runs/a%00/events", None, 404),
        ("GET", "/api/environments?cursor=%00&limit=1", None, 200),
        ("GET", "/api/environments/%00", None, 404),
        ("GET", "/api/environments/nul?digest=%00", None, 404),
        ("POST", "/api/environments", payload(slug="nul", name="a\0b", description="\0"), 200),
        ("POST", "/api/environments", payload(slug="a\0b"), 400),
        ("POST", "/api/runs", {"environmentSlug": "a\0b", "model": "noop", "n": 1}, 404),
        ("POST", "/api/runs", {"environmentSlug": "nul", "model": "no\0op", "n": 1}, 400),
        ("POST", "/api/runs", {"environmentSlug": "nul", "model": "noop", "n": 1, "tasks": ["\0"]}, 400),
        ("POST", "/api/runs", {"environmentSlug": "nul", "model": "noop", "n": 1, "parentRunId": "\0"}, 404),
        (
            "POST",
            "/api/runs",
            {"environmentSlug": "nul", "model": "noop", "n": 1, "name": "a\0", "x-\0": "\0"},
            201,
        ),
        ("POST", "/api/keys", {"name": "a\0b"}, 201),
        ("DELETE", "/api/keys/%00", None, 400),
        ("POST", "/api/training-jobs/%00/refresh", None, 404),
    ],
)
def test_a_text_with_a_nul_breaks_nothing_down(
    nuls: Store, method: str, path: str, body: Any, status: int
) -> None:
    (answer,) = ask(nuls, (method, path, body))
    assert answer.status_code == status, answer.text


@pytest.fixture(scope="module")
def nuls(postgres: Postgres) -> Iterator[Store]:
    store = Store(postgres.url)
    ask(store, ("POST", "/api/environments", payload(slug="nul")))
    yield store
    store.close()
