"""Photographs pages of the platform in Chromium: docs/pictures/page-*.png.

    .venv/bin/python scripts/pictures/pages.py

The server is a real one. Its runs are put together as that of the report is, from what a model that knows the solutions
and one that calls tools at random did in environments/support-desk.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pictures import report

FOLDER = report.ROOT / "docs" / "pictures"
BEFORE, AFTER = (2, 1, 3, 0, 4, 1, 2, 3, 0, 2), report.PASSES
"""How many of four trials pass, of one task after the other."""


def photograph(folder: Path) -> None:
    """Makes a platform with two runs, and writes the pictures of its pages into ``folder``."""
    with TemporaryDirectory() as made:
        data = Path(made) / "data"
        key, runs, rollout = _fill(data, _lines(Path(made)))
        with _serving(data) as address:
            _shoot(
                address,
                key,
                {
                    folder / "page-run.png": f"/runs/{runs[1]}",
                    folder / "page-rollout.png": f"/rollouts/{rollout}",
                    folder / "page-compare.png": f"/compare?baseline={runs[0]}&trained={runs[1]}",
                    folder / "page-new.png": "/environments/new?template=custom",
                },
            )


def _lines(folder: Path) -> dict[str, dict[tuple[str, int], dict[str, Any]]]:
    """The rollouts of either model, by task and trial."""
    from rollout.cli import main

    found = {}
    for model in ("oracle", "random:4"):
        command = ["test", str(report.ROOT / "environments" / "support-desk"), "--model", model, "--all"]
        out = folder / model
        report._quietly(main, [*command, "-n", str(report.TRIALS), "--out", str(out), "--format", "junit"])
        lines = map(json.loads, (out / "rollouts.jsonl").read_bytes().splitlines())
        found[model] = {report._key(line): line for line in lines}
    return found


def _fill(data: Path, lines: dict[str, dict[tuple[str, int], dict[str, Any]]]) -> tuple[str, list[str], str]:
    from rollout.check import check
    from rollout.compile import compile_environment
    from rollout.platform.store import Store, environments, keys, rollouts, runs
    from rollout.platform.store.keys import Scope
    from rollout.platform.store.runs import Status
    from rollout.source import read

    (document,) = read(report.ROOT / "environments" / "support-desk")
    environment = check(document).environment()
    places = {task.key: index for index, task in enumerate(environment.tasks)}
    store = Store(f"sqlite:///{data / 'rollout.db'}")
    try:
        _, key = store.write(keys.create, "camera", Scope.ADMIN)
        entry = store.write(environments.push, compile_environment(environment)).entry
        made = []
        for name, model, passes in (
            ("before", "openai/gpt-4o-mini", BEFORE),
            ("after", "ft:gpt-4o-mini:desk", AFTER),
        ):
            done = [
                _finished(line, places, model)
                for line in _mixed(lines["oracle"], lines["random:4"], passes, places)
            ]
            run = store.write(
                runs.create,
                environment_id=entry.id,
                digest=entry.digest,
                model=model,
                name=name,
                options={"n": report.TRIALS, "temperature": 0.7, "maxToolCalls": 20},
                total=len(done),
                parent_id=made[0] if made else None,
            )
            store.write(runs.lease, "camera", 60.0, only=run.id)
            store.write(rollouts.keep, run.id, "camera", done, None)
            store.write(runs.end, run.id, "camera", Status.DONE)
            made.append(run.id)
        failed = store.read(rollouts.page, made[1], outcome="failed")
        return key, made, failed[0].id
    finally:
        store.close()


def _mixed(
    passed: dict[tuple[str, int], dict[str, Any]],
    failed: dict[tuple[str, int], dict[str, Any]],
    passes: tuple[int, ...],
    places: dict[str, int],
) -> Iterator[dict[str, Any]]:
    for task, trial in sorted(passed, key=lambda each: (places[each[0]], each[1])):
        good = trial < passes[places[task] % len(passes)]
        yield (passed if good else failed)[task, trial]


def _finished(line: dict[str, Any], places: dict[str, int], model: str) -> Any:
    from rollout.analysis.summary import Brief
    from rollout.platform.store.rollouts import Finished

    brief, trace = Brief.of_line(line), line["trace"]
    asked = next(each["content"] for each in trace["messages"] if each["role"] == "user")
    return Finished(
        places[brief.task],
        brief.trial,
        brief.task,
        asked,
        line["task"]["split"],
        str(brief.outcome),
        False,
        brief.score,
        brief.reason,
        len(trace["calls"]),
        trace["seconds"],
        json.dumps({**line, "trace": {**trace, "model": model}}).encode() + b"\n",
    )


@contextmanager
def _serving(data: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "rollout", "serve", "--port", "0", "--data", str(data)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        yield said.partition("Serving at ")[2].partition(". ")[0]
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def _shoot(address: str, key: str, pictures: dict[Path, str]) -> None:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, report.NAMES)), None)
    if path is None:
        sys.exit(f"error: there is no Chromium here; looked for {', '.join(report.NAMES)}.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(
            base_url=address, viewport={"width": 1200, "height": 900}, color_scheme="light"
        )
        page = context.new_page()
        page.goto("/sign-in")
        page.get_by_label("Key").fill(key)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Environments").wait_for()
        for target, where in pictures.items():
            page.goto(where)
            page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    photograph(FOLDER)
