"""`rollout show`: a run with its rollouts, or an environment of a platform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollout.cli.asking import Where

if TYPE_CHECKING:
    from rollout.platform.client import Client
    from rollout.platform.results import Run


_MOST_SHOWN = 200


def show(
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN|SLUG", help="A run, by the start of its id, or an environment.", show_default=False
        ),
    ],
    failed: Annotated[bool, typer.Option("--failed", help="Only rollouts that did not pass.")] = False,
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Show a run with its rollouts, or an environment with its tasks.

    Example: `rollout show 5f0c1a2b --failed`

    Exit code 0: shown. 3: there is nothing of that name, or the platform could not be asked.
    """
    from rollout.cli.asking import asking, find_run
    from rollout.cli.output import Exit, fail
    from rollout.platform.held import held_at

    with asking(endpoint) as client:
        # What looks like an id is more often one.
        for look in ("run", "environment") if _is_like_an_id(what) else ("environment", "run"):
            if look == "run" and (run := find_run(client, what)) is not None:
                _show_run(client, run, failed=failed, as_json=as_json)
                return
            if look == "environment" and held_at(client, what) is not None:
                if failed:
                    fail(
                        f"“{what}” is an environment, and --failed is of the rollouts of a run.",
                        "Leave it out.",
                    )
                _show_environment(client, what, as_json=as_json)
                return
        fail(
            f"There is no run and no environment “{what}” at {client.endpoint}.",
            "“rollout runs” and “rollout envs” list what there is.",
            code=Exit.PLATFORM,
        )


def _is_like_an_id(text: str) -> bool:
    return (
        len(text) >= 4 and all(each in "0123456789abcdef-" for each in text) and any(map(str.isdigit, text))
    )


def _show_run(client: Client, run: Run, *, failed: bool, as_json: bool) -> None:
    from rollout.cli.following import outcome_of, show_run
    from rollout.cli.output import note, show_json
    from rollout.cli.table import show_table

    rollouts = client.get_rollouts(run["id"])
    if failed:
        rollouts = [each for each in rollouts if outcome_of(each) != "passed"]
    if as_json:
        show_json("show", {"endpoint": client.endpoint, "run": run, "rollouts": rollouts})
        return
    show_run(run)
    if not rollouts:
        note("None of its rollouts failed." if failed else "None of its rollouts is done yet.")
        return
    show_table(
        ("rollout", "task", "trial", "outcome", "score", "calls", "instruction", "why"),
        [
            (
                each["id"][:8],
                str(each["taskId"])[:16],
                str(each.get("trial", "")),
                outcome_of(each),
                "" if each["score"] is None else f"{each['score']:.3g}",
                str(each.get("calls", "")),
                " ".join(each["instruction"].split())[:40],
                " ".join((each.get("reason") or "").split()),
            )
            for each in rollouts[:_MOST_SHOWN]
        ],
    )
    if len(rollouts) > _MOST_SHOWN:
        note(f"{len(rollouts) - _MOST_SHOWN:,} more are not shown; --json has all of them.")


def _show_environment(client: Client, slug: str, *, as_json: bool) -> None:
    from collections import Counter

    from rollout.cli.output import show as say
    from rollout.cli.output import show_json, visible
    from rollout.cli.table import show_table

    environment = client.get_environment(slug)
    if as_json:
        show_json("show", {"endpoint": client.endpoint, "environment": environment})
        return
    tasks = environment["tasks"]
    splits = Counter(task.get("split") or "dev" for task in tasks)
    counted = ", ".join(f"{number:,} {visible(split)}" for split, number in sorted(splits.items()))
    version = f", version {environment['version']}" if environment.get("version") else ""
    what = f"{visible(environment['template'])}{version}"
    say(f"{visible(environment['slug'])}: {visible(environment['name'])} ({what})")
    if described := (environment.get("description") or "").strip():
        say(f"  {visible(described.splitlines()[0])}")
    if environment.get("digest"):
        say(f"  {visible(environment['digest'])}")
    say(f"  {len(tasks):,} task{'s' * (len(tasks) != 1)}{f' ({counted})' if counted else ''}")
    verifier = environment.get("verifier")
    for each in (verifier.get("primitives") if verifier else None) or ():
        named, weight = each.get("name") or each["type"], each.get("weight")
        say(
            f"  judged by {visible(named)}: {visible(each['type'])}, weight {1 if weight is None else weight:g}"
        )
    show_table(
        ("task", "split", "instruction"),
        [
            (str(number), task.get("split") or "dev", " ".join(task["instruction"].split()))
            for number, task in enumerate(tasks[:20])
        ],
    )
    if len(tasks) > 20:
        say(f"… {len(tasks) - 20:,} more")


__all__ = ["show"]
