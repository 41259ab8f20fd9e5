"""`rollout diff`: what changed between two versions of environments, by meaning, and whether old runs still count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rollout.compile.review import Entry
    from rollout.compile.sides import Side

FORMATS = ("text", "markdown", "json")


def diff(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BEFORE AFTER | [PATH…]",
            help="Two environments, folders of them or compiled files; with --git, what to compare.",
        ),
    ] = None,
    git: Annotated[
        str | None,
        typer.Option(
            "--git",
            metavar="REV",
            help="Compare the files as they were at REV with those of the work tree: PATH…, or all that changed.",
        ),
    ] = None,
    output_format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text, markdown or json.")
    ] = "text",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 when there are differences.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Tell what a change means: to agents, to grading, or not.

    How something is written, and in which file, is no difference. Tasks are paired by their ids; without ids by
    instruction and input, then by ground truth or likeness. With --git the work tree is not touched; a Python file
    named as PATH is run as it was at REV too, so name only what you trust.

    Examples: `rollout diff envs/refund envs/refund-v2`, `rollout diff --git main`

    Exit code 0: compared. 1: there are differences and --exit-code was given, or an environment has errors, which
    “rollout validate” tells.
    2: a path, a file or a revision that cannot be read.
    """
    from rollout.cli.inputs import refuse_empty
    from rollout.cli.output import Exit, fail, show, show_json, visible, wants_color

    refuse_empty(*(paths or ()))
    if output_format not in FORMATS:
        fail(f"There is no format “{output_format}”.", f"Choose one of {', '.join(FORMATS)}.")
    before, after, notes = _since(git, paths or []) if git is not None else (*_both(paths or []), [])
    entries = _compare(before, after, lone_pair=git is None)
    if as_json or output_format == "json":
        from rollout.compile.review_json import describe

        show_json("diff", describe(entries, notes))
    elif output_format == "markdown":
        from rollout.compile.review_markdown import render as render_markdown

        show(render_markdown(entries, notes))
    else:
        from rollout.compile.review_text import render as render_text

        show(render_text(entries, color=wants_color()) if entries else "No environment changed.")
        for each in notes:
            show(f"note: {visible(each)}")
    code = _tell_errors([*before, *after])
    if code is Exit.FINE and (
        any(side.has_errors for side in (*before, *after))
        or any(entry.trouble for entry in entries)
        or (exit_code and any(entry.differs for entry in entries))
    ):
        code = Exit.FINDINGS
    raise typer.Exit(code)


def _both(paths: Sequence[str]) -> tuple[list[Side], list[Side]]:
    from rollout.cli.output import fail
    from rollout.compile.read_sides import sides_at
    from rollout.source import SourceError

    if len(paths) != 2:
        given = {0: "no path was given", 1: "one path was given"}.get(
            len(paths), f"{len(paths)} paths were given"
        )
        fail(
            f"Two versions are compared, but {given}.",
            "Write “rollout diff BEFORE AFTER”, or “rollout diff --git REV PATH” to compare with a revision.",
        )
    try:
        return sides_at(paths[0]), sides_at(paths[1])
    except SourceError as error:
        fail(str(error), error.hint)


def _since(name: str, paths: Sequence[str]) -> tuple[list[Side], list[Side], list[str]]:
    """Both sides, and what is to be said of all of them."""
    import tempfile
    from pathlib import Path

    from rollout.cli.output import fail
    from rollout.compile.read_sides import overlooked_submodules, sides_since
    from rollout.compile.revision import Revision, RevisionError
    from rollout.source import SourceError

    first = Path(paths[0]) if paths else Path()
    folder = next((each for each in (first, *first.parents) if each.is_dir()), Path())
    try:
        with tempfile.TemporaryDirectory(prefix="rollout-diff-") as scratch:
            revision = Revision(name, folder=folder)
            before, after = sides_since(revision, paths, Path(scratch).resolve())
            notes = [
                f"“{submodule}” is a submodule, another repository: what changed in it is not compared."
                for submodule in overlooked_submodules(revision, paths)
            ]
            return before, after, notes
    except (RevisionError, SourceError) as error:
        fail(str(error), error.hint)


def _compare(before: Sequence[Side], after: Sequence[Side], *, lone_pair: bool) -> list[Entry]:
    from rollout.cli.output import fail
    from rollout.compile.sides import compare_sides

    try:
        return compare_sides(before, after, lone_pair=lone_pair)
    except ValueError as error:
        fail(str(error))


def _tell_errors(sides: Sequence[Side]) -> int:
    """Tells what is wrong with compiled files, which no other command does; returns the exit code for all errors."""
    from rollout.cli.inputs import exit_code, tell_diagnostics

    broken = [(side, side.report) for side in sides if side.report is not None and not side.report.ok]
    for side, report in broken:
        if not side.has_local:
            tell_diagnostics([report])
    return exit_code([report for _, report in broken])


__all__ = ["diff"]
