"""`rollout test`: runs tasks of one environment with a model, on this machine, and shows what happened and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollout.cli import completions

if TYPE_CHECKING:
    from rollout.engine import Rollout
    from rollout.environment import Environment, Task


def test(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="An environment's folder or file, or a Python file.")
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            autocompletion=completions.models,
            help="Who acts: oracle, noop, random:SEED, replay:FILE, or PROVIDER/MODEL.",
        ),
    ],
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
    limit: Annotated[int, typer.Option(min=1, help="How many tasks to run at most.")] = 3,
    temperature: Annotated[
        float, typer.Option(min=0.0, max=2.0, help="How freely a model draws its words.")
    ] = 0.3,
    max_tool_calls: Annotated[int, typer.Option(min=0, help="How many tool calls a rollout may make.")] = 12,
    sandbox: Annotated[
        str | None,
        typer.Option(
            help="Where commands run: auto, bubblewrap, docker, podman, or none, a process without protection."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Run tasks with a model; show each call and the verdict.

    Run tasks with a model: the calls and their results, and a verdict with a reason for each primitive.

    Example: `rollout test envs/refund --model oracle --limit 5`

    Exit code 0: every task passed. 1: a task failed or broke, or the environment has errors. 2: wrong usage.
    """
    import asyncio

    from rollout.cli.inputs import in_sandbox, project_settings, sound_environment
    from rollout.cli.output import Exit, fail, show, show_json, wants_color
    from rollout.cli.transcript import Transcript, tally
    from rollout.engine import Outcome, roll_out
    from rollout.engine.judge import VerifierGrader
    from rollout.engine.loop import EnvironmentWorkflow
    from rollout.models import ConnectError, Sampling, Setup, connect
    from rollout.templates import TemplateError

    report, environment = sound_environment(path, slug=slug)
    chosen = _choose(environment, task, split, limit)
    try:
        actor = connect(model, Setup(settings=project_settings()))
        workflow = EnvironmentWorkflow(
            environment, max_tool_calls=max_tool_calls, sampling=Sampling(temperature=temperature)
        )
    except ConnectError as error:
        fail(str(error), error.hint)
    except TemplateError as error:
        fail(f"{report.document.label} cannot be run here. {error}")
    grader = VerifierGrader(environment)
    transcript = Transcript(color=wants_color())
    finished: list[Rollout] = []

    async def run() -> None:
        try:
            for each in chosen:
                rollout = await roll_out(workflow, grader, each, actor)
                finished.append(rollout)
                if not as_json:
                    show(f"{transcript.rollout(each, rollout)}\n")
        finally:
            await actor.close()

    with in_sandbox(sandbox):
        asyncio.run(run())
    counts = tally(finished)
    if as_json:
        show_json("test", _data(environment, model, finished))
    else:
        left = len(environment.tasks) - len(chosen)
        show(transcript.tally(counts) + (f"; {left} more of its tasks were not run." if left else "."))
    if any(rollout.verdict.outcome is not Outcome.PASSED for rollout in finished):
        raise typer.Exit(Exit.FINDINGS)


def _choose(environment: Environment, task: str | None, split: str | None, limit: int) -> Sequence[Task]:
    from rollout.cli.output import fail

    tasks = environment.tasks
    if not tasks:
        fail(f"“{environment.slug}” has no tasks, so there is nothing to run.")
    if task is not None:
        named = [each for each in tasks if each.key == task]
        if not named and task.isascii() and task.isdigit() and len(task) < 10 and int(task) < len(tasks):
            named = [tasks[int(task)]]
        if not named:
            fail(f"There is no task “{task}”.", _task_hint(environment, task))
        return named[:1]
    if split is not None:
        splits = sorted({each.split for each in tasks})
        tasks = [each for each in tasks if each.split == split]
        if not tasks:
            fail(f"No task is in the split “{split}”.", f"The splits here are: {', '.join(splits)}.")
    return tasks[:limit]


def _task_hint(environment: Environment, task: str) -> str:
    from difflib import get_close_matches

    keys = [each.key for each in environment.tasks[:5_000]]
    if close := get_close_matches(task, keys, n=1):
        return f"Did you mean “{close[0]}”?"
    return f"Give an id, such as “{keys[0]}”, or a number from 0 to {len(environment.tasks) - 1}."


def _data(environment: Environment, model: str, finished: Sequence[Rollout]) -> dict[str, Any]:
    from dataclasses import asdict

    from rollout.cli.transcript import tally

    counts = tally(finished)
    return {
        "environment": environment.slug,
        "model": model,
        "rollouts": [asdict(rollout) for rollout in finished],
        "outcomes": {str(outcome): number for outcome, number in sorted(counts.outcomes.items())},
        "passed": counts.passed,
        "graded": counts.graded,
        "all": counts.all,
    }
