"""Photographs a report in Chromium: docs/pictures/report.png.

    .venv/bin/python scripts/pictures/report.py

The run in it is put together from what a model that knows the solutions and one that calls tools at random did in
environments/support-desk. Fonts and times differ from machine to machine, so a test only says that it can be made.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "pictures" / "report.png"
TRIALS = 4
PASSES = (4, 3, 4, 1, 4, 2, 3, 4, 0, 4)
"""How many of its trials pass, of one task after the other."""

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def photograph(target: Path) -> None:
    """Makes a run and its report, and writes the picture to ``target``."""
    from rollout.cli import main

    with TemporaryDirectory() as made:
        folder = Path(made)
        for model in ("oracle", "random:4"):
            run = ["test", str(ROOT / "environments" / "support-desk"), "--model", model, "--all"]
            _quietly(main, [*run, "-n", str(TRIALS), "--out", str(folder / model), "--format", "junit"])
        both = folder / "both"
        both.mkdir()
        shutil.copy(folder / "oracle" / "run.json", both)
        with (both / "rollouts.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(
                f"{json.dumps(line)}\n" for line in _mixed(folder / "oracle", folder / "random:4")
            )
        page = folder / "report.html"
        _quietly(main, ["traces", str(both), "--format", "html", "-o", str(page)])
        _shoot(page, target)


def _mixed(good: Path, bad: Path) -> Iterator[dict[str, Any]]:
    """A rollout of each task and trial, from one run or the other, so that tasks differ in how many trials pass."""
    passed, failed = (
        {_key(line): line for line in map(json.loads, (run / "rollouts.jsonl").read_bytes().splitlines())}
        for run in (good, bad)
    )
    for number, key in enumerate(sorted(passed)):
        yield (passed if key[1] < PASSES[number // TRIALS % len(PASSES)] else failed)[key]


def _key(line: dict[str, Any]) -> tuple[str, int]:
    return line["trace"]["task"], line["trace"]["trial"]


def _quietly(main: Any, arguments: list[str]) -> None:
    from contextlib import redirect_stdout, suppress
    from io import StringIO

    with redirect_stdout(StringIO()), suppress(SystemExit):
        main(arguments)


def _shoot(page: Path, target: Path) -> None:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        sys.exit(f"error: there is no Chromium here; looked for {', '.join(NAMES)}.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(
            viewport={"width": 1200, "height": 1180}, device_scale_factor=1.5, color_scheme="light"
        )
        shown = context.new_page()
        shown.goto(page.as_uri())
        shown.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    photograph(PICTURE)
