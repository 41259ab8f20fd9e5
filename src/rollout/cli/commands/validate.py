"""`rollout validate`: checks environments and says what is wrong, where, and the way out."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from rollout.cli import completions
from rollout.cli.output import show, show_json, wants_color
from rollout.family import members

FORMATS = tuple(members("rollout.diagnostics"))


def validate(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH…", help="Environment folders, files, Python files, globs, or folders of them."
        ),
    ],
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            autocompletion=completions.formats,
            help="text (unless given), concise, json, github, sarif or junit.",
        ),
    ] = None,
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Which environment, where there are several.")
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES",
            autocompletion=completions.rules,
            help="Only these rules: codes (RL301), beginnings of codes (RL3) or slugs; repeat it, or use commas.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES",
            autocompletion=completions.rules,
            help="Not these rules, written as for --select.",
        ),
    ] = None,
    changed: Annotated[
        bool,
        typer.Option(
            "--changed",
            help="PATHs are changed files: check what they belong to, and pass by those that belong to nothing.",
        ),
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings are errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Check environments: what is wrong, where, and the way out.

    Files, shapes, references, tasks and verifiers are looked at, and all problems told in one run.

    Example: `rollout validate envs/refund`

    Exit code 0: no errors. 1: findings. 2: a path or a file that cannot be read.
    """
    from rollout.cli.inputs import exit_code, reports
    from rollout.cli.output import fail, note, render
    from rollout.diagnostics import Severity

    if as_json and output_format not in (None, "json"):
        fail(f"--json and --format {output_format} exclude each other.", "Choose one of the two.")
    output_format = output_format or "text"
    if output_format not in FORMATS:
        fail(f"There is no format “{output_format}”.", f"Choose one of {', '.join(FORMATS)}.")
    found = list(reports(paths, slug=slug, select=select or (), ignore=ignore or (), changed=changed))
    # Two environments of a Python file may share a mistake: it is one, at one place.
    diagnostics = [*dict.fromkeys(diagnostic for report in found for diagnostic in report.diagnostics)]
    if strict:
        # What fails is an error to whoever counts them, such as a CI server.
        diagnostics = [replace(diagnostic, severity=Severity.ERROR) for diagnostic in diagnostics]
    checked = [report.document.label for report in found]
    if as_json:
        import json

        rendered = json.loads(render(diagnostics, "json", color=False, checked=checked))
        show_json("validate", rendered)
    else:
        text = render(diagnostics, output_format, color=wants_color(), checked=checked)
        if text:
            show(text.rstrip("\n"), commands=output_format == "github")
    for report in found:
        for omitted, count in report.omitted.items():
            note(f"{report.document.label}: {count} more of “{omitted}” are not shown.")
    raise typer.Exit(exit_code(found, strict=strict))
