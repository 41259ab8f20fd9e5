"""`rollout run`: has a platform do rollouts of an environment that was pushed, and follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollout.cli import completions
from rollout.cli.asking import Where

if TYPE_CHECKING:
    from rollout.platform.client import Client


def run(
    slug: Annotated[
        str,
        typer.Argument(
            metavar="SLUG[@DIGEST]", help="The environment, as it is or as a version.", show_default=False
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            autocompletion=completions.models,
            help="Who acts: oracle, noop, random:SEED, or PROVIDER/MODEL.",
            show_default=False,
        ),
    ],
    n: Annotated[int, typer.Option("-n", "--n", min=1, help="How many rollouts of each task.")] = 1,
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            metavar="TASK",
            help="Only this task: its id there, or its number from 0; more than once for more.",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="SPLIT",
            autocompletion=completions.splits,
            help="Only tasks of this split.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many tasks, from the first.")] = None,
    temperature: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|none",
            help="How freely a model draws its words, from 0 to 2. none: it is not sent.",
            show_default="0.7",
        ),
    ] = None,
    max_tool_calls: Annotated[int, typer.Option(min=0, help="How many tool calls a rollout may make.")] = 20,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="What the run is called.")] = None,
    parent: Annotated[
        str | None, typer.Option(metavar="RUN", help="The run that this one comes after, as after training.")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, max=256, help="How many rollouts go on at once.", show_default="16")
    ] = None,
    watch: Annotated[
        bool,
        typer.Option("--watch/--no-watch", help="Follow the run to its end, or leave when it has begun."),
    ] = True,
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Run an environment that was pushed, and follow the run.

    On `local` the rollouts are done here and now, with the keys of your models. Ctrl-C keeps what is done, and `rollout
    resume` goes on with it. On a server the run is the server's: Ctrl-C only stops looking.

    Example: `rollout run refund-agent --model openai/gpt-4o-mini -n 50`

    Exit code 0: every rollout passed, or the run has begun (--no-watch). 1: one failed, broke or was not done. 2: wrong
    usage. 3: the platform refused the run, or could not be asked. 130: interrupted.
    """
    from shlex import quote

    from rollout.cli.asking import asking, the_run
    from rollout.cli.following import Following
    from rollout.cli.output import fail, show, show_json, visible
    from rollout.cli.run_options import temperature_of

    degree = temperature_of(temperature)
    if degree is None:
        degree = 0.7
    named, at, digest = slug.partition("@")
    if not named or (at and not digest):
        fail(f"“{slug}” names no environment.", "Write SLUG, or SLUG@DIGEST for a version of it.")
    if task and (split is not None or limit is not None):
        fail(
            "--task names the tasks, and --split and --limit choose among all.", "Leave out one or the other."
        )
    with asking(endpoint) as client:
        if client.endpoint == "local" and not watch:
            fail(
                "On local a run is done by the command that begins it, so it is not left alone.",
                "Leave out --no-watch, or use a server: rollout serve",
            )
        wishes = {
            "digest": digest or None,
            "split": split,
            "limit": limit,
            "concurrency": concurrency,
            "tasks": _task_ids(client, named, digest, task) if task else None,
        }
        parent_id = the_run(client, parent)["id"] if parent else None
        more: dict[str, Any] = {key: value for key, value in wishes.items() if value is not None}
        sent = None if degree == "none" else degree
        begun = client.create_run(named, model, n, sent, max_tool_calls, name, parent_id, **more)
        run_id, total = begun["runId"], begun["total"]
        page = "" if client.endpoint == "local" else f"{client.endpoint}/runs/{visible(run_id)}"
        if not watch:
            if as_json:
                show_json("run", {"endpoint": client.endpoint, "run": {"id": run_id, "total": total}})
            else:
                show(f"run {visible(run_id)}: {total:,} rollouts have begun\n→ {page}")
            return
        heading = f"run {visible(run_id)}: {total:,} rollout{'s' * (total != 1)}"
        heading += f"\n→ {page}" if page else ""
        following = Following(client, run_id, total)
        to_go_on = f" --endpoint {quote(endpoint)}" if endpoint else ""
        following.follow_and_tell(
            "run", as_json=as_json, to_go_on=to_go_on, heading=None if as_json else heading
        )


def _task_ids(client: Client, slug: str, digest: str, wanted: list[str]) -> list[str]:
    """The ids that the platform knows tasks by, for those or their numbers."""
    from rollout.cli.output import Exit, fail
    from rollout.platform.held import held_at
    from rollout.platform.server.plan import with_own_keys

    held = held_at(client, slug, digest=digest or None)
    if held is None:
        fail(f"There is no environment “{slug}”.", "“rollout envs” lists what there is.", code=Exit.PLATFORM)
    keys = [task.key for task in with_own_keys(held.environment).tasks]
    found = []
    for each in wanted:
        matches = [key for key in keys if key.startswith(each)] if len(each) >= 4 else []
        if each in keys:
            matches = [each]
        elif each.isascii() and each.isdigit() and len(each) < 10 and int(each) < len(keys):
            matches = [keys[int(each)]]
        if len(matches) != 1:
            fail(
                f"{'No task' if not matches else 'More than one task'} of “{slug}” is “{each}”.",
                f"Give a number from 0 to {len(keys) - 1}, or an id that `rollout show RUN` shows.",
            )
        found += matches
    return list(dict.fromkeys(found))


__all__ = ["run"]
