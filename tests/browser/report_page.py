"""A report as a browser sees it: how it is made for a test, and what must not happen in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from rollout.analysis.report.page import Run, write_page

LETTERS = Path(__file__).parents[1] / "cases" / "reports" / "letters"


@dataclass
class Seen:
    """A report that is open in the browser, and all that happened in it that should not."""

    page: Page
    trouble: list[str] = field(default_factory=list)
    """Dialogs, messages of the console, errors, requests, windows, and what the page's policy forbade."""

    def rows(self) -> list[str]:
        """The task and trial of each row of the table, as far as it is shown."""
        texts = self.page.locator("section.rollouts tbody tr").all_inner_texts()
        return [":".join(text.split("\t")[:2]) for text in texts]


Open = Callable[..., Seen]


def letters() -> list[dict[str, Any]]:
    """The five rollouts of the case folder."""
    return [
        json.loads(line) for line in (LETTERS / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def write(
    lines: list[dict[str, Any]] | None, beside: Path, change: Callable[[str], str], **told: Any
) -> Path:
    """The file of a report of ``lines``, after ``change``."""
    stored, path = beside / "rollouts.jsonl", beside / "report.html"
    with stored.open("w", encoding="ascii") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in (letters() if lines is None else lines))
    with path.open("wb") as stream:
        write_page(Run(stored, **told), stream)
    if change is not str:
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def watch(seen: Seen, path: Path) -> None:
    """Notes down whatever a report must not do."""
    page, note = seen.page, seen.trouble.append

    def dialog(asked: Any) -> None:
        note(f"dialog: {asked.message}")
        asked.dismiss()

    page.on("dialog", dialog)
    page.on("console", lambda message: note(f"console: {message.text}"))
    page.on("pageerror", lambda error: note(f"error: {error}"))
    page.on("popup", lambda popup: note(f"window: {popup.url}"))
    page.on("download", lambda download: note(f"download: {download.url}"))

    def request(route: Any) -> None:
        if route.request.url.split("#")[0] == path.as_uri():
            route.continue_()
        else:
            note(f"request: {route.request.url}")
            route.abort()

    page.route("**/*", request)
    page.expose_function("noteTrouble", lambda words: note(words))
    page.add_init_script(
        "addEventListener('securitypolicyviolation', (event) =>"
        " noteTrouble(`forbidden: ${event.violatedDirective} ${event.blockedURI}`))"
    )
