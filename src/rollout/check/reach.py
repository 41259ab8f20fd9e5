"""What may stand at a path into the final state, where that is certain before any rollout.

Known are the lists that tools only append to, with rows of known fields, and what tools put in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from rollout.check.rows import RowShape, row_shapes
from rollout.check.subject import Subject
from rollout.check.values import described, shown
from rollout.check.wording import quoted
from rollout.language.compare import compare
from rollout.language.paths import MISSING, Step, get


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """Where a path stops leading anywhere: the step that nothing has, why, and the names that there are instead."""

    step: str
    why: str
    names: tuple[str, ...]


def dead_end(subject: Subject, steps: tuple[Step, ...]) -> DeadEnd | None:
    """Why nothing is ever at ``steps``, whose first step is there; None where there may be something."""
    if len(steps) < 2 or not subject.is_sound("config"):
        return None
    shapes = row_shapes(subject).get(str(steps[0]))
    if shapes is None:
        return None
    name, start = str(steps[0]), _start_rows(subject, str(steps[0]))
    if steps[1] != "length" and not _is_index(steps[1]):
        return DeadEnd(
            str(steps[1]),
            f"{quoted(name)} is a list, which has a length and items, and no {quoted(str(steps[1]))}",
            ("length",),
        )
    if steps[1] == "length":
        return DeadEnd(str(steps[2]), "a length is a number", ()) if len(steps) > 2 else None
    if len(steps) == 2 or not all(isinstance(row, dict) for row in start):
        return None
    fields = sorted({each for shape in shapes for each in shape.all} | {key for row in start for key in row})
    if isinstance(steps[2], str) and steps[2] not in fields:
        return DeadEnd(steps[2], f"no row of {quoted(name)} has a field {quoted(steps[2])}", tuple(fields))
    if len(steps) > 3 and isinstance(steps[2], str):
        return _inside_of_plain(name, steps[2], str(steps[3]), start, shapes)
    return None


def _inside_of_plain(
    name: str, field: str, step: str, start: list[Any], shapes: tuple[RowShape, ...]
) -> DeadEnd | None:
    """Why nothing is inside of a field that every row has as a text or a number; None where there may be something."""
    words: list[str] = []
    for shape in shapes:
        if field not in shape.all:
            continue
        constant = shape.constants.get(field, MISSING)
        if constant is not MISSING and not isinstance(constant, dict | list):
            words.append(described(constant))
        elif field in shape.types and not shape.types[field][0] & {dict, list}:
            words.append(shape.types[field][1])
        else:
            return None
    if not words or any(isinstance(get(row, (field,)), dict | list) for row in start):
        return None
    told = " or ".join(dict.fromkeys(words))
    return DeadEnd(step, f"{quoted(field)} of {quoted(name)} is {told}, which has no parts", ())


def cannot_be(
    subject: Subject, steps: tuple[Step, ...], wanted: Any, options: Mapping[str, Any]
) -> str | None:
    """Why the final state never has ``wanted`` at ``steps``; None where it may. ``options`` are those of compare."""
    if not subject.is_sound("config"):
        return None
    shapes = row_shapes(subject, partly=bool(options["subset"])).get(str(steps[0]))
    if shapes is None:
        found = subject.writable.unreached(steps, wanted, options)
        return None if found is None else found.why
    name, start = str(steps[0]), _start_rows(subject, str(steps[0]))
    if len(steps) == 1:
        if not isinstance(wanted, list):
            return f"{quoted(name)} is a list, and {described(wanted)} is none"
        return _unwritable(name, wanted, start, shapes, options)
    if steps[1:] == ("length",):
        if not isinstance(wanted, int | float) or isinstance(wanted, bool):
            return f"a length is a number, and {described(wanted)} is none"
        if ceil(wanted - options["tolerance"]) > floor(wanted + options["tolerance"]):
            return f"a length is a whole number, and {described(wanted)} is none"
        if wanted < 0 or wanted + options["tolerance"] < len(start):
            least = f"{len(start)} at the start, and no tool removes a row" if start else "never below 0"
            return f"the length of {quoted(name)} is {least}"
        return None
    if len(steps) == 3 and _is_index(steps[1]) and isinstance(steps[2], str):
        return _other_field(name, steps[2], wanted, start, shapes, options)
    return None


def _unwritable(
    name: str, wanted: list[Any], start: list[Any], shapes: tuple[RowShape, ...], options: Mapping[str, Any]
) -> str | None:
    if options["tolerance"]:
        return None
    tests = [shape.tester() for shape in shapes]
    for row in wanted:
        if any(fits(row) for fits in tests) or any(compare(row, each, **options) is None for each in start):
            continue
        return f"no tool writes the row {shown(row, 60)} into {quoted(name)}"
    return None


def _other_field(
    name: str,
    field: str,
    wanted: Any,
    start: list[Any],
    shapes: tuple[RowShape, ...],
    options: Mapping[str, Any],
) -> str | None:
    writers = [shape for shape in shapes if field in shape.all]
    if not writers or any(field not in shape.types and field not in shape.constants for shape in writers):
        return None
    if any(compare(wanted, get(row, (field,)), **options) is None for row in start):
        return None
    if any(
        type(wanted) in shape.types[field][0]
        if field in shape.types
        else compare(wanted, shape.constants[field], **options) is None
        for shape in writers
    ):
        return None
    written = dict.fromkeys(
        shape.types[field][1] if field in shape.types else shown(shape.constants[field]) for shape in writers
    )
    return f"{quoted(field)} of {quoted(name)} is {' or '.join(written)}, and what is expected is {described(wanted)}"


def _is_index(step: Step) -> bool:
    # What a list takes for an index is not lengths and names; 01 is a name.
    return isinstance(step, int) or (step.isdecimal() and step.isascii() and str(int(step[:9])) == step)


def _start_rows(subject: Subject, name: str) -> list[Any]:
    rows = subject.initial_state.get(name, [])
    return rows if isinstance(rows, list) else []


__all__ = ["DeadEnd", "cannot_be", "dead_end"]
