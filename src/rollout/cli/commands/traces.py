"""`rollout traces`: gives the rollouts of a run in the forms that other programs read."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer


class TraceFormat(StrEnum):
    """The form of an exported rollout."""

    OPENAI = "openai"
    ATIF = "atif"
    HTML = "html"


def traces(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, or its rollouts.jsonl.")],
    output_format: Annotated[
        TraceFormat,
        typer.Option(
            "--format",
            help="openai: chat messages. atif: Agent Trajectory Interchange Format. html: a page for a browser.",
        ),
    ] = TraceFormat.OPENAI,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write; stdout unless given.")
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            metavar="OUTCOME", help="Only rollouts that came out so: passed, failed, error or unscored."
        ),
    ] = None,
) -> None:
    """Export the rollouts of a run.

    They are JSON Lines, one object a rollout. Each rollout is there once, as it was last done.

    `openai` is `{"messages": […], "tools": […], "metadata": {…}}` as chat completions take them. `atif` is a trajectory
    of the Agent Trajectory Interchange Format, version 1.7. `html` is not JSON but the report of the whole run, one
    page as `rollout test --report FILE` writes it.

    Example: `rollout traces runs/monday --format atif -o monday.jsonl`

    Exit code 0: done. 2: there is no run, or wrong usage.
    """
    import sys
    from contextlib import ExitStack
    from functools import partial
    from itertools import chain
    from pathlib import Path

    from rollout.analysis import exports
    from rollout.cli.output import fail
    from rollout.cli.outputs import refuse_source
    from rollout.compile.folder_writer import WriteError, make_home
    from rollout.engine import Outcome
    from rollout.engine.rollout_line import dump
    from rollout.engine.run_folder import JournalError, read_rollouts, run_id

    if outcome is not None and outcome not in list(Outcome):
        fail(f"There is no outcome “{outcome}”.", f"There are {', '.join(Outcome)}.")
    refuse_source(out)
    if output_format is TraceFormat.HTML:
        _write_report(run, out, outcome)
        return
    try:
        rest = read_rollouts(Path(run))
        first = next(rest, None)
        # Without a whole line nothing is exported, and there is nothing that the run could be known by.
        named = partial(exports.atif, run="" if first is None else run_id(Path(run)))
    except JournalError as error:
        fail(str(error), error.hint)
    export = named if output_format is TraceFormat.ATIF else exports.openai
    tools = None if first is None else _tools(run)
    with ExitStack() as stack:
        if out is None:
            stream = sys.stdout.buffer
        else:
            try:
                make_home(Path(out))
                stream = stack.enter_context(Path(out).open("wb"))
            except WriteError as error:
                fail(str(error), error.hint)
            except OSError as error:
                fail(f"“{out}” cannot be written: {error.strerror}.")
        for line in chain([] if first is None else [first], rest):
            try:
                data = dump(export(line, tools)) if outcome in (None, line["verdict"]["outcome"]) else b""
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                trace = line["trace"]
                fail(
                    f"A rollout of task “{trace['task']}” cannot be read ({type(error).__name__}: {error}).",
                    f"Take trial {trace.get('trial', 0)} of it out of the lines in “{run}”.",
                )
            stream.write(data)


def _tools(run: str) -> list[dict[str, Any]] | None:
    """The tools that the model of a run was shown; None, and a note that says so, where they were not kept."""
    from pathlib import Path

    from rollout.cli.output import note, visible
    from rollout.engine.run_folder import ROLLOUTS, RUN, JournalError, read_config, rollouts_file

    lines = rollouts_file(Path(run))
    tools = None
    if lines.name == ROLLOUTS and (lines.parent / RUN).is_file():
        try:
            tools = read_config(lines.parent).get("tools")
        except JournalError:
            tools = None
    if not isinstance(tools, list):
        note(f"note: The tools of the run are not known from “{visible(run)}”, so no row has them.")
        return None
    return tools


def _write_report(run: str, out: str | None, outcome: str | None) -> None:
    from pathlib import Path

    from rollout.cli.output import fail
    from rollout.cli.report import write_stored
    from rollout.engine.run_folder import JournalError

    if outcome is not None:
        fail(
            "A report is of the whole run: rates of some of its rollouts would say nothing.",
            "Leave out --outcome; the page can be filtered.",
        )
    try:
        write_stored(Path(run), out)
    except JournalError as error:
        fail(str(error), error.hint)
