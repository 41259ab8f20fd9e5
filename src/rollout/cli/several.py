"""Runs of several environments by one command: one after the other, each kept by itself, and all of them summed up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from rollout.cli.envelope import take_error
from rollout.cli.inputs import sound
from rollout.cli.output import Exit, fail, note
from rollout.cli.run_plan import Plan, Wishes, plan
from rollout.engine import Outcome
from rollout.engine.run_folder import RUN
from rollout.models import Usage

if TYPE_CHECKING:
    from rollout.check import Report
    from rollout.cli.running import Running
    from rollout.cli.several_output import SeveralOutput


@dataclass(slots=True)
class Turn:
    """One environment's turn. There is no plan, but a code to exit with, where it cannot be run.

    ``error`` is why, where an envelope is to say it.
    """

    label: str
    slug: str
    plan: Plan | None = None
    code: int = Exit.FINE
    error: dict[str, Any] | None = None

    def fall_out(self, ended: typer.Exit) -> None:
        """It cannot be run, as has been told."""
        self.code, self.error = ended.exit_code, take_error()


class Start(Protocol):
    """Makes a run of a plan ready, as the command's options have it."""

    def __call__(self, prepared: Plan, *, spent: Usage, output: SeveralOutput) -> Running:
        """``spent`` was used by the runs before. Ends the command with a sentence where it cannot be run here."""


def turns_of(reports: Sequence[Report], wishes: Wishes, *, out: str | None) -> list[Turn]:
    """The turns of environments that were found. Ends the command where what it is asked for is of one only."""
    if wishes.task is not None:
        fail("A task is of one environment, and there are several.", "Name one with --slug, or by its path.")
    slugs = [report.document.slug for report in reports]
    twice = next((slug for slug in slugs if slugs.count(slug) > 1), None)
    if out is not None and twice is not None:
        fail(
            f"Two of the environments have the slug “{twice}”, so their runs cannot be kept side by side.",
            "Run them one by one, or give each a slug of its own.",
        )
    for folder in [] if out is None else [Path(out), *(Path(out, slug) for slug in slugs)]:
        if (folder / RUN).exists():
            way_on = f"Go on with what is there: --resume {out}"
            fail(f"There is a run in “{folder}” already.", way_on)
    return [_turn(report, wishes) for report in reports]


def turns_in(resume: str, wishes: Wishes) -> list[Turn]:
    """The turns of the runs that are in a folder each below ``resume``; none when that is a run itself, or has none."""
    home = Path(resume)
    try:
        if (home / RUN).exists():
            return []
        folders = sorted(folder for folder in home.iterdir() if (folder / RUN).is_file())
    except OSError:
        # Whoever opens it as the folder of one run says what is wrong with it.
        return []
    if folders and (wishes.path is not None or wishes.slug is not None or wishes.task is not None):
        fail(
            f"“{resume}” holds {len(folders)} runs, and each knows its environment.",
            "Leave out PATH, --slug and --task, or resume the folder of one run.",
        )
    turns = []
    for folder in folders:
        turn = Turn(str(folder), folder.name)
        try:
            turn.plan = plan(wishes, resume=str(folder))
            turn.label = turn.plan.label
        except typer.Exit as ended:
            turn.fall_out(ended)
        turns.append(turn)
    return turns


def run_all(turns: Sequence[Turn], start: Start, output: SeveralOutput, *, out: str | None) -> int:
    """Runs them in turn and shows each; returns the worst of their exit codes.

    The limits to cost and tokens are for all together. What stops one for good, such as a limit or a key that is not
    accepted, stops the rest.
    """
    spent, worst, is_begun = Usage(), int(Exit.FINE), out is None
    try:
        for number, turn in enumerate(turns):
            prepared = turn.plan
            running = None if prepared is None else _started(turn, start, spent, output)
            if prepared is None or running is None:
                output.missed(turn)
                worst = max(worst, turn.code)
                continue
            if not is_begun:
                # All at once, so that what is left of them can be gone on with.
                for other in turns[number:]:
                    if other.plan is not None:
                        other.plan.begin(str(Path(str(out), other.slug)))
                is_begun = True
            interrupted = running.run()
            running.end()
            counts = prepared.summary.tally
            spent += prepared.summary.usage + prepared.summary.judge_usage
            if interrupted or not running.whole or counts.outcomes.keys() - {Outcome.PASSED}:
                worst = max(worst, Exit.INTERRUPTED if interrupted else Exit.FINDINGS)
            if interrupted or not running.whole:
                if running.stop is not None:
                    note(" ".join(["stopped:", running.stop.sentence, running.stop.hint or ""]).rstrip())
                for left in turns[number + 1 :]:
                    output.missed(left)
                break
    finally:
        for turn in turns:
            if turn.plan is not None:
                turn.plan.close()
    output.end()
    return worst


def _turn(report: Report, wishes: Wishes) -> Turn:
    from dataclasses import replace

    turn = Turn(report.document.label, report.document.slug)
    try:
        checked = sound(report)
        mine = replace(wishes, path=_path(report), slug=report.document.slug)
        turn.plan = plan(mine, resume=None, sound=checked)
    except typer.Exit as ended:
        turn.fall_out(ended)
    return turn


def _path(report: Report) -> str:
    document = report.document
    is_folder = any(source.path.stem == "environment" for source in document.sources)
    return str(document.root if is_folder else document.sources[0].path)


def _started(turn: Turn, start: Start, spent: Usage, output: SeveralOutput) -> Running | None:
    assert turn.plan is not None
    try:
        return start(turn.plan, spent=spent, output=output)
    except typer.Exit as ended:
        turn.fall_out(ended)
        return None


__all__ = ["Start", "Turn", "run_all", "turns_in", "turns_of"]
