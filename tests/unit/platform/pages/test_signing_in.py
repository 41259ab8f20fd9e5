"""Who sees pages, and whose forms are taken."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import pytest
from servers.browsing import Browser
from servers.rollout_server import Platform
from servers.stocked import Stocked
from starlette.requests import Request

from rollout.platform.pages import visiting
from rollout.platform.pages.showing import POLICY

ELSEWHERE = (
    "https://evil.test/",
    "//evil.test/",
    "/\\evil.test",
    "\\\\evil.test",
    "/\t/evil.test",
    "/\n/evil.test",
    "javascript:alert(1)",
    "evil.test",
    "",
    " /runs",
)


def test_a_page_leads_to_signing_in_and_back_and_the_api_never_does(
    stranger: Browser, platform: Platform, stocked: Stocked
) -> None:
    wanted = f"/runs/{stocked.runs[0]}?outcome=failed"
    led = stranger.get(wanted)
    assert led.status_code == 303
    assert led.headers["location"] == f"/sign-in?next=%2Fruns%2F{stocked.runs[0]}%3Foutcome%3Dfailed"
    for path in ("/api/runs", "/api/environments", "/api/keys", f"/api/runs/{stocked.runs[0]}/events"):
        assert stranger.get(path).status_code == 401
    form = stranger.get(led.headers["location"])
    assert form.status_code == 200
    assert f'value="{wanted}"' in form.text
    assert stranger.sign_in(platform.key, next=wanted).headers["location"] == wanted
    assert stranger.get(wanted).status_code == 200
    assert stranger.get("/api/runs").status_code == 200
    assert stranger.get("/sign-in").headers["location"] == "/environments"


@pytest.mark.parametrize("address", ELSEWHERE)
def test_signing_in_leads_nowhere_else(stranger: Browser, platform: Platform, address: str) -> None:
    assert stranger.sign_in(platform.key, next=address).headers["location"] == "/environments"
    asked = stranger.http.get("/sign-in", params={"next": address})
    assert asked.headers["location"] == "/environments"


def test_no_address_leads_to_another_host(stranger: Browser) -> None:
    for path in ("/runs/", "/sign-in/", "/api/runs/", "/environments/", "/settings/api-keys/"):
        answer = stranger.http.get(path, headers={"host": "evil.test"})
        assert (path, answer.status_code, answer.headers.get("location")) == (path, 404, None)


def test_a_session_is_a_new_one_each_time_and_the_one_before_ends(
    stranger: Browser, platform: Platform
) -> None:
    stranger.http.cookies.set("rollout_session", "planted-by-somebody-else")
    assert stranger.get("/runs").status_code == 303
    answer = stranger.sign_in(platform.key)
    first = answer.cookies["rollout_session"]
    assert first != "planted-by-somebody-else"
    kept = next(each for each in answer.headers.get_list("set-cookie") if each.startswith("rollout_session="))
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(kept.split("; "))
    assert "Secure" not in kept
    with httpx.Client(base_url=platform.address, headers={"accept": "text/html"}) as http:
        again = Browser(http)
        token = again.token("/sign-in")
        http.cookies.set("rollout_session", first)
        second = again.post("/sign-in", token=token, key=platform.key).cookies["rollout_session"]
    assert second != first
    assert stranger.get("/runs").status_code == 303


def test_a_cookie_that_came_over_https_stays_there(stranger: Browser, platform: Platform) -> None:
    token = stranger.token("/sign-in")
    answer = stranger.http.post(
        "/sign-in", data={"csrf": token, "key": platform.key}, headers={"x-forwarded-proto": "https"}
    )
    assert all("Secure" in each for each in answer.headers.get_list("set-cookie") if "Max-Age=0" not in each)


def test_signing_out_ends_the_session_on_the_server_too(owner: Browser) -> None:
    before = dict(owner.http.cookies)
    out = owner.post("/sign-out")
    assert (out.status_code, out.headers["location"]) == (303, "/sign-in")
    assert "rollout_session" not in owner.http.cookies
    owner.http.cookies.update(before)
    assert owner.get("/runs").status_code == 303


@pytest.mark.parametrize("key", ["", "rk_wrong", "rk_\0", "ключ", "x" * 10_000])
def test_a_wrong_key_opens_nothing(stranger: Browser, key: str) -> None:
    refused = stranger.sign_in(key)
    assert refused.status_code in (401, 429)
    assert "rollout_session" not in refused.cookies
    assert 'role="alert"' in refused.text
    assert key == "" or key[:1000] not in refused.text


def test_a_form_is_as_large_as_what_it_asks_for(owner: Browser, stranger: Browser) -> None:
    for_a_key = "%e4%b8%ad" * 10_000
    kind = {"content-type": "application/x-www-form-urlencoded"}
    refused = stranger.http.post("/sign-in", content=f"key={for_a_key}", headers=kind)
    assert refused.status_code == 413
    assert "larger than 16 KB" in refused.text
    assert owner.post("/settings/api-keys", name="x" * 20_000, scope="read").status_code == 413
    long = "# " + "中" * 200_000
    looked = owner.post("/environments/new/check", template="workflow", slug="a", path="a.yaml", text=long)
    assert looked.status_code == 200


def test_a_form_that_takes_long_to_read_is_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []
    within = visiting._pairs

    def noted(data: bytes) -> list[tuple[str, str]]:
        threads.append(threading.current_thread())
        return within(data)

    monkeypatch.setattr(visiting, "_pairs", noted)
    body = b"text=" + b"%e4%b8%ad" * 10_000

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    kind = (b"content-type", b"application/x-www-form-urlencoded")
    request = Request({"type": "http", "method": "POST", "headers": [kind]}, receive)
    form = asyncio.run(visiting.form_of(request, largest=len(body)))
    assert form.get("text") == "中" * 10_000
    assert threads
    assert threading.main_thread() not in threads


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_a_sign_in_from_elsewhere_is_not_taken(stranger: Browser, platform: Platform, token: str) -> None:
    stranger.get("/sign-in")
    refused = stranger.post("/sign-in", token=token, key=platform.key)
    assert refused.status_code == 403
    assert "rollout_session" not in refused.cookies
    nothing_before = httpx.post(
        f"{platform.address}/sign-in",
        data={"csrf": "", "key": platform.key},
        headers={"accept": "text/html"},
    )
    assert nothing_before.status_code == 403


def forms(stocked: Stocked) -> dict[str, dict[str, str]]:
    return {
        "/environments/new": {"template": "workflow", "slug": "forged", "name": "Forged"},
        "/environments/new/check": {"template": "workflow", "slug": "forged"},
        f"/runs/{stocked.live}/cancel": {},
        f"/runs/{stocked.runs[0]}/resume": {},
        f"/training/{stocked.job}/refresh": {},
        "/settings/api-keys": {"name": "forged", "scope": "admin"},
        "/settings/api-keys/0/revoke": {},
        "/sign-out": {},
    }


def test_a_form_without_the_token_of_its_session_changes_nothing(
    owner: Browser, stranger: Browser, platform: Platform, stocked: Stocked
) -> None:
    stranger.sign_in(platform.key)
    others = stranger.token("/environments/new")
    own = owner.token("/environments/new")
    assert others != own
    for path, fields in forms(stocked).items():
        for token in ("", "wrong", others, own[:-1], f"{own}x"):
            refused = owner.post(path, token=token, **fields)
            assert (path, refused.status_code) == (path, 403)
        without = owner.http.post(path, data={"other": "1", **fields})
        assert (path, without.status_code) == (path, 403)
        cross = owner.http.post(path, data={"csrf": own, **fields}, headers={"sec-fetch-site": "cross-site"})
        assert (path, cross.status_code) == (path, 403)
        other_kind = owner.http.post(path, json={"csrf": own, **fields})
        assert (path, other_kind.status_code) == (path, 415)
    assert owner.get("/environments/forged").status_code == 404
    assert "forged" not in owner.get("/settings/api-keys").text
    assert "running" in owner.get(f"/runs/{stocked.live}").text


def test_a_form_of_somebody_who_is_not_signed_in_is_not_taken(stranger: Browser, stocked: Stocked) -> None:
    for path, fields in forms(stocked).items():
        answer = stranger.post(path, token="anything", **fields)
        assert (path, answer.status_code, answer.headers["location"]) == (path, 303, "/sign-in")


def test_a_key_that_only_reads_changes_nothing_and_sees_no_keys(stranger: Browser, stocked: Stocked) -> None:
    stranger.sign_in(stocked.other_key)
    run = stranger.get(f"/runs/{stocked.live}")
    assert run.status_code == 200
    assert "Cancel</button>" not in run.text
    assert "/settings/api-keys" not in run.text
    assert stranger.get("/settings/api-keys").status_code == 403
    assert stranger.get("/environments/new").status_code == 403
    for path, fields in forms(stocked).items():
        if path != "/sign-out":
            refused = stranger.post(path, at=f"/runs/{stocked.live}", **fields)
            assert (path, refused.status_code) == (path, 403)


def test_a_session_ends_with_its_key(owner: Browser, stranger: Browser, platform: Platform) -> None:
    made = owner.post("/settings/api-keys", name="short-lived", scope="read")
    [key] = {
        word
        for word in made.text.replace("<", " ").replace(">", " ").split()
        if word.startswith("rk_") and len(word) > 20
    }
    stranger.sign_in(key)
    assert stranger.get("/runs").status_code == 200
    keys = httpx.get(f"{platform.address}/api/keys", headers={"authorization": f"Bearer {platform.key}"})
    [key_id] = [each["id"] for each in keys.json()["keys"] if each["name"] == "short-lived"]
    assert owner.post(f"/settings/api-keys/{key_id}/revoke").headers["location"] == "/settings/api-keys"
    assert stranger.get("/runs").status_code == 303
    assert key not in owner.get("/settings/api-keys").text


def test_every_page_says_what_a_browser_may_do_with_it(
    owner: Browser, stranger: Browser, stocked: Stocked
) -> None:
    answers = [owner.get(path) for path in stocked.pages.values()]
    answers += [stranger.get(path) for path in ("/sign-in", "/runs", "/nothing")]
    for answer in answers:
        headers = answer.headers
        assert headers["content-security-policy"] == POLICY
        assert "frame-ancestors 'none'" in POLICY
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "same-origin"
    for path in (f"/rollouts/{stocked.rollouts[0]}/line", f"/environments/{stocked.slug}/file"):
        kept = owner.get(path)
        assert kept.headers["content-type"] == "application/json"
        assert kept.headers["content-disposition"].startswith("attachment;")
        assert kept.headers["cache-control"] == "no-store"
        assert stranger.get(path).status_code == 303


def test_a_style_is_kept_for_as_long_as_its_address_is_the_same(stranger: Browser) -> None:
    page = stranger.get("/sign-in").text
    address = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    style = stranger.get(address)
    assert style.status_code == 200
    assert "immutable" in style.headers["cache-control"]
    again = stranger.http.get("/static/style.css", headers={"if-none-match": style.headers["etag"]})
    assert again.status_code == 304
    assert stranger.get("/static/../pages/showing.py").status_code == 404
    assert stranger.get("/static/%2e%2e%2fshowing.py").status_code == 404
