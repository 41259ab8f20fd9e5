#!/usr/bin/env python3
"""How long pages of the server take with 100,000 rollouts in one run, beside a bare Starlette route in the same run."""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx

from measure import ROOT, Limit, ratio, report, time_in_turn
from rollout.platform.store import Store, listing
from serving import ROLLOUTS, bare, fill, serving

BARE = "a bare route"
COUNTED = "figures of a run, counted when it is first looked at"
LISTS = {
    "environments": "/environments",
    "runs": "/runs",
    "runs of a status": "/runs?status=done&environment={slug}",
    "rollouts of a run, with its figures": "/runs/{run}",
    "rollouts far down": "/runs/{run}?after=900.50",
    "failed rollouts far down": "/runs/{run}?outcome=failed&after=900.50",
    "tasks by pass rate": "/runs/{run}?order=rate&tasks=10",
}
MOST, MOST_SECONDS = 20.0, 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        key, run, payload = fill(folder, ROOT / "environments" / "refund")
        store = Store(f"sqlite:///{folder / 'rollout.db'}")
        with (
            bare() as bare_address,
            serving(folder) as address,
            httpx.Client(timeout=60) as plain,
            httpx.Client(base_url=address, timeout=60) as browser,
        ):
            browser.headers["accept"] = "text/html"
            sign_in(browser, key)
            contenders = {BARE: get(plain, bare_address), COUNTED: partial(count, store, run)}
            for name, path in LISTS.items():
                contenders[name] = get(browser, path.format(run=run, slug=payload["slug"]))
            measured = time_in_turn(contenders, repeat=arguments.repeat)
        store.close()
    slowest = max((each for each in measured if each.name != COUNTED), key=lambda each: each.best)
    limits = [
        Limit(f"slowest page ({slowest.name}) / a bare route", ratio(measured, slowest.name, BARE), MOST),
        Limit("slowest page", slowest.best * 1000, MOST_SECONDS * 1000, " ms"),
    ]
    report(f"Pages with {ROLLOUTS:,} rollouts in a run", measured, limits)


def sign_in(browser: httpx.Client, key: str) -> None:
    """Signs in as a browser does."""
    token = re.search(r'name="csrf" value="([^"]+)"', browser.get("/sign-in").text)
    assert token is not None
    browser.post("/sign-in", data={"csrf": token[1], "key": key})


def count(store: Store, run: str) -> None:
    """What is kept afterwards, until another rollout is finished."""
    store.read(listing.tallies, run)
    store.read(listing.scores, run)


def get(client: httpx.Client, address: str) -> Callable[[], object]:
    """Has a page, whole."""

    def ask() -> None:
        client.get(address).raise_for_status()

    return ask


if __name__ == "__main__":
    main()
