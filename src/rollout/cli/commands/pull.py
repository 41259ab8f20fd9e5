"""`rollout pull`: writes an environment of a platform into a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollout.cli.asking import Where

if TYPE_CHECKING:
    from rollout.platform.pull import Pulled


def pull(
    slug: Annotated[
        str,
        typer.Argument(
            metavar="SLUG[@DIGEST]", help="The environment, as it is or as a version.", show_default=False
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="The folder; else one called SLUG.", show_default=False
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Undo what is only in the folder, and replace what cannot be kept."),
    ] = False,
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Write an environment of the platform into a folder.

    The folder compiles to the bytes that the platform holds. In one that has it already only the files change that say
    something else. Comments, the split over files, ids and solutions stay. What was never pushed is not undone unless
    `--force` says so.

    A digest, or the start of one, names an older version: `rollout envs --versions SLUG` lists them.

    Example: `rollout pull refund-agent -o envs/refund`

    Exit code 0: the folder says what the platform holds. 1: it has something of its own, and was left alone. 2: it
    cannot be written. 3: the platform could not be asked, or has no such version.
    """
    from pathlib import Path

    from rollout.cli.asking import asking
    from rollout.cli.output import Exit, fail, show, show_json, visible, wants_color
    from rollout.cli.outputs import refuse_source
    from rollout.compile.review import Entry
    from rollout.compile.review_text import render
    from rollout.platform.held import held_at
    from rollout.platform.pull import PullError
    from rollout.platform.pull import pull as pull_it
    from rollout.platform.pushed import Memory, PushedError, Record

    name, _, digest = slug.partition("@")
    if not name or ("@" in slug and len(digest.removeprefix("sha256:")) < 4):
        fail(f"“{slug}” names no version.", "Write SLUG, or SLUG@ and four digits of the digest at least.")
    if output is None and (Path(name).name != name or name in (".", "..")):
        fail(f"“{name}” cannot be the name of a folder.", "Name one with -o.")
    target = Path(output if output is not None else name)
    refuse_source(None if target.is_file() else target)
    with asking(endpoint) as client:
        held = held_at(client, name, digest=digest or None)
        if held is None:
            fail(
                f"There is no environment “{name}” at {client.endpoint}.",
                "“rollout envs” lists what there is.",
                code=Exit.PLATFORM,
            )
        memory = Memory(target, client.endpoint)
        known = [each["digest"] for each in client.list_versions(name)] if client.answers_more else []
        try:
            if (record := memory.get(name)) is not None:
                known.append(record.here)
            pulled = pull_it(held, target, known, force=force)
            memory.keep(name, Record(held.digest, held.digest))
        except PullError as error:
            if error.lost is not None:
                show(render([Entry(str(target), error.lost)], color=wants_color()))
            fail(str(error), error.hint, code=Exit.FINDINGS if error.lost is not None else Exit.USAGE)
        except PushedError as error:
            fail(str(error), error.hint)
    if as_json:
        data = {
            "endpoint": client.endpoint,
            "slug": name,
            "digest": held.digest,
            "folder": str(target),
            "written": list(pulled.written),
            "removed": list(pulled.removed),
            "without_comments": list(pulled.anew),
        }
        show_json("pull", data)
    elif not pulled.written and not pulled.removed:
        show(f"{visible(str(target))}: says what {client.endpoint} holds already, {held.digest}")
    else:
        number = len(pulled.written)
        gone = f", {len(pulled.removed)} removed" if pulled.removed else ""
        show(f"{visible(str(target))}: {number} file{'s' * (number != 1)} written{gone}, {held.digest}")
    _remarks(pulled)


def _remarks(pulled: Pulled) -> None:
    from rollout.cli.output import note, visible

    if pulled.whole:
        note("note: All of it was written anew; comments, ids and solutions that were there are gone.")
    for path in pulled.anew:
        note(f"note: “{visible(path)}” was written anew, so comments that were in it are gone.")
    if pulled.solutions:
        some = ", ".join(f"“{visible(each)}”" for each in pulled.solutions[:3])
        more = f" and {len(pulled.solutions) - 3} more" if len(pulled.solutions) > 3 else ""
        note(f"note: {some}{more} changed, and may need another solution: `rollout prove` tells.")


__all__ = ["pull"]
