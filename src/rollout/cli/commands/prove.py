"""`rollout prove`: shows that environments can be solved, and that what does not solve them does not pass them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rollout.check import Report
    from rollout.diagnostics import Diagnostic
    from rollout.engine.panel import Bout
    from rollout.engine.prove import Proof


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
    concurrency: Annotated[
        int, typer.Option(min=1, help="How many tasks are proved at once; it changes nothing but the time.")
    ] = 8,
    strict: Annotated[
        bool, typer.Option("--strict", help="Warnings fail too, of the proof and of validate.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Prove environments without a model.

    Each task is played twice by the oracle, which follows its `solution` and must reach the top score, and twice by
    noop, which does nothing and must not pass. Then a panel of wrong runs is set on it: one only says the ground truth,
    one says the answers of all tasks, one calls every tool once, one makes a right call twice, one calls the right
    tools with wrong arguments, one nearly says the answer, one does something else as well, and in code-editing one
    leaves the code as it is and keeps it from being tested. What lets one of them pass is named. `--json` has what came
    of each at every task.

    A task without a solution gets one from its ground truth where that is certain: in workflow and custom the calls
    that add what it has beyond the start state, in sql the gold query, in code-editing the files it names, in browser
    the shortest way by links and buttons.

    Example: `rollout prove envs/refund`

    Exit code 0: all of them are proved. 1: one is not, or has errors, or under --strict warnings. 2: a path or a file
    that cannot be read.
    """
    import asyncio

    from rollout.cli.inputs import exit_code, in_sandbox, reports
    from rollout.cli.output import Exit, render, show, show_json, wants_color
    from rollout.cli.output import as_json as diagnostics_as_json
    from rollout.engine.prove import diagnose
    from rollout.engine.prove import prove as prove_environment

    worst = Exit.FINE
    told: list[dict[str, Any]] = []
    defects: list[Diagnostic] = []
    labels: list[str] = []
    for report in reports(paths, slug=slug):
        label = report.document.label
        proof: Proof | None = None
        found: list[Diagnostic] = list(report.diagnostics)
        if report.ok:
            with in_sandbox(sandbox):
                proof = asyncio.run(prove_environment(report.environment(), concurrency=concurrency))
            found += diagnose(report.document, proof)
            found.sort(key=lambda diagnostic: diagnostic.sort_key)
        proved = proof is not None and proof.holds
        if not proved or (strict and found):
            worst = max(worst, Exit.FINDINGS if report.ok else exit_code([report]))
        if as_json:
            told.append(
                {
                    "environment": report.document.slug,
                    "path": label,
                    "tasks": proof.tasks if proof is not None else 0,
                    "proved": proved,
                    "wrong_runs": proof.wrong_runs if proof is not None else 0,
                    "panel": _panel(proof) if proof is not None else [],
                    "findings": diagnostics_as_json(found, checked=[label]),
                }
            )
            continue
        show(_line(report, proof, color=wants_color()))
        defects.extend(found)
        labels.append(label)
    if defects:
        show("\n" + render(defects, "text", color=wants_color(), checked=labels).rstrip("\n"))
    if as_json:
        show_json("prove", {"environments": told, "proved": all(each["proved"] for each in told)})
    raise typer.Exit(worst)


def _line(report: Report, proof: Proof | None, *, color: bool) -> str:
    from rollout.diagnostics._visible import visible

    label = visible(report.document.label)
    proved = proof is not None and proof.holds
    sign, style = ("✓", "32") if proved else ("✗", "31")
    sign = f"\x1b[{style}m{sign}\x1b[0m" if color else sign
    if proof is None:
        return f"{sign} {label}: not proved, since it has errors"
    count = _count(proof.tasks, "task")
    if not proved:
        passed = f"; passed by {', '.join(proof.passing)}" if proof.passing else ""
        return f"{sign} {label}: not proved, {count} tried{passed}"
    runs = proof.wrong_runs
    if doubts := len(proof.defects):
        passed = f"{_count(doubts, 'warning')} about {_count(runs, 'wrong run')}"
    else:
        passed = f"none of {runs} wrong runs passes" if runs > 1 else "the 1 wrong run does not pass"
    return f"{sign} {label}: {count} proved; solutions reach the top score, {passed}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _panel(proof: Proof) -> list[dict[str, Any]]:
    return [{"task": each.task, "members": [_told(bout) for bout in each.bouts]} for each in proof.panel]


def _told(bout: Bout) -> dict[str, Any]:
    """What came of one member, as JSON; where it passed or could not be judged, also why and what it did."""
    told: dict[str, Any] = {
        "member": bout.member,
        "result": bout.result,
        "passed": bout.result == "passed",
        "runs": bout.runs,
    }
    if bout.verdict is not None:
        told["score"] = bout.verdict.score
        told["primitives"] = [mark.name for mark in bout.verdict.marks if mark.weight and mark.value]
    if bout.steps is not None:
        told["steps"] = _cut(bout.steps)
    if bout.shortfall is not None:
        told["certain"], told["shortfall"] = bout.shortfall.certain, bout.shortfall.sentence
    if bout.failure is not None:
        told["failure"] = bout.failure.sentence
    return told


_LONGEST_TEXT = 2_000


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[: _LONGEST_TEXT - 1]}…"
    if isinstance(value, dict):
        return {key: _cut(each) for key, each in value.items()}
    return [_cut(each) for each in value] if isinstance(value, list) else value
