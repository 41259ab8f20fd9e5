"""A row of the ground truth is one that no tool can write.

The rows of a list of the state are written by tools: an action with a `value` writes just the fields of that value, one
with `stateArray` the call's arguments. A row with another field, without one of the fields, or with a text where the
tool takes a number, is never written, so nobody can pass the task.

Before:

    # refund writes {order_id: string, amount: number}
    hidden_ground_truth: {refunds: [{order: O-1, amount: "100"}]}

After:

    hidden_ground_truth: {refunds: [{order_id: O-1, amount: 100}]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.rows import RowShape, row_shapes
from rollout.check.start import judged_by_state
from rollout.check.subject import Subject
from rollout.check.wording import closest, listed, quoted
from rollout.diagnostics import Severity
from rollout.language.compare import compare, show
from rollout.language.paths import kind
from rollout.source.document import TaskRecord
from rollout.source.place import At, Route

CODE = "RL312"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if not judged_by_state(subject) or not subject.is_sound("config"):
        return None
    partly = any(
        each.value.get("type") == "ground_truth_match" and each.value.get("subset") is True
        for each in subject.primitives
    )
    lists = row_shapes(subject, partly=partly)
    if not lists:
        return None

    tests = tuple((name, tuple(shape.tester() for shape in shapes)) for name, shapes in lists.items())

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        value = record.value
        truth = value.get("hidden_ground_truth") or value.get("hiddenGroundTruth")
        if not truth:
            return None
        for name, fitting in tests:
            rows = truth.get(name)
            if rows and type(rows) is list:
                for row in rows:
                    for fits in fitting:
                        if fits(row):
                            break
                    else:
                        return list(_findings(subject, record, lists))
        return None

    return judge


def _findings(
    subject: Subject, record: TaskRecord, lists: dict[str, tuple[RowShape, ...]]
) -> Iterator[Finding]:
    truth = record.ground_truth
    for name, shapes in lists.items():
        rows, start = truth.get(name), subject.initial_state.get(name)
        present = start if isinstance(start, list) else []
        tests = [shape.tester() for shape in shapes]
        for index, row in enumerate(rows if isinstance(rows, list) else ()):
            if any(fits(row) for fits in tests) or any(compare(row, each) is None for each in present):
                continue
            route: Route = ("tasks", record.index, record.truth_key, name, index)
            below, message, hint, at = _word(
                name, row, min(shapes, key=lambda shape: shape.distance(row)), shapes
            )
            yield Finding((*route, *below), message, hint, at=at)


def _word(
    name: str, row: Any, shape: RowShape, shapes: tuple[RowShape, ...]
) -> tuple[Route, str, str | None, At]:
    tool = quoted(shape.tool)
    if not isinstance(row, dict):
        fields = f"{tool} writes objects with {listed(sorted(shape.all))}."
        return (), f"A row of {quoted(name)} is {kind(row)}, but the tool writes objects.", fields, "value"
    surplus = [field for field in row if field not in shape.all]
    if surplus and all(surplus[0] not in other.all for other in shapes):
        near = closest(surplus[0], sorted(shape.all - row.keys()))
        return (
            (surplus[0],),
            f"No tool writes a field {quoted(surplus[0])} into {quoted(name)}.",
            f"Did you mean {quoted(near)}?" if near else f"{tool} writes {listed(sorted(shape.all))}.",
            "key",
        )
    missing = sorted(shape.required - row.keys())
    if missing:
        return (
            (),
            f"This row of {quoted(name)} lacks {listed(missing)}, which {tool} always writes.",
            "Add it, or compare with “subset: true” where it does not matter.",
            "value",
        )
    for field, (types, words) in shape.types.items():
        if field in row and type(row[field]) not in types:
            found = row[field]
            return (
                (field,),
                f"{quoted(field)} is {show(found)[:40]}, {kind(found)}; {tool} always writes {words} there.",
                'Values are compared by type: "100" is not 100.' if isinstance(found, str) else None,
                "value",
            )
    for field, constant in shape.constants.items():
        if field in row and row[field] != constant:
            return (
                (field,),
                f"{quoted(field)} is {show(row[field])[:40]}; {tool} always writes {show(constant)[:40]} there.",
                None,
                "value",
            )
    return (
        (),
        f"No tool writes such a row into {quoted(name)}.",
        f"{tool} writes {listed(sorted(shape.all))}.",
        "value",
    )
