"""One push after the other: what each would change, whether that is wanted, and what came of it."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import Any

from rollout.check import Report
from rollout.cli.asking import is_attended
from rollout.cli.output import as_json, note, show, tell_error, visible, wants_color
from rollout.compile.change import Difference
from rollout.compile.review import Entry
from rollout.environment import Environment
from rollout.platform.client import Client
from rollout.platform.errors import RolloutError
from rollout.platform.push import Done, Push, PushError, Standing, both_sides, carry_out, prepare, stays_here
from rollout.platform.pushed import Memory, PushedError
from rollout.source.document import Document
from rollout.source.layout import ENVIRONMENT_FILES

_HOPELESS = (0, 401, 403)
"""Status of a refusal that the next environment would meet too."""


class Pushing:
    """Pushes to one endpoint. ``told`` is what came of each, as JSON; ``refused`` says that the platform did not take
    one, and ``stopped`` that one was not sent."""

    def __init__(self, client: Client, *, dry_run: bool, yes: bool, force: bool, quiet: bool) -> None:
        self.told: list[dict[str, Any]] = []
        self.refused = False
        self.stopped = False
        self._client = client
        self._dry_run = dry_run
        self._yes = yes
        self._force = force
        self._quiet = quiet

    def leave_out(self, report: Report) -> None:
        """One has errors, which have been shown."""
        self.stopped = True
        self._tell(report.document, report.document.slug, "invalid")
        self.told[-1]["diagnostics"] = as_json(report.diagnostics, checked=[report.document.label])

    def push(self, document: Document, environment: Environment) -> None:
        """Pushes one. What goes wrong with it is told, and counted; what would go wrong with every other is raised."""
        memory = Memory(_place(document), self._client.endpoint)
        try:
            push = prepare(self._client, environment, memory.get(environment.slug))
            outcome, done = self._decide(push, document)
            if done is not None and not self._dry_run:
                memory.keep(push.slug, done.record)
        except (PushError, PushedError) as error:
            self.stopped = True
            tell_error(f"“{environment.slug}” was not pushed. {error}", error.hint)
            self._tell(document, environment.slug, "refused", error=str(error))
        except RolloutError as error:
            if error.status in _HOPELESS:
                raise
            self.refused = True
            tell_error(f"“{environment.slug}” was not pushed. {error.message}", error.hint)
            self._tell(document, environment.slug, "failed", error=error.message)
        else:
            self._tell(document, push.slug, outcome, push, done)

    def _decide(self, push: Push, document: Document) -> tuple[str, Done | None]:
        for sentence in stays_here(push.environment, self._client):
            if push.standing is not Standing.UNCHANGED:
                note(f"note: {visible(push.slug)}: {sentence}")
        if push.standing is Standing.UNCHANGED:
            self._say(f"{visible(push.slug)}: unchanged at {self._client.endpoint}, nothing was sent.")
            return "unchanged", carry_out(self._client, push)
        if push.standing is Standing.MOVED and not self._force:
            return self._stop(push, document)
        if push.held is not None:
            self._review(document, push.difference)
        if self._dry_run:
            what = "create" if push.held is None else "replace"
            self._say(f"{visible(push.slug)}: would {what} it at {self._client.endpoint}.")
            return f"would {what}", None
        if push.held is not None and not self._wanted(push):
            self.stopped = True
            return "not wanted", None
        done = carry_out(self._client, push, force=self._force)
        self._done(push, done)
        return ("created" if push.held is None else "updated"), done

    def _stop(self, push: Push, document: Document) -> tuple[str, Done | None]:
        self.stopped = True
        there, here = both_sides(self._client, push)
        if there is not None and here is not None:
            self._heading("Changed there since it was last pushed or pulled here:")
            self._review(document, there)
            self._heading("Changed here since:")
            self._review(document, here)
        else:
            self._heading("From what is there to what is here:")
            self._review(document, push.difference)
        slug = quote(push.slug)
        if push.record is not None and push.record.here == push.compiled.digest:
            place = _place(document)
            into = "FOLDER" if place.suffix.lower() == ".py" else quote(str(place))
            hint = f"Nothing was changed here since, so take it over: rollout pull {slug} -o {into}"
        else:
            hint = f"Look at it: rollout pull {slug} -o FOLDER. With --force yours replaces it."
        tell_error(
            f"“{push.slug}” was not pushed. It was changed at {self._client.endpoint} since it was last pushed or "
            "pulled here.",
            hint,
        )
        return "conflict", None

    def _wanted(self, push: Push) -> bool:
        if self._yes or self._force:
            return True
        where = self._client.endpoint
        if is_attended():
            from rollout.cli.terminal import Terminal

            if Terminal(sys.stderr).agrees(f"Replace “{visible(push.slug)}” at {where}?"):
                return True
            note(f"{visible(push.slug)}: not pushed.")
            return False
        if push.standing is not Standing.UNKNOWN:
            return True
        tell_error(
            f"“{push.slug}” was not pushed. {where} holds another version of it, which was not pushed from here.",
            "Look at what would change, which is shown above, and say --yes if it may be replaced.",
        )
        return False

    def _done(self, push: Push, done: Done) -> None:
        tasks = len(push.compiled.environment["tasks"])
        parts = [
            f"version {done.version}" if done.version is not None else "",
            f"{tasks:,} task{'s' * (tasks != 1)}",
        ]
        if done.tasks_added is not None and push.held is not None:
            parts.append(f"{done.tasks_added:,} of them new")
        self._say(
            f"{visible(push.slug)}: pushed to {self._client.endpoint} ({', '.join(part for part in parts if part)})"
        )
        if self._client.endpoint != "local":
            self._say(f"→ {self._client.endpoint}/environments/{push.slug}")
        for remark in done.remarks:
            note(f"note: {remark}")

    def _review(self, document: Document, difference: Difference) -> None:
        if not self._quiet:
            from rollout.compile.review_text import render

            show(render([Entry(document.label, difference)], color=wants_color()))

    def _heading(self, text: str) -> None:
        self._say(f"\x1b[1m{text}\x1b[0m" if wants_color() else text)

    def _say(self, text: str) -> None:
        if not self._quiet:
            show(text)

    def _tell(
        self,
        document: Document,
        slug: str,
        outcome: str,
        push: Push | None = None,
        done: Done | None = None,
        *,
        error: str | None = None,
    ) -> None:
        from rollout.compile.review_json import describe

        told: dict[str, Any] = {"slug": slug, "path": document.label, "outcome": outcome}
        if push is not None:
            told["digest"] = push.compiled.digest
            told["held_before"] = push.held.digest if push.held else None
            told["change"] = describe([Entry(document.label, push.difference)])["environments"][0]
        if done is not None:
            told |= {"version": done.version, "tasks_added": done.tasks_added}
        if error is not None:
            told["error"] = error
        self.told.append(told)


def _place(document: Document) -> Path:
    """The folder of the environment, or the file that it is in."""
    file = document.place.source.path
    return document.root if file.name in ENVIRONMENT_FILES else document.root / file.name


__all__ = ["Pushing"]
