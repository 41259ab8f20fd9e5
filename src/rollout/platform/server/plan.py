"""Which rollouts a run has: its tasks, each with a key of its own, and how often each is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rollout.environment import Environment, Task


def with_own_keys(environment: Environment) -> Environment:
    """The environment, whose tasks all have keys of their own: two that say the same are told apart by a number."""
    seen: dict[str, int] = {}
    tasks: list[Task] = []
    for task in environment.tasks:
        number = seen[task.key] = seen.get(task.key, 0) + 1
        tasks.append(task if number == 1 else replace(task, id=f"{task.key}-{number}"))
    return replace(environment, tasks=tasks)


def places(environment: Environment, options: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """The task index and trial of each rollout of a run: each task once, then each a second time, and so on."""
    chosen = chosen_tasks(environment, options)
    return ((index, trial) for trial in range(options["n"]) for index in chosen)


def chosen_tasks(environment: Environment, options: dict[str, Any]) -> list[int]:
    """The indexes of the tasks that a run is of."""
    split, limit = options.get("split"), options.get("limit")
    wanted = None if options.get("tasks") is None else frozenset(options["tasks"])
    found = [
        index
        for index, task in enumerate(environment.tasks)
        if (split is None or task.split == split) and (wanted is None or task.key in wanted)
    ]
    return found[:limit]


__all__ = ["chosen_tasks", "places", "with_own_keys"]
