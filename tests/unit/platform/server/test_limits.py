"""What keys are held to, whichever way they come, and what wrong ones do to right ones: nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from servers.browsing import Browser
from servers.rollout_server import Platform
from servers.stocked import stock

from rollout.platform.store import Store, keys
from rollout.platform.store.keys import Key, Scope
from rollout.platform.store.runs import Status


@pytest.fixture
def platform(tmp_path: Path) -> Iterator[Platform]:
    with Platform(tmp_path / "data") as made:
        yield made


@pytest.fixture
def store(platform: Platform) -> Iterator[Store]:
    made = Store(f"sqlite:///{platform.data}/rollout.db")
    try:
        yield made
    finally:
        made.close()


def asked(platform: Platform, key: str, path: str = "/api/whoami") -> int:
    return httpx.get(platform.address + path, headers={"authorization": f"Bearer {key}"}).status_code


Open = Callable[[], Browser]


@pytest.fixture
def opened(platform: Platform) -> Iterator[Open]:
    """Opens browsers."""
    with ExitStack() as stack:

        def made() -> Browser:
            http = httpx.Client(base_url=platform.address, headers={"accept": "text/html"}, timeout=30)
            return Browser(stack.enter_context(http))

        yield made


def signed_in(browser: Browser, key: str) -> Browser:
    answer = browser.sign_in(key)
    assert answer.status_code == 303, answer.text
    return browser


def test_a_right_key_is_let_in_from_where_wrong_ones_come(platform: Platform, opened: Open) -> None:
    statuses = [asked(platform, f"rk_wrong{number}") for number in range(25)]
    assert statuses == [401] * 20 + [429] * 5
    assert asked(platform, platform.key) == 200
    browser = signed_in(opened(), platform.key)
    assert browser.get("/runs").status_code == 200
    assert asked(platform, "rk_wrong") == 429
    refused = opened().sign_in("rk_wrong")
    assert (refused.status_code, int(refused.headers["retry-after"]) > 0) == (429, True)


def test_a_session_is_held_to_the_rate_of_its_key(platform: Platform, store: Store, opened: Open) -> None:
    _, whole = store.write(keys.create, "slow", Scope.READ, rate=5)
    browser = signed_in(opened(), whole)
    # Signing in was one of them.
    answers = [browser.get(path) for path in ("/api/whoami", "/runs", "/api/runs", "/environments", "/runs")]
    assert [each.status_code for each in answers] == [200, 200, 200, 200, 429]
    assert "5 times a minute" in answers[-1].text
    assert int(answers[-1].headers["retry-after"]) > 0
    assert asked(platform, whole) == 429
    assert asked(platform, platform.key) == 200


def test_a_key_that_is_only_used_by_a_browser_is_used(platform: Platform, store: Store, opened: Open) -> None:
    key, whole = store.write(keys.create, "looks", Scope.READ)
    browser = signed_in(opened(), whole)
    assert browser.get("/runs").status_code == 200
    platform.end()

    def kept(each: Key) -> bool:
        return each.id == key.id

    (found,) = filter(kept, store.read(keys.list_all))
    assert found.used_at is not None


@pytest.mark.parametrize("by", ["header", "session"])
def test_who_follows_a_run_with_a_key_that_is_revoked_is_told_no_more(
    store: Store, opened: Open, by: str
) -> None:
    stocked = stock(store)
    key, whole = store.write(keys.create, "follower", Scope.READ)
    http = opened().http
    if by == "header":
        http.headers["authorization"] = f"Bearer {whole}"
    else:
        signed_in(Browser(http), whole)
    run = http.get(f"/api/runs/{stocked.live}").json()["run"]
    assert run["status"] == Status.RUNNING
    with http.stream("GET", f"/api/runs/{stocked.live}/events") as answer:
        lines = answer.iter_lines()
        assert next(lines)
        store.write(keys.revoke, key.id)
        assert not any(line == "event: end" for line in lines)
