"""The options of runs that say nothing together, or nothing at all: each is refused with a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, isnan
from typing import Literal

from rollout.cli.output import fail


def temperature_of(given: str | None) -> float | Literal["none"] | None:
    """What ``--temperature`` says: from 0 to 2, or that none is to be sent; None where it is not given."""
    if given is None:
        return None
    if given == "none":
        return "none"
    try:
        degree = float(given)
    except ValueError:
        degree = float("nan")
    if not 0 <= degree <= 2:
        fail(
            "--temperature is no number." if isnan(degree) else f"--temperature is from 0 to 2, not {given}.",
            "Give it a number, such as --temperature 1, or send none: --temperature none",
        )
    return degree


def refuse_no_numbers(numbers: Mapping[str, float | None]) -> None:
    """Ends the command over an option, by name, that is given as NaN or infinite."""
    for name, number in numbers.items():
        if number is not None and not isfinite(number):
            is_infinite = number == number
            fail(
                f"{name} is {'without end' if is_infinite else 'no number'}.",
                f"Give it a number, such as {name} 1{', or leave it out' if is_infinite else ''}.",
            )


def refuse_report(report: str | None) -> None:
    """Ends the command where a report is asked for of several environments."""
    if report is not None:
        fail(
            "A report is of one run, and there are several environments.",
            "Keep the runs with --out DIR, and write a report of each: rollout traces DIR/SLUG --format html -o FILE",
        )


def refuse_contradictions(
    *,
    events: bool,
    as_json: bool,
    output_format: str,
    all_tasks: bool,
    limit: int | None,
    task: str | None,
    split: str | None,
    out: str | None,
    resume: str | None,
) -> None:
    """Ends the command over options of which one says what another denies."""
    if events and (as_json or output_format != "text"):
        fail(
            "A run is shown in one way: as events or in a format.",
            "Leave out --events, or --json and --format.",
        )
    if as_json and output_format == "junit":
        fail("A run is shown in one way: as --json or as --format junit.", "Leave out one of them.")
    if all_tasks and limit is not None:
        fail("--all runs all tasks and --limit only some.", "Give one of them.")
    if task is not None and (all_tasks or split is not None):
        other = "--all" if all_tasks else "--split"
        fail(f"--task names the one task to run, so {other} has nothing to choose.", "Give one of them.")
    if out is not None and resume is not None:
        fail("--out begins a run and --resume goes on with one.", "Give one of them.")


__all__ = ["refuse_contradictions", "refuse_no_numbers", "refuse_report", "temperature_of"]
