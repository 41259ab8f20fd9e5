"""The report of a run, as `rollout test --report FILE` and `rollout traces --format html` make it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rollout.cli.output import Exit, fail, note

if TYPE_CHECKING:
    from rollout.analysis.report.page import Run
    from rollout.analysis.report.target import Target
    from rollout.cli.run_plan import Plan
    from rollout.engine import Trace
    from rollout.engine.batch import Stop
    from rollout.environment import Environment

_KEY_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.I)


class Reporting:
    """Makes the report of one run; the file is taken before the run begins."""

    def __init__(self, name: str, folder: str | None) -> None:
        """``folder`` is where the run is kept, or is to be.

        Ends the command with a sentence when no report can be written there.
        """
        from rollout.analysis.report import ReportError
        from rollout.analysis.report.target import Target

        self._secrets = secrets()
        try:
            self._target: Target = Target.claim(name, *(() if folder is None else (Path(folder),)))
        except ReportError as error:
            fail(str(error), error.hint)
        self._name = name

    def keep(self, line: bytes) -> None:
        """Keeps the line of a rollout that no folder keeps."""
        try:
            with self._target.lines.open("ab") as file:
                file.write(line)
        except OSError as error:
            fail(f"The rollouts cannot be kept for the report: {error.strerror}.", code=Exit.PLATFORM)

    def write(self, plan: Plan, stop: Stop | None) -> None:
        """Writes the report of what is done. Ends the command with a sentence when it cannot be."""
        from rollout.analysis.report import ReportError
        from rollout.analysis.report.page import Run, write_page
        from rollout.cli.run_plan import config_of
        from rollout.engine.run_folder import ROLLOUTS, read_config

        journal = plan.journal
        if journal is None:
            self._target.lines.touch()
        run = Run(
            self._target.lines if journal is None else journal.folder / ROLLOUTS,
            config=config_of(plan) if journal is None else read_config(journal.folder),
            planned=plan.planned,
            stopped=None if stop is None else stop.sentence,
            folder=None if journal is None else str(journal.folder),
            secrets=self._secrets,
            picture=_picture(plan.environment),
        )
        try:
            self._target.write(partial(write_page, run))
        except ReportError as error:
            way_out = None
            if journal is not None:
                way_out = f"The run is whole: rollout traces {journal.folder} --format html -o FILE"
            fail(str(error), error.hint or way_out, code=Exit.PLATFORM)
        note(f"report: {self._name}")

    def close(self) -> None:
        """Leaves nothing behind but a report that was written."""
        self._target.close()


def secrets() -> tuple[str, ...]:
    """The keys that this process was given by its environment variables; no report may show one."""
    from rollout.cli.inputs import project_settings

    named = {each.api_key_env for each in project_settings().providers.values()}
    # What a variable is only called like, may also hold an ordinary word.
    return tuple(
        value.strip()
        for name, value in os.environ.items()
        if name in named or (_KEY_NAME.search(name) and not value.strip().isalpha())
    )


def _picture(environment: Environment) -> Callable[[Trace], str | None] | None:
    """How the page of a rollout is shown, where the environment's template can show one."""
    from rollout.family import member

    template = member("rollout.templates", environment.template)
    show_html = getattr(template, "show_html", None)
    if show_html is None:
        return None
    tasks = {task.key: task for task in environment.tasks}

    def picture(trace: Trace) -> str | None:
        try:
            shown: str = show_html(environment, trace.final_state, tasks.get(trace.task))
        except (ValueError, LookupError):
            # A rollout that broke has no page open.
            return None
        return shown

    return picture


def write_stored(run: Path, out: str | None) -> None:
    """Writes the report of a run that is on the disk, to a file or to stdout.

    Ends the command with a sentence when it cannot be. Raises JournalError when there is no run.
    """
    import sys

    from rollout.analysis.report import ReportError
    from rollout.analysis.report.page import write_page
    from rollout.analysis.report.target import Target

    try:
        stored = _stored(run)
        if out is None:
            write_page(stored, sys.stdout.buffer)
            return
        target = Target.claim(out, stored.rollouts if stored.folder is None else Path(stored.folder))
        try:
            target.write(partial(write_page, stored))
        finally:
            target.close()
    except ReportError as error:
        fail(str(error), error.hint)


def _stored(run: Path) -> Run:
    from rollout.analysis.report.page import Run
    from rollout.engine.run_folder import ROLLOUTS, RUN, read_config, read_summary, rollouts_file

    lines = rollouts_file(run)
    whole = Run(lines, secrets=secrets())
    if lines.name != ROLLOUTS or not (lines.parent / RUN).is_file():
        return whole
    folder = lines.parent
    whole = replace(whole, config=read_config(folder), folder=str(folder))
    ended = read_summary(folder)
    if ended is None:
        return whole
    return replace(whole, planned=ended.planned, stopped=ended.stopped, counted=ended.all)
