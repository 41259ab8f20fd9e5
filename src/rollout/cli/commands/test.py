"""`rollout test`: runs tasks of environments with a model, on this machine, and shows what happened and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollout.cli import completions

if TYPE_CHECKING:
    from rollout.cli.run_plan import Plan, Sound, Wishes
    from rollout.cli.running import Running
    from rollout.engine.executors import Asked


class RunFormat(StrEnum):
    """How a run is shown."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


def test(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH…",
            help="An environment's folder or file, or a Python file; or several, folders of them, and globs.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            autocompletion=completions.models,
            help="Who acts: oracle, noop, human (you), random:SEED, replay:FILE, or PROVIDER/MODEL.",
        ),
    ] = None,
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Which environment, where there are several.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="Only this task: its id, or its number from 0.")] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            autocompletion=completions.splits,
            help="Only tasks of this split: dev, test or train.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="How many tasks to run at most; 3 unless given.")
    ] = None,
    all_tasks: Annotated[bool, typer.Option("--all", help="Run all tasks.")] = False,
    trials: Annotated[
        int | None,
        typer.Option("--trials", "-n", min=1, help="How often each task is run; once unless given."),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="How many rollouts go on at once.")] = 16,
    temperature: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|none",
            help="How freely a model draws its words, from 0 to 2; 0.3 unless given. none: it is not sent.",
        ),
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="From how much of what is likely a model draws.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="A seed for the model, where it takes one.")] = None,
    max_output_tokens: Annotated[
        int | None, typer.Option(min=1, help="How many tokens one turn of the model may have.")
    ] = None,
    max_tool_calls: Annotated[
        int | None, typer.Option(min=0, help="How many tool calls a rollout may make; 12 unless given.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.001, metavar="SECONDS", help="How long a rollout may take.")
    ] = None,
    turn_timeout: Annotated[
        float,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            help="How long a model elsewhere may take for an answer, before it is asked again.",
        ),
    ] = 300.0,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="DOLLARS", help="End the run when so much has been spent."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=0, help="End the run when so many tokens, in and out, have been used.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keep the run in this folder, which must not have one.")
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Go on with the run in this folder; other options may be left out."),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write a page for a browser: the figures of the run, and every rollout in it.",
        ),
    ] = None,
    sandbox: Annotated[
        str | None,
        typer.Option(
            help="Where commands run: auto, bubblewrap, docker, podman, or none, a process without protection."
        ),
    ] = None,
    executor: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Where rollouts are done: local, ray, ray:auto or ray:HOST:PORT, a Ray cluster.",
        ),
    ] = "local",
    output_format: Annotated[
        RunFormat, typer.Option("--format", help="How the run is shown.")
    ] = RunFormat.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
    events: Annotated[
        bool, typer.Option("--events", help="A JSON event a line on stdout, as it happens.")
    ] = False,
) -> None:
    """Run tasks with a model; show each call and the verdict.

    The verdict has a reason for each primitive.

    With `--out DIR` each rollout is on the disk as soon as it is done, and `--resume DIR` does the rest of a run that
    was broken off. It may be given more trials (`-n`) and other tasks, and else must be as it was begun. Options that
    choose fewer tasks are for this time only: what is left of the run stays to be done, and is told at the end.

    `--report FILE` writes the run as one HTML page that needs nothing from elsewhere, with figures, a table to filter
    and each transcript. Of a run that is in a folder, `rollout traces DIR --format html -o FILE` writes the same.

    Several environments are run in turn, with a line each and one for all, and the limits are for all together. With
    `--out DIR` each run is in a folder of DIR named by the environment's slug, and `--resume DIR` goes on with all.

    Examples: `rollout test envs/refund --model oracle --limit 5`, `rollout test envs --model noop --all`

    Exit code 0: every task passed. 1: a task failed, broke or was not done, or the environment has errors. 2: wrong
    usage. 3: the cluster that --executor names is not there. 130: interrupted.
    """
    from rollout.cli.inputs import in_sandbox, refuse_empty
    from rollout.cli.outputs import refuse_source
    from rollout.cli.run_options import refuse_contradictions, refuse_no_numbers, temperature_of
    from rollout.cli.run_plan import Wishes
    from rollout.cli.running import fail_without_executor
    from rollout.engine.executors import ExecutorError, find

    refuse_contradictions(
        events=events,
        as_json=as_json,
        output_format=output_format,
        all_tasks=all_tasks,
        limit=limit,
        task=task,
        split=split,
        out=out,
        resume=resume,
    )
    refuse_empty(*(paths or ()), out, resume)
    refuse_source(out, report)
    degree = temperature_of(temperature)
    refuse_no_numbers(
        {
            "--top-p": top_p,
            "--timeout": timeout,
            "--turn-timeout": turn_timeout,
            "--max-cost": max_cost,
        }
    )
    try:
        asked = find(executor)
    except ExecutorError as error:
        fail_without_executor(error)
    wishes = Wishes(
        path=paths[0] if paths else None,
        slug=slug,
        model=model,
        task=task,
        split=split,
        limit=limit,
        all=all_tasks,
        trials=trials,
        temperature=degree,
        top_p=top_p,
        seed=seed,
        max_tokens=max_output_tokens,
        max_tool_calls=max_tool_calls,
        seconds=timeout,
    )
    form = "events" if events else "json" if as_json else output_format.value
    manner = Manner(asked, form, sandbox, concurrency, turn_timeout, max_cost, max_tokens)
    with in_sandbox(sandbox):
        code = _test(paths or [], wishes, manner, out=out, resume=resume, report=report)
    raise typer.Exit(code)


@dataclass(frozen=True, slots=True)
class Manner:
    """How runs are done and shown."""

    asked: Asked
    form: str
    sandbox: str | None
    concurrency: int
    turn_timeout: float
    max_cost: float | None
    max_tokens: int | None

    def start(self, prepared: Plan, **more: Any) -> Running:
        """A run of a plan, made ready."""
        from rollout.cli.running import Running

        return Running(
            prepared,
            self.asked,
            form=self.form,
            sandbox=self.sandbox,
            concurrency=self.concurrency,
            turn_timeout=self.turn_timeout,
            max_cost=self.max_cost,
            max_tokens=self.max_tokens,
            **more,
        )


def _test(
    paths: list[str],
    wishes: Wishes,
    manner: Manner,
    *,
    out: str | None,
    resume: str | None,
    report: str | None,
) -> int:
    """Runs one environment or several; returns the exit code."""
    from rollout.cli.inputs import found_environments, sound
    from rollout.cli.output import fail
    from rollout.cli.run_options import refuse_report
    from rollout.cli.several import run_all, turns_in, turns_of
    from rollout.cli.several_output import several_output

    ready: Sound | None = None
    turns = []
    if resume is not None:
        if len(paths) > 1:
            fail("A run that is gone on with knows its environment.", "Leave out the paths.")
        turns = turns_in(resume, wishes)
    elif paths and wishes.model is not None:
        found = found_environments(paths, slug=wishes.slug)
        if len(found) > 1:
            refuse_report(report)
            turns = turns_of(found, wishes, out=out)
        else:
            ready = sound(found[0])
    if not turns:
        return _test_one(wishes, manner, ready, out=out, resume=resume, report=report)
    refuse_report(report)
    shown = several_output(manner.form)
    code = run_all(
        turns,
        lambda prepared, *, spent, output: manner.start(prepared, spent=spent, output=output.of),
        shown,
        out=out,
    )
    if any(turn.plan is not None and turn.plan.summary.tally.all < turn.plan.planned for turn in turns):
        kept = resume if out is None else out
        _note_left(
            sum(turn.plan.summary.tally.all for turn in turns if turn.plan is not None),
            sum(turn.plan.planned for turn in turns if turn.plan is not None),
            kept,
        )
    return code


def _test_one(
    wishes: Wishes,
    manner: Manner,
    ready: Sound | None,
    *,
    out: str | None,
    resume: str | None,
    report: str | None,
) -> int:
    from rollout.cli.output import Exit, note
    from rollout.cli.report import Reporting
    from rollout.cli.run_plan import plan
    from rollout.engine import Outcome

    # Taken first, so that nothing is paid for whose report cannot be written.
    reporting = None if report is None else Reporting(report, resume if out is None else out)
    prepared = None
    try:
        prepared = plan(wishes, resume=resume, sound=ready)
        running = manner.start(prepared, reporting=reporting)
        if out is not None:
            prepared.begin(out)
        interrupted = running.run()
        running.end()
    finally:
        if prepared is not None:
            prepared.close()
        if reporting is not None:
            reporting.close()
    counts = prepared.summary.tally
    whole = running.whole
    if not whole and running.stop is not None:
        note(f"stopped: {running.stop.sentence}" + (f" {running.stop.hint}" if running.stop.hint else ""))
    if interrupted or not whole or counts.all < prepared.planned:
        _note_left(
            counts.all, prepared.planned, None if prepared.journal is None else str(prepared.journal.folder)
        )
    if interrupted:
        return Exit.INTERRUPTED
    if not whole or any(
        counts.outcomes[outcome] for outcome in counts.outcomes if outcome is not Outcome.PASSED
    ):
        return Exit.FINDINGS
    return Exit.FINE


def _note_left(done: int, planned: int, folder: str | None) -> None:
    from shlex import quote

    from rollout.cli.output import note

    way_on = "; they were not kept. A run with --out DIR can be gone on with."
    if folder is not None:
        way_on = f". Go on with: rollout test --resume {quote(folder)}"
    note(f"{done:,} of {planned:,} rollouts are done{way_on}")
