"""What changed in the tasks: which came and went, and for each that stayed, its words, facts, split and gold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rollout.compile.change import Change, Effect, Kind
from rollout.compile.deltas import deltas, same
from rollout.compile.task_pairs import Pair, pair_tasks
from rollout.environment import Task
from rollout.source.place import Route

_LONGEST_LABEL = 60


def task_changes(
    before: Sequence[Task], after: Sequence[Task], *, local: bool = True
) -> tuple[list[Change], int, bool]:
    """The changes, how many tasks are as before, and whether those that stayed stand in another order.

    Ids and solutions are compared only when ``local``.
    """
    pairs = pair_tasks(before, after)
    changes: list[Change] = []
    kept = 0
    for pair in pairs:
        found = list(_pair_changes(before, after, pair, local))
        changes += found
        if pair.before is not None and pair.after is not None:
            kept += all(change.effect is Effect.METADATA for change in found)
    places = [pair.before for pair in pairs if pair.before is not None and pair.after is not None]
    return changes, kept, places != sorted(places)


def task_label(task: Task) -> str:
    """How a person is shown a task: its id, or the beginning of its instruction in quotes."""
    if task.id is not None:
        return task.id
    words = " ".join(task.instruction.split())
    return f"“{words if len(words) <= _LONGEST_LABEL else words[: _LONGEST_LABEL - 1].rstrip() + '…'}”"


def _pair_changes(before: Sequence[Task], after: Sequence[Task], pair: Pair, local: bool) -> Iterator[Change]:
    home: Route = ("environment", "tasks", pair.after if pair.after is not None else pair.before or 0)
    if pair.before is None:
        task = after[pair.after or 0]
        yield Change(Kind.ADDED, "task", task_label(task), home, None, task.to_payload(), Effect.AGENT)
    elif pair.after is None:
        task = before[pair.before]
        yield Change(Kind.REMOVED, "task", task_label(task), home, task.to_payload(), None, Effect.AGENT)
    else:
        yield from _both(before[pair.before], after[pair.after], home)
        if local:
            yield from _local(before[pair.before], after[pair.after], home)


def _both(old: Task, new: Task, home: Route) -> Iterator[Change]:
    label = task_label(new)
    if old.instruction != new.instruction:
        yield Change(
            Kind.CHANGED,
            "instruction",
            label,
            (*home, "instruction"),
            old.instruction,
            new.instruction,
            Effect.AGENT,
        )
    yield from _deep("input", label, (*home, "input"), old.input or {}, new.input or {}, Effect.AGENT)
    if old.split != new.split:
        yield Change(Kind.CHANGED, "split", label, (*home, "split"), old.split, new.split, Effect.GRADING)
    truth = (*home, "hiddenGroundTruth")
    yield from _deep(
        "ground truth", label, truth, old.hidden_ground_truth, new.hidden_ground_truth, Effect.GRADING
    )


def _local(old: Task, new: Task, home: Route) -> Iterator[Change]:
    label = task_label(new)
    if old.id != new.id:
        yield Change(_kind(old.id, new.id), "task id", label, home, old.id, new.id, Effect.METADATA)
    if not same(old.solution, new.solution):
        kind = _kind(old.solution, new.solution)
        yield Change(kind, "solution", label, home, old.solution, new.solution, Effect.METADATA)


def _deep(
    subject: str, label: str, route: Route, before: Any, after: Any, effect: Effect
) -> Iterator[Change]:
    if same(before, after):
        return
    for delta in deltas(before, after, route=route):
        where = f"{label}: {delta.written}" if delta.path else label
        yield Change(delta.kind, subject, where, delta.route, delta.before, delta.after, effect)


def _kind(before: Any, after: Any) -> Kind:
    if before is None:
        return Kind.ADDED
    return Kind.REMOVED if after is None else Kind.CHANGED


__all__ = ["task_changes", "task_label"]
