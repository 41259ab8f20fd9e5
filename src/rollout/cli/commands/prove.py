"""`rollout prove`: shows that environments can be solved, and that doing nothing does not pass them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rollout.check import Report
    from rollout.diagnostics import Diagnostic


def prove(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH…", help="Environment folders, files, Python files, globs, or folders of them."
        ),
    ],
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Which environment, where there are several.")
    ] = None,
    sandbox: Annotated[
        str | None,
        typer.Option(
            help="Where commands run: auto, bubblewrap, docker, podman, or none, a process without protection."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Prove environments without a model.

    Each task is played twice by the oracle, which follows its `solution` and must reach the top score, and twice by
    noop, which does nothing and must not pass.

    Example: `rollout prove envs/refund`

    Exit code 0: all of them are proved. 1: one is not, or has errors. 2: a path or a file that cannot be read.
    """
    import asyncio
    import json

    from rollout.cli.inputs import exit_code, in_sandbox, reports
    from rollout.cli.output import Exit, render, show, show_json, wants_color
    from rollout.engine.prove import diagnose
    from rollout.engine.prove import prove as prove_environment

    worst = Exit.FINE
    told: list[dict[str, Any]] = []
    defects: list[Diagnostic] = []
    labels: list[str] = []
    for report in reports(paths, slug=slug):
        label, tasks = report.document.label, 0
        found: list[Diagnostic] = [] if report.ok else list(report.diagnostics)
        if report.ok:
            with in_sandbox(sandbox):
                proof = asyncio.run(prove_environment(report.environment()))
            found, tasks = diagnose(report.document, proof), proof.tasks
        if found:
            worst = max(worst, Exit.FINDINGS if report.ok else exit_code([report]))
        if as_json:
            rendered = json.loads(render(found, "json", color=False, checked=[label]))
            told.append(
                {
                    "environment": report.document.slug,
                    "path": label,
                    "tasks": tasks,
                    "proved": not found,
                    "findings": rendered["diagnostics"],
                }
            )
            continue
        show(_line(report, tasks, len(found), color=wants_color()))
        defects.extend(found)
        labels.append(label)
    if defects:
        show("\n" + render(defects, "text", color=wants_color(), checked=labels).rstrip("\n"))
    if as_json:
        show_json("prove", {"environments": told, "proved": worst is Exit.FINE})
    raise typer.Exit(worst)


def _line(report: Report, tasks: int, defects: int, *, color: bool) -> str:
    from rollout.diagnostics._visible import visible

    label = visible(report.document.label)
    sign, style = ("✗", "31") if defects else ("✓", "32")
    sign = f"\x1b[{style}m{sign}\x1b[0m" if color else sign
    if not report.ok:
        return f"{sign} {label}: not proved, since it has errors"
    count = "1 task" if tasks == 1 else f"{tasks} tasks"
    if defects:
        return f"{sign} {label}: not proved, {count} tried"
    return f"{sign} {label}: {count} proved; solutions reach the top score, doing nothing passes none"
