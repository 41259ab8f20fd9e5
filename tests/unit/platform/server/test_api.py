"""What the API answers and refuses, over HTTP to a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers.rollout_server import Platform

from rollout.check import check
from rollout.compile import compile_environment
from rollout.platform.client import Client
from rollout.platform.store import Store, keys
from rollout.platform.store.keys import Scope
from rollout.source import read

DESK = Path(__file__).parents[3] / "cases" / "models" / "desk"


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("platform") / "data") as made:
        yield made


@pytest.fixture(scope="module")
def http(platform: Platform) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {platform.key}"}
    with httpx.Client(base_url=platform.address, headers=headers, timeout=30) as client:
        yield client


def payload(slug: str = "desk", **changes: Any) -> dict[str, Any]:
    (document,) = read(DESK)
    compiled = compile_environment(check(document).environment())
    return {**compiled.environment, "slug": slug, "verifier": compiled.verifier, **changes}


def test_a_push_is_idempotent_by_digest_and_every_version_is_kept(http: httpx.Client) -> None:
    first = http.post("/api/environments", json=payload("versions"))
    again = http.post("/api/environments", json=payload("versions"))
    other = http.post("/api/environments", json=payload("versions", name="Other"))
    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 200)
    assert (first.json()["created"], again.json()["unchanged"], other.json()["unchanged"]) == (
        True,
        True,
        False,
    )
    assert first.json()["tasksAdded"] > 0
    assert other.json()["tasksAdded"] == 0
    kept = http.get("/api/environments/versions/versions").json()["versions"]
    assert [each["number"] for each in kept] == [2, 1]
    old = http.get("/api/environments/versions", params={"digest": first.json()["digest"]}).json()
    assert (old["name"], http.get("/api/environments/versions").json()["name"]) == (
        payload()["name"],
        "Other",
    )


def test_what_is_not_said_of_the_verifier_stays(http: httpx.Client) -> None:
    whole = payload("verified")
    http.post("/api/environments", json=whole)
    without = {key: value for key, value in whole.items() if key != "verifier"}
    assert http.post("/api/environments", json=without).json()["unchanged"] is True
    changed = {"primitives": [{"name": "clean", "type": "no_tool_errors", "weight": 1}]}
    assert http.put("/api/environments/verified/verifier", json=changed).json() == changed
    assert http.get("/api/environments/verified").json()["verifier"] == changed


@pytest.mark.parametrize("path", ["/api/environments", "/api/runs"])
def test_as_many_are_answered_as_are_asked_for(http: httpx.Client, path: str) -> None:
    name = path.rpartition("/")[2]
    for slug in ("many-a", "many-b"):
        http.post("/api/environments", json=payload(slug))
        http.post("/api/runs", json={"environmentSlug": slug, "model": "noop", "n": 1})
    everything = http.get(path).json()
    assert everything["nextCursor"] is None
    for limit in ("1000", "5000", "0001000000", "9" * 40):
        answer = http.get(path, params={"limit": limit})
        assert (answer.status_code, len(answer.json()[name])) == (200, len(everything[name])), limit
    first = http.get(path, params={"limit": "1"}).json()
    assert (len(first[name]), first["nextCursor"] is None) == (1, False)
    for limit in ("", "0", "-1", "1e3", "1.5", "٣", "many"):
        refused = http.get(path, params={"limit": limit})
        assert (refused.status_code, refused.json()["pointer"]) == (400, "?limit"), limit


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (payload(template="flow"), "/template"),
        (
            payload(tasks=[{"instruction": 3, "hiddenGroundTruth": {}, "split": "dev"}]),
            "/tasks/0/instruction",
        ),
        (payload(config=None), "/config"),
        (payload(verifier={"primitives": [{"name": "x", "type": "no_such"}]}), "/verifier/primitives/0/type"),
        ({}, ""),
        ([], ""),
    ],
)
def test_a_fault_of_a_body_is_named_by_its_pointer(http: httpx.Client, body: Any, pointer: str) -> None:
    refused = http.post("/api/environments", json=body)
    assert refused.status_code == 400
    told = refused.json()
    assert told["error"]
    assert told["pointer"] == pointer


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/environments", payload(template="flow"), "“template” cannot be “flow”."),
        ("/api/environments", payload(config=None), "The config "),
        ("/api/runs", {"n": "many"}, "“n” of the request has to be a whole number"),
        ("/api/runs", {"temperature": "hot"}, "“temperature” of the request has to be a number or null"),
        ("/api/runs", {"split": "all"}, "“split” of the request cannot be “all”."),
        ("/api/runs", {"tasks": [1]}, "Item 1 of “tasks” of the request has to be text"),
        ("/api/runs", {"colour": 1}, "“colour” is not a key of the request."),
        ("/api/environments/generate", {"template": "flow"}, "“template” of the request cannot be “flow”."),
        ("/api/environments/generate/refine", {"current": 1}, "“current” of the request has to be an object"),
        ("/api/training-jobs", {"rolloutIds": []}, "“rolloutIds” of the request is an empty list."),
    ],
)
def test_a_fault_of_a_body_is_told_by_the_name_of_its_home(
    http: httpx.Client, path: str, body: dict[str, Any], words: str
) -> None:
    whole = {
        "/api/runs": {"environmentSlug": "desk", "model": "noop", "n": 1},
        "/api/environments/generate": {"description": "A desk.", "template": "workflow"},
        "/api/environments/generate/refine": {"instruction": "More.", "template": "workflow", "current": {}},
        "/api/training-jobs": {"sourceRunId": "x", "rolloutIds": ["y"], "baseModel": "openai/x"},
    }
    told = http.post(path, json={**whole.get(path, {}), **body}).json()
    assert any(words in each["message"] for each in told["errors"]), told
    if path != "/api/environments":
        assert "config" not in told["error"]


def test_a_function_of_the_authors_is_not_taken(http: httpx.Client) -> None:
    primitive = {"name": "polite", "type": "python", "function": "grade.py:polite"}
    refused = http.post("/api/environments", json=payload("code", verifier={"primitives": [primitive]}))
    assert refused.status_code == 422
    assert refused.json()["pointer"] == "/verifier/primitives/0"
    assert http.get("/api/environments/code").status_code == 404


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"[" * 100_000, "application/json", 400),
        (b'{"slug": "' + b"x" * (65 * 1024 * 1024) + b'"}', "application/json", 413),
    ],
    ids=["cut", "type", "deep", "large"],
)
def test_a_body_that_cannot_be_read_is_refused(
    http: httpx.Client, content: bytes, kind: str, status: int
) -> None:
    refused = http.post("/api/environments", content=content, headers={"content-type": kind})
    assert refused.status_code == status
    assert refused.json()["error"]


@pytest.mark.parametrize("path", ["/api/environments", "/api/runs", "/api/keys", "/api/whoami", "/metrics"])
@pytest.mark.parametrize("header", [None, "Bearer rk_wrong", "Bearer", "Basic cms6"])
def test_nothing_is_answered_without_a_key(platform: Platform, path: str, header: str | None) -> None:
    headers = {} if header is None else {"authorization": header}
    refused = httpx.get(platform.address + path, headers=headers)
    assert refused.status_code in (401, 429)
    assert set(refused.json()) <= {"error", "hint"}


def test_a_key_does_what_its_scope_says_until_it_is_revoked(platform: Platform, http: httpx.Client) -> None:
    made = http.post("/api/keys", json={"name": "reader", "scope": "read"})
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    reader = {"authorization": f"Bearer {made.json()['key']}"}
    assert httpx.get(f"{platform.address}/api/runs", headers=reader).status_code == 200
    body = {"environmentSlug": "desk", "model": "noop", "n": 1}
    refused = httpx.post(f"{platform.address}/api/runs", headers=reader, json=body)
    assert refused.status_code == 403
    assert "needs write" in refused.json()["error"]
    # A provider is asked, and what it says is kept.
    looked = httpx.post(f"{platform.address}/api/training-jobs/x/refresh", headers=reader)
    assert looked.status_code == 403
    assert httpx.get(f"{platform.address}/api/keys", headers=reader).status_code == 403
    assert "key" not in http.get("/api/keys").json()["keys"][0]
    assert http.delete(f"/api/keys/{made.json()['id']}").json()["revokedAt"]
    assert httpx.get(f"{platform.address}/api/runs", headers=reader).status_code == 401


def test_a_key_with_a_rate_is_held_to_it(platform: Platform) -> None:
    store = Store(f"sqlite:///{platform.data}/rollout.db")
    try:
        _, whole = store.write(keys.create, "slow", Scope.READ, rate=3)
    finally:
        store.close()
    headers = {"authorization": f"Bearer {whole}"}
    answers = [httpx.get(f"{platform.address}/api/whoami", headers=headers) for _ in range(5)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) > 0


@pytest.mark.parametrize(
    "path",
    [
        "/api/environments/..%2f..%2fetc%2fpasswd",
        "/api/environments/%00",
        "/api/environments/x'%20or%201=1--",
        "/api/runs/%25",
        "/api/runs/%27%20or%201=1",
        "/api/runs/deadbeef/rollouts/%00",
        "/nope",
    ],
)
def test_what_is_not_there_is_said_in_json(http: httpx.Client, path: str) -> None:
    refused = http.get(path)
    assert refused.status_code == 404
    assert refused.json()["error"]


def test_a_request_with_a_name_is_carried_out_once(http: httpx.Client) -> None:
    http.post("/api/environments", json=payload("once"))
    body = {"environmentSlug": "once", "model": "noop", "n": 1}
    with ThreadPoolExecutor(4) as threads:
        answers = list(
            threads.map(
                lambda _: http.post("/api/runs", json=body, headers={"idempotency-key": "a"}), range(8)
            )
        )
    assert {each.status_code for each in answers} <= {201, 409}
    assert len({each.json()["runId"] for each in answers if each.status_code == 201}) == 1
    assert len(http.get("/api/runs", params={"environment": "once"}).json()["runs"]) == 1
    other = http.post("/api/runs", json={**body, "n": 2}, headers={"idempotency-key": "a"})
    assert other.status_code == 422


def test_a_push_for_another_version_than_is_held_is_refused(http: httpx.Client) -> None:
    new = {"if-match": '"none"'}
    first = http.post("/api/environments", json=payload("guarded"), headers=new).json()
    assert http.post("/api/environments", json=payload("guarded", name="B"), headers=new).status_code == 412
    held = {"if-match": f'"{first["digest"]}"'}
    assert http.post("/api/environments", json=payload("guarded", name="B"), headers=held).status_code == 200
    refused = http.post("/api/environments", json=payload("guarded", name="C"), headers=held)
    assert refused.status_code == 412
    assert refused.json()["held"] != first["digest"]


def test_a_run_is_done_and_its_rollouts_are_paged(http: httpx.Client) -> None:
    http.post("/api/environments", json=payload("paged"))
    run = http.post("/api/runs", json={"environmentSlug": "paged", "model": "noop", "n": 7}).json()
    events = http.get(f"/api/runs/{run['runId']}/events").text
    assert events.count("event: rollout") == run["total"]
    assert events.count("event: end") == 1
    shown = http.get(f"/api/runs/{run['runId'][:8]}").json()["run"]
    assert (shown["status"], shown["progress"], shown["n"]) == ("done", run["total"], run["total"])
    everything = http.get(f"/api/runs/{run['runId']}", params={"include": "rollouts"}).json()["rollouts"]
    paged, cursor = [], None
    while cursor is not None or not paged:
        params = {"include": "rollouts", "limit": 5, **({"cursor": cursor} if cursor else {})}
        page = http.get(f"/api/runs/{run['runId']}", params=params).json()
        paged += page["rollouts"]
        cursor = page["nextCursor"]
    assert paged == everything
    assert len({each["id"] for each in paged}) == run["total"]
    one = http.get(f"/api/runs/{run['runId']}/rollouts/{paged[0]['id'][:10]}").json()["rollout"]
    assert one["verdict"]["outcome"] == paged[0]["outcome"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"model": "replay:/etc/passwd"}, "/model"),
        ({"model": "human"}, "/model"),
        ({"model": "nobody"}, "/model"),
        ({"environmentSlug": "nowhere"}, "/environmentSlug"),
        ({"split": "train"}, "/tasks"),
        ({"n": 0}, "/n"),
        ({"n": True}, "/n"),
        ({"n": 1.5}, "/n"),
        ({"limit": 10**20}, "/limit"),
        ({"maxTokens": 1e300}, "/maxTokens"),
        ({"seed": -(2**53)}, "/seed"),
        ({"budgetTokens": 1e16}, "/budgetTokens"),
        ({"temprature": 1}, "/temprature"),
    ],
)
def test_a_run_that_cannot_be_is_refused(http: httpx.Client, change: dict[str, Any], pointer: str) -> None:
    http.post("/api/environments", json=payload("refusing"))
    body = {"environmentSlug": "refusing", "model": "noop", "n": 1, **change}
    refused = http.post("/api/runs", json=body)
    assert refused.status_code in (400, 404)
    assert refused.json()["pointer"] == pointer


def test_a_whole_number_is_one_however_it_is_written(platform: Platform, http: httpx.Client) -> None:
    http.post("/api/environments", json=payload("whole"))
    numbers = {
        "n": 2.0,
        "limit": 1.0,
        "maxTokens": 5.0,
        "maxToolCalls": 3e0,
        "seed": -7.0,
        "concurrency": 2.0,
    }
    begun = http.post(
        "/api/runs", json={"environmentSlug": "whole", "model": "noop", "temperature": 0.5, **numbers}
    )
    assert (begun.status_code, begun.json()["total"]) == (201, 2)
    run = begun.json()["runId"]
    assert http.get(f"/api/runs/{run}/events").text.count("event: end") == 1
    shown = http.get(f"/api/runs/{run}").json()["run"]
    assert (shown["status"], shown["done"]) == ("done", 2)
    assert shown["options"] == {"temperature": 0.5, **{name: int(each) for name, each in numbers.items()}}
    assert {type(shown["options"][name]) for name in numbers} == {int}
    with Client(platform.key, platform.address) as client:
        assert run in [each["id"] for each in client.list_runs()]
    made = http.post("/api/keys", json={"name": "whole", "rate": 60.0})
    assert (made.status_code, made.json()["rate"]) == (201, 60)


def test_a_key_follows_so_many_runs_at_once_and_no_more(platform: Platform, http: httpx.Client) -> None:
    http.post("/api/environments", json=payload("followed"))
    slow = {"environmentSlug": "followed", "model": "nobody/here", "n": 1}
    assert http.post("/api/runs", json=slow).status_code == 400
    run = http.post("/api/runs", json={**slow, "model": "noop", "n": 50_000}).json()["runId"]
    with ExitStack() as streams:
        answers = [
            streams.enter_context(http.stream("GET", f"/api/runs/{run}/events", timeout=60))
            for _ in range(65)
        ]
        assert [each.status_code for each in answers] == [200] * 64 + [429]
        assert http.get("/api/health").json()["status"] == "ok"
    http.post(f"/api/runs/{run}/cancel")
    assert http.get(f"/api/runs/{run}/events").status_code == 200


def test_health_needs_no_key_and_says_nothing_of_what_is_there(platform: Platform) -> None:
    assert httpx.get(f"{platform.address}/api/health").json()["status"] == "ok"
    assert httpx.get(f"{platform.address}/api/ready").json() == {"status": "ok"}


def test_figures_are_told_for_prometheus(http: httpx.Client) -> None:
    text = http.get("/metrics").text
    assert 'rollout_runs{status="done"}' in text
    assert all(line.startswith("#") or float(line.rpartition(" ")[2]) >= 0 for line in text.splitlines())


def test_a_server_that_others_reach_is_not_started_without_keys(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="there is no key yet"):
        Platform(tmp_path / "data", "--host", "0.0.0.0").start()


def test_its_data_is_nobody_elses_to_read(platform: Platform) -> None:
    assert (platform.data / "rollout.db").stat().st_mode & 0o077 == 0
    assert json.dumps(platform.key) not in "".join(platform.said[-1:])
