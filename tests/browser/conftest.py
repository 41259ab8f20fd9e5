"""A Chromium for the tests. Where there is none they fail: a report that nobody looked at has not been tested."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from browser.report_page import Open, Seen, watch, write

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The Chromium of this machine. It is closed with the module, since its event loop is in the way of others."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.fail(f"There is no Chromium on this machine; looked for {', '.join(NAMES)}. See scripts/test.")
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def open_report(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens the report of some lines; whatever happens besides is in ``trouble``."""
    contexts = []

    def open_it(
        lines: list[dict[str, Any]] | None = None,
        *,
        script: bool = True,
        width: int = 1280,
        dark: bool = False,
        at: str = "",
        change: Callable[[str], str] = str,
        **told: Any,
    ) -> Seen:
        context = chromium.new_context(
            java_script_enabled=script,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        path = write(lines, tmp_path, change, **told)
        seen = Seen(context.new_page())
        watch(seen, path)
        seen.page.goto(f"{path.as_uri()}{at}")
        return seen

    yield open_it
    for context in contexts:
        context.close()
