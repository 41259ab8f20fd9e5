"""A platform with data, and browsers that look at its pages without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from servers.browsing import Browser
from servers.rollout_server import Platform
from servers.stocked import Stocked, stock

from rollout.platform.store import Store


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("platform") / "data"


@pytest.fixture(scope="module")
def stocked(data: Path) -> Stocked:
    store = Store(f"sqlite:///{data / 'rollout.db'}")
    try:
        return stock(store)
    finally:
        store.close()


@pytest.fixture(scope="module")
def platform(data: Path, stocked: Stocked) -> Iterator[Platform]:
    made = Platform(data)
    made.key = stocked.key
    with made:
        yield made


@pytest.fixture
def stranger(platform: Platform) -> Iterator[Browser]:
    """A browser that is not signed in."""
    with httpx.Client(base_url=platform.address, headers={"accept": "text/html"}, timeout=60) as http:
        yield Browser(http)


@pytest.fixture
def owner(platform: Platform) -> Iterator[Browser]:
    """A browser that is signed in with a key for everything."""
    with httpx.Client(base_url=platform.address, headers={"accept": "text/html"}, timeout=60) as http:
        browser = Browser(http)
        browser.sign_in(platform.key)
        yield browser
