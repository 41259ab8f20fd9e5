"""`rollout regrade`: judges stored rollouts again, by the verifier that there is now, and shows what changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rollout.engine import Mark, Rollout, Verdict
    from rollout.engine.regrade import Regraded
    from rollout.environment import Environment


def regrade(
    traces: Annotated[
        str, typer.Argument(metavar="TRACES", help="The folder of a run, or its rollouts.jsonl.")
    ],
    path: Annotated[
        str,
        typer.Option(
            "--with", metavar="PATH", help="The environment whose verifier judges: a folder or file."
        ),
    ],
    slug: Annotated[str | None, typer.Option(help="Which environment of a Python file.")] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the rollouts with their new verdicts."),
    ] = None,
    across_versions: Annotated[
        bool,
        typer.Option(
            "--across-versions", help="Judge rollouts of another version of the environment or its tasks too."
        ),
    ] = False,
    ask_judges: Annotated[
        bool,
        typer.Option(
            "--ask-judges", help="Ask the models of llm_judge; without, what they judge stays unscored."
        ),
    ] = False,
    sandbox: Annotated[
        str | None,
        typer.Option(
            help="Where commands run: auto, bubblewrap, docker, podman, or none, a process without protection."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Judge stored rollouts again and show what changed.

    The agents are not run again: what they did is judged by the verifier as it is now. The environment and its tasks
    have to be those of the run, so that only the verifier may have changed.

    Example: `rollout regrade runs/monday --with envs/refund`

    Exit code 0: every rollout came out as before. 1: some came out otherwise, or the environment has errors. 2: wrong
    usage, or rollouts that cannot be judged again.
    """
    import asyncio

    from rollout.cli.inputs import in_sandbox, project_settings, sound_environment
    from rollout.cli.output import Exit, fail, show, show_json
    from rollout.cli.outputs import refuse_source
    from rollout.compile.folder_writer import WriteError, make_home
    from rollout.engine import Rollout
    from rollout.engine.judge import VerifierGrader
    from rollout.engine.regrade import Regrader
    from rollout.engine.stored import dump
    from rollout.models import Setup

    refuse_source(out)
    _, environment = sound_environment(path, slug=slug)
    grader = VerifierGrader(environment, setup=Setup(settings=project_settings()) if ask_judges else None)
    regrader = Regrader(environment, grader)
    _expect_same_version(Path(traces), environment, across_versions)
    judged: list[Regraded] = []
    gone = 0

    async def run(file: IO[bytes] | None) -> None:
        nonlocal gone
        try:
            for rollout in _read(Path(traces), environment):
                if not regrader.knows(rollout):
                    if not across_versions:
                        fail(
                            f"The task “{rollout.trace.task}” is not in “{environment.slug}”.",
                            "Give the environment that was run, or --across-versions to leave such rollouts out.",
                        )
                    gone += 1
                    continue
                judged.append(await regrader.judge(rollout))
                if file is not None:
                    file.write(dump(Rollout(rollout.trace, judged[-1].after)))
        finally:
            await grader.close()

    with in_sandbox(sandbox):
        try:
            if out is not None:
                make_home(Path(out))
            with Path(out).open("xb") if out is not None else nullcontext() as file:
                asyncio.run(run(file))
        except WriteError as error:
            fail(str(error), error.hint)
        except FileExistsError:
            fail(f"There is a file “{out}” already.", "Give another name.")
        except OSError as error:
            fail(f"“{out}” cannot be written: {error.strerror}.")
    changed = [each for each in judged if each.is_changed]
    if as_json:
        show_json("regrade", _data(environment, judged, gone))
    else:
        for each in changed:
            show("\n".join(_lines(each)) + "\n")
        show(_summary(judged, changed, gone))
    if any(each.has_other_outcome for each in judged):
        raise typer.Exit(Exit.FINDINGS)


def _read(path: Path, environment: Environment) -> Iterator[Rollout]:
    from rollout.cli.output import fail
    from rollout.engine.run_folder import JournalError, read_rollouts
    from rollout.engine.stored import StoredError, from_json

    count = 0
    try:
        for line in read_rollouts(path):
            trace = line.get("trace")
            name = f"task “{trace.get('task')}”" if isinstance(trace, dict) else f"line {count + 1}"
            try:
                rollout = from_json(line)
            except StoredError as error:
                fail(f"The rollout of {name} in “{path}” {error}.", "So it cannot be judged again.")
            if rollout.trace.environment != environment.slug:
                fail(
                    f"The rollouts are of “{rollout.trace.environment}”, not of “{environment.slug}”.",
                    "Give the environment that was run; in a copy of it under another name, write "
                    f"“slug: {rollout.trace.environment}”.",
                )
            count += 1
            yield rollout
    except JournalError as error:
        fail(str(error), error.hint)
    if not count:
        fail(f"There are no rollouts in “{path}”.")


def _expect_same_version(path: Path, environment: Environment, across_versions: bool) -> None:
    from rollout.cli.output import fail
    from rollout.engine.regrade import other_inputs
    from rollout.engine.run_folder import JournalError, read_config

    if across_versions or not path.exists():
        return
    way_out = "Go back to that version, or judge all the same with --across-versions."
    try:
        recorded = read_config(path if path.is_dir() else path.parent).get("inputs")
    except JournalError:
        recorded = None
    if not isinstance(recorded, dict):
        fail(
            f"It is not known which version of “{environment.slug}” these rollouts are of.",
            "Give the folder of the run, or --across-versions.",
        )
    changed = other_inputs(environment, recorded)
    if changed:
        what = " and ".join(changed)
        fail(f"The rollouts are of another version: {what} changed since.", way_out)


def _lines(each: Regraded) -> Iterator[str]:
    from rollout.diagnostics._visible import visible

    trial = f", trial {each.trial}" if each.trial else ""
    yield f"{visible(each.task)}{trial}: {_told(each.before)} → {_told(each.after)}"
    before = {mark.name: mark for mark in each.before.marks}
    for mark in each.after.marks:
        was = before.pop(mark.name, None)
        if was is None:
            yield f"    {visible(mark.name)}: new, {_value(mark)}. {visible(mark.reason)}"
        elif (was.value, was.weight, was.failure) != (mark.value, mark.weight, mark.failure):
            yield f"    {visible(mark.name)}: {_value(was)} → {_value(mark)}. {visible(mark.reason)}"
    for name in before:
        yield f"    {visible(name)}: no longer asked."
    if each.after.failure is not None and not each.after.marks:
        yield f"    {visible(each.after.failure.sentence)}"


def _told(verdict: Verdict) -> str:
    from rollout.analysis.words import number

    return str(verdict.outcome) + ("" if verdict.score is None else f" ({number(verdict.score)})")


def _value(mark: Mark) -> str:
    from rollout.analysis.words import number

    weight = "" if mark.weight == 1 else f" ×{number(mark.weight)}"
    return ("not judged" if mark.value is None else number(mark.value)) + weight


def _summary(judged: list[Regraded], changed: list[Regraded], gone: int) -> str:
    from collections import Counter

    moves = Counter(
        f"{each.before.outcome} → {each.after.outcome}" for each in judged if each.has_other_outcome
    )
    count = "1 rollout" if len(judged) == 1 else f"{len(judged)} rollouts"
    other = f"{sum(moves.values())} with another outcome"
    listed = ", ".join(f"{number} {move}" for move, number in sorted(moves.items()))
    scores = len(changed) - sum(moves.values())
    parts = [f"{other} ({listed})" if moves else "none with another outcome"]
    if scores:
        parts.append(f"{scores} with another score only")
    if gone:
        parts.append(f"{gone} left out, since their tasks are gone")
    return f"{count} judged again: {'; '.join(parts)}."


def _data(environment: Environment, judged: list[Regraded], gone: int) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "environment": environment.slug,
        "rollouts": [
            {
                "task": each.task,
                "trial": each.trial,
                "changed": each.is_changed,
                "before": asdict(each.before),
                "after": asdict(each.after),
            }
            for each in judged
        ],
        "changed": sum(each.is_changed for each in judged),
        "other_outcome": sum(each.has_other_outcome for each in judged),
        "left_out": gone,
    }
