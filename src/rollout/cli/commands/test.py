"""`rollout test`: runs tasks of one environment with a model, on this machine, and shows what happened and why."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rollout.cli import completions

if TYPE_CHECKING:
    from rollout.cli.run_plan import Plan


class RunFormat(StrEnum):
    """How a run is shown."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


def test(
    path: Annotated[
        str | None,
        typer.Argument(
            metavar="PATH", help="An environment's folder or file, or a Python file.", show_default=False
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
        float | None,
        typer.Option(min=0.0, max=2.0, help="How freely a model draws its words; 0.3 unless given."),
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

    Example: `rollout test envs/refund --model oracle --limit 5`

    Exit code 0: every task passed. 1: a task failed, broke or was not done, or the environment has errors. 2: wrong
    usage. 130: interrupted.
    """
    from math import isfinite

    from rollout.cli.inputs import in_sandbox
    from rollout.cli.output import Exit, fail, note
    from rollout.cli.report import Reporting
    from rollout.cli.run_plan import Wishes, plan
    from rollout.cli.running import Running
    from rollout.engine import Outcome
    from rollout.engine.executors import ExecutorError, find

    if events and (as_json or output_format is not RunFormat.TEXT):
        fail(
            "A run is shown in one way: as events or in a format.",
            "Leave out --events, or --json and --format.",
        )
    numbers = {
        "--temperature": temperature,
        "--top-p": top_p,
        "--timeout": timeout,
        "--turn-timeout": turn_timeout,
        "--max-cost": max_cost,
    }
    for name, number in numbers.items():
        if number is not None and not isfinite(number):
            is_infinite = number == number
            fail(
                f"{name} is {'without end' if is_infinite else 'no number'}.",
                f"Give it a number, such as {name} 1{', or leave it out' if is_infinite else ''}.",
            )
    if out is not None and resume is not None:
        fail("--out begins a run and --resume goes on with one.", "Give one of them.")
    try:
        asked = find(executor)
    except ExecutorError as error:
        fail(str(error), error.hint)
    wishes = Wishes(
        path=path,
        slug=slug,
        model=model,
        task=task,
        split=split,
        limit=limit,
        all=all_tasks,
        trials=trials,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
        max_tokens=max_output_tokens,
        max_tool_calls=max_tool_calls,
        seconds=timeout,
    )
    # Taken first, so that nothing is paid for whose report cannot be written.
    reporting = None if report is None else Reporting(report, resume if out is None else out)
    prepared = None
    try:
        prepared = plan(wishes, resume=resume)
        with in_sandbox(sandbox):
            running = Running(
                prepared,
                asked,
                form="events" if events else "json" if as_json else output_format.value,
                sandbox=sandbox,
                concurrency=concurrency,
                turn_timeout=turn_timeout,
                max_cost=max_cost,
                max_tokens=max_tokens,
                reporting=reporting,
            )
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
        note(f"{counts.all:,} of {prepared.planned:,} rollouts are done{_way_on(prepared)}")
    if interrupted:
        raise typer.Exit(Exit.INTERRUPTED)
    if not whole or any(
        counts.outcomes[outcome] for outcome in counts.outcomes if outcome is not Outcome.PASSED
    ):
        raise typer.Exit(Exit.FINDINGS)


def _way_on(prepared: Plan) -> str:
    if prepared.journal is None:
        return "; they were not kept. A run with --out DIR can be gone on with."
    from shlex import quote

    return f". Go on with: rollout test --resume {quote(str(prepared.journal.folder))}"
