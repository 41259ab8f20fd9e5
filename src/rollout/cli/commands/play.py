"""`rollout play`: be the agent of a task in the terminal, see the verdict, and keep the play as its solution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rollout.cli.recording import Recorder
    from rollout.cli.terminal import Terminal
    from rollout.engine import Rollout


def play(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="An environment's folder or file, or a Python file.")
    ],
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Which environment, where there are several.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Which task: its id, or its number from 0; the first unless given.")
    ] = None,
    max_tool_calls: Annotated[
        int | None, typer.Option(min=0, help="How many tool calls you may make; 12 unless given.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Keep a play that passes as the task's solution, in its file.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="With --record: in the place of the solution that there is.")
    ] = False,
    show_state: Annotated[
        bool, typer.Option("--show-state", help="Let “state” show the world's state, which no agent sees.")
    ] = False,
    sandbox: Annotated[
        str | None,
        typer.Option(
            help="Where commands run: auto, bubblewrap, docker, podman, or none, a process without protection."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON envelope on stdout; the dialogue goes to stderr.")
    ] = False,
) -> None:
    """Be the agent: call tools, answer, see the verdict.

    Be the agent of a task: you see the instruction and the tools as a model would, type calls such as
    `get_order order_id=O-1`, and end with `answer …`. Tab completes; `help` says what else can be typed. Without a
    terminal the lines come from standard input.

    With `--record` a play that passes is written into the task as its `solution`, once the oracle has played it back
    to the top score. Nothing else in the file changes.

    Example: `rollout play envs/refund --task alice`

    Exit code 0: passed (and recorded, where that was asked). 1: failed, without a verdict, or not recorded. 2: wrong
    usage. 130: given up.
    """
    import asyncio
    import sys

    from rollout.cli.inputs import in_sandbox, project_settings, sound_environment
    from rollout.cli.output import Exit, fail
    from rollout.cli.playing import Game
    from rollout.cli.recording import Recorder
    from rollout.cli.run_plan import MAX_TOOL_CALLS, Wishes, choose
    from rollout.cli.terminal import Terminal
    from rollout.engine import Outcome
    from rollout.templates import TemplateError

    if replace and not record:
        fail("--replace says what --record is to do.", "Give --record too, or neither.")
    report, environment = sound_environment(path, slug=slug)
    [chosen] = choose(environment, Wishes(task=task, limit=1))
    recorder = Recorder.of(path, slug, report, environment, chosen) if record else None
    terminal = Terminal(sys.stderr if as_json else sys.stdout, takes_back=True)
    if recorder is not None:
        _refuse_in_vain(recorder, terminal, replace=replace)
    with in_sandbox(sandbox):
        try:
            game = Game(
                environment,
                chosen,
                terminal,
                project_settings(),
                max_tool_calls=MAX_TOOL_CALLS if max_tool_calls is None else max_tool_calls,
                show_state=show_state,
            )
        except TemplateError as error:
            fail(f"{report.document.label} cannot be run here. {error}")
        if task is None and len(environment.tasks) > 1:
            terminal.show(
                f"The first of {len(environment.tasks):,} tasks; --task chooses another.\n", "quiet"
            )
        try:
            with asyncio.Runner() as runner:
                rollout, recorded = runner.run(game.run(recorder, replace=replace))
        except KeyboardInterrupt:
            terminal.show("Given up; there is no verdict.", "quiet")
            raise typer.Exit(Exit.INTERRUPTED) from None
    if as_json:
        _show_json(environment.slug, rollout, recorded)
    if rollout.verdict.outcome is not Outcome.PASSED or (record and recorded is None):
        raise typer.Exit(Exit.FINDINGS)


def _refuse_in_vain(recorder: Recorder, terminal: Terminal, *, replace: bool) -> None:
    """Says before a play what would keep it from being recorded."""
    from rollout.cli.output import fail, note
    from rollout.cli.recording import Unwritten

    if recorder.task.solution is not None and not replace and not terminal.is_terminal:
        fail(
            f"Task “{recorder.task.key}” has a solution already, and nobody can be asked here.",
            "--replace puts the new one in its place.",
        )
    if isinstance(recorder.home, Unwritten):
        note(f"{recorder.home.sentence} A play that passes is shown, to be pasted.")


def _show_json(slug: str, rollout: Rollout, recorded: str | None) -> None:
    from dataclasses import asdict

    from rollout.cli.output import show_json

    show_json("play", {"environment": slug, **asdict(rollout), "recorded": recorded})
