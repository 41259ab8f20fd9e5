"""The ground truth holds a value that no tool can write.

The rows of a list of the state are written by tools: an action with a `value` writes just the fields of that value, one
with `stateArray` the call's arguments. A row with another field, without one of the fields, with a text where the tool
takes a number, or with a word that is not in its `enum`, is never written, so nobody can pass the task. The same holds
of a value that tools set, of one that no tool changes, and of a list that tools only add to: what is in it at the start
is in it at the end.

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
from rollout.check.known import writes_are_known
from rollout.check.rows import RowShape, row_shapes
from rollout.check.start import comparison, judged_by_state
from rollout.check.subject import Subject
from rollout.check.wording import closest, listed, quoted, suggestion
from rollout.check.writable import Unreached, left_out
from rollout.diagnostics import Severity
from rollout.language.compare import compare, show
from rollout.language.paths import kind
from rollout.source.document import TaskRecord
from rollout.source.place import At, Route

CODE = "RL312"
SEVERITY = Severity.ERROR

_REFUSED = "Write what the tool's paramsSchema takes, or let that take more."


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if not judged_by_state(subject) or not subject.is_sound("config"):
        return None
    terms = _loosest(subject)
    lists = row_shapes(subject, partly=terms["subset"], nearly=terms["tolerance"] > 0)
    tests = {name: tuple(shape.tester() for shape in shapes) for name, shapes in lists.items()}
    starts = {name: start for name in lists if (start := subject.initial_state.get(name))}
    are_writes_known = writes_are_known(subject)
    known = set(subject.initial_state)
    for write in subject.writes:
        if not write.path.known:
            # The agent chooses the key.
            are_writes_known = False
        else:
            known.add(str(write.path.known[0]))

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        value = record.value
        truth = value.get("hidden_ground_truth") or value.get("hiddenGroundTruth")
        if not truth:
            return None
        found: list[Finding] | None = None
        for name, wanted in truth.items():
            fitting = tests.get(name)
            if fitting is not None and type(wanted) is list:
                for row in wanted:
                    for fits in fitting:
                        if fits(row):
                            break
                    else:
                        told = list(_findings(subject, record, name, lists[name]))
                        break
                else:
                    told = []
                if not told and are_writes_known and name in starts:
                    unreached = left_out((name,), starts[name], wanted, terms)
                    told = [_finding(record, unreached)] if unreached is not None else []
                if told:
                    found = [*(found or ()), *told]
            elif are_writes_known and name in known:
                unreached = subject.writable.unreached((name,), wanted, terms)
                if unreached is not None:
                    found = [*(found or ()), _finding(record, unreached)]
        return found

    return judge


def _loosest(subject: Subject) -> dict[str, Any]:
    """The loosest terms by which one of the primitives compares the ground truth."""
    terms = [
        comparison(each.value)
        for each in subject.primitives
        if each.value.get("type") == "ground_truth_match"
    ]
    return {
        "ignore_order": any(each["ignore_order"] for each in terms),
        "tolerance": max((each["tolerance"] for each in terms), default=0.0),
        "subset": any(each["subset"] for each in terms),
    }


def _finding(record: TaskRecord, unreached: Unreached) -> Finding:
    return Finding(
        ("tasks", record.index, record.truth_key, *unreached.steps),
        f"The final state never has this: {unreached.why}.",
        unreached.hint or "Write what a right rollout leads to, or give a tool that can.",
    )


def _findings(
    subject: Subject, record: TaskRecord, name: str, shapes: tuple[RowShape, ...]
) -> Iterator[Finding]:
    start = subject.initial_state.get(name)
    present = start if isinstance(start, list) else []
    tests = [shape.tester() for shape in shapes]
    for index, row in enumerate(record.ground_truth[name]):
        if any(fits(row) for fits in tests) or any(compare(row, each) is None for each in present):
            continue
        route: Route = ("tasks", record.index, record.truth_key, name, index)
        nearest = min(shapes, key=lambda shape: shape.distance(row))
        below, message, hint, at = _word(name, row, nearest, shapes)
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
            suggestion(near, surplus[0]) if near else f"{tool} writes {listed(sorted(shape.all))}.",
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
                f"{quoted(field)} is {show(found, 40)}, {kind(found)}; {tool} always writes {words} there.",
                'Values are compared by type: "100" is not 100.'
                if isinstance(found, str)
                else f"Write {words} there too.",
                "value",
            )
    for field, refusal in shape.refusals.items():
        if field in row and (refused := refusal(row[field])) is not None:
            return (field,), f"{tool} never writes this: {refused}.", _REFUSED, "value"
    for field, constant in shape.constants.items():
        if field in row and row[field] != constant:
            return (
                (field,),
                f"{quoted(field)} is {show(row[field], 40)}; {tool} always writes {show(constant, 40)} there.",
                f"Write {show(constant, 40)} here, or let the tool take it as an argument.",
                "value",
            )
    return (
        (),
        f"No tool writes such a row into {quoted(name)}.",
        f"{tool} writes {listed(sorted(shape.all))}.",
        "value",
    )
