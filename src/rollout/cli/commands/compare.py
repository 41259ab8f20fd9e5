"""`rollout compare`: sets a run against another one of the same tasks: is it better, and where?"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rollout.cli.asking import Where

if TYPE_CHECKING:
    from rollout.analysis.compare import Comparison, Side
    from rollout.platform.client import Client

_SHORTEST = 4
_DIGITS = frozenset("0123456789abcdef")


class CompareFormat(StrEnum):
    """How a comparison is shown."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def compare(
    baseline: Annotated[
        str,
        typer.Argument(
            metavar="BASELINE",
            help="The run before: the folder that `test --out` wrote, or the start of the id of a run of the platform.",
        ),
    ],
    trained: Annotated[
        str, typer.Argument(metavar="TRAINED", help="The run that may be better, given in the same way.")
    ],
    across_versions: Annotated[
        bool,
        typer.Option(
            "--across-versions",
            help="Compare runs of different versions of the environment too, by the tasks that both have.",
        ),
    ] = False,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 1 when the trained run is worse.")
    ] = False,
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="RATE",
            help="By how much pass rate and score may be lower, 0.02 for 2 points; then it has to be shown.",
        ),
    ] = None,
    all_tasks: Annotated[
        bool, typer.Option("--all", help="Show all tasks that differ, not the first 20.")
    ] = False,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a page for a browser too, with plots.")
    ] = None,
    output_format: Annotated[
        CompareFormat, typer.Option("--format", help="How the comparison is shown.")
    ] = CompareFormat.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
    endpoint: Where = None,
) -> None:
    """Compare two runs: is the second better, and where?

    Tasks are paired by their content. What has no grade counts as neither passed nor failed, and is told apart.

    With `--fail-on-regression` alone a run fails that is shown to be worse; a small drop in a small run may be chance,
    and is let through. With `--margin` a run fails unless it is shown not to be worse by as much. A run that is not
    whole, or has no grade of a task that the baseline has one of, fails in either case; of versions with other tasks,
    only what both have counts.

    Example: `rollout compare runs/base runs/tuned --html changes.html`

    Exit code 0: compared. 1: a regression, and --fail-on-regression was given. 2: wrong usage, runs that cannot be
    read, or runs of different versions. 3: the platform has no such run, or does not answer.
    """
    from rollout.analysis.compare.comparing import compare as compare_sides
    from rollout.analysis.compare.gate import regressions
    from rollout.cli.output import Exit, fail, note, visible
    from rollout.cli.outputs import refuse_source

    if margin is not None and not 0 < margin < 1:
        fail(
            f"--margin is a rate between 0 and 1, not {margin:g}.",
            "2 percentage points are --margin 0.02. Without it, a run fails only if it is shown to be worse.",
        )
    if as_json and output_format is CompareFormat.MARKDOWN:
        fail("A comparison is shown in one format.", "Leave out --json or --format.")
    refuse_source(html)
    before, after = _sides(baseline, trained, endpoint)
    _expect_same_version(before, after, across_versions)
    comparison = compare_sides(before, after, margin=margin)
    if html is not None:
        _write_page(comparison, html, baseline, trained)
    _show(comparison, CompareFormat.JSON if as_json else output_format, all_tasks=all_tasks)
    found = list(regressions(comparison)) if fail_on_regression else []
    for sentence in found:
        note(f"regression: {visible(sentence)}")
    if found:
        raise typer.Exit(Exit.FINDINGS)


def _sides(baseline: str, trained: str, endpoint: str | None) -> tuple[Side, Side]:
    if _is_id(baseline) or _is_id(trained):
        from rollout.cli.asking import asking

        with asking(endpoint) as client:
            return _side(baseline, client), _side(trained, client)
    return _side(baseline), _side(trained)


def _is_id(name: str) -> bool:
    """Whether a run is named as the platform names them, and no file or folder is."""
    from pathlib import Path

    hexadecimal = name.replace("-", "").lower()
    return len(hexadecimal) >= _SHORTEST and set(hexadecimal) <= _DIGITS and not Path(name).exists()


def _side(name: str, client: Client | None = None) -> Side:
    from pathlib import Path

    from rollout.analysis.compare.folder import read_side
    from rollout.cli.output import fail
    from rollout.engine.run_folder import JournalError

    if client is not None and _is_id(name):
        from rollout.cli.asking import the_run
        from rollout.platform.comparing import side_at

        return side_at(client, the_run(client, name)["id"])
    if not Path(name).exists():
        fail(
            f"“{name}” is neither a run's folder nor the start of a run's id.",
            "Give a folder that “rollout test --out DIR” wrote, or an id: “rollout runs” lists those of the platform.",
        )
    try:
        return read_side(name)
    except JournalError as error:
        fail(str(error), error.hint)


def _expect_same_version(before: Side, after: Side, across_versions: bool) -> None:
    from rollout.analysis.compare.comparing import is_other_environment, other_version
    from rollout.cli.output import fail

    if across_versions:
        return
    if is_other_environment(before, after):
        names = [f"“{side.environment}”" for side in (before, after)]
        if names[0] == names[1]:
            names = [f"{name} ({side.identity})" for name, side in zip(names, (before, after), strict=True)]
        fail(
            f"The runs are of different environments: {' and '.join(names)}.",
            "Compare runs of one environment, or the tasks that both have with --across-versions.",
        )
    if bool(before.digest) != bool(after.digest):
        fail(
            f"Only one of the runs says which version of “{before.environment}” it is of.",
            "Compare runs that are kept in one place, or the tasks that both have with --across-versions.",
        )
    if changed := other_version(before, after):
        what = " and ".join(f"the {part}" for part in changed)
        fail(
            f"The runs are of different versions of “{before.environment}”: {what} changed between them.",
            "Run one of them again, or compare the tasks that both have with --across-versions.",
        )


def _write_page(comparison: Comparison, name: str, *runs: str) -> None:
    from functools import partial
    from pathlib import Path

    from rollout.analysis.compare.page import write_page
    from rollout.analysis.report import ReportError
    from rollout.analysis.report.target import Target
    from rollout.cli.output import fail, note
    from rollout.cli.report import secrets

    try:
        target = Target.claim(name, *(Path(run) for run in runs))
        try:
            target.write(partial(write_page, comparison, secrets=secrets()))
        finally:
            target.close()
    except ReportError as error:
        fail(str(error), error.hint)
    note(f"report: {name}")


def _show(comparison: Comparison, output_format: CompareFormat, *, all_tasks: bool) -> None:
    from rollout.cli.output import show, show_json, wants_color

    if output_format is CompareFormat.JSON:
        from rollout.analysis.compare.data import data

        show_json("compare", data(comparison))
    elif output_format is CompareFormat.MARKDOWN:
        from rollout.analysis.compare.markdown import markdown

        show(markdown(comparison).removesuffix("\n"))
    else:
        from rollout.cli.comparison import text_lines

        for line in text_lines(comparison, color=wants_color(), all_tasks=all_tasks):
            show(line)
