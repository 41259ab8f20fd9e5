"""Finished rollouts, each once for its run, task and trial."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, case, delete, func, insert, select, tuple_, update

from rollout.platform.store import tables
from rollout.platform.store.ids import new_id, now
from rollout.platform.store.runs import NotOneError

_rollouts, _runs = tables.rollouts, tables.runs
_LEVEL = 3
_COLUMN_OF = {"passed": "passed", "failed": "failed", "error": "errors", "unscored": "unscored"}
"""Where a run counts its rollouts, by their outcome."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A rollout to be kept; ``line`` is the line of a run's journal, ``again`` whether a run that is gone on with does
    it again, ``charged_to`` whose fault it is that there is no grade."""

    task_index: int
    trial: int
    task: str
    instruction: str
    split: str
    outcome: str
    again: bool
    score: float | None
    reason: str
    calls: int
    seconds: float
    line: bytes
    charged_to: str | None = None


@dataclass(frozen=True, slots=True)
class Brief:
    """A rollout, without its transcript. ``finished_at`` is in milliseconds since 1970."""

    id: str
    run_id: str
    task_index: int
    trial: int
    task: str
    instruction: str
    split: str
    outcome: str
    again: bool
    score: float | None
    reason: str
    calls: int
    seconds: float
    finished_at: int
    charged_to: str | None = None


_BRIEF = tuple(_rollouts.c[name] for name in Brief.__slots__)

_AT_ONCE = 1000


class NotHeldError(Exception):
    """The run is held by somebody else by now, who does its rollouts."""


def keep(connection: Connection, run_id: str, owner: str, finished: Sequence[Finished], usage: Any) -> None:
    """Keeps finished rollouts, and counts them. Raises NotHeldError where ``owner`` does not hold the run any more.

    One that is there already is replaced where it was to be done again, and stays otherwise. ``usage`` is what the
    whole run has used so far, as JSON.
    """
    held = select(_runs.c.owner).where(_runs.c.id == run_id)
    if connection.dialect.name != "sqlite":
        held = held.with_for_update()
    if connection.execute(held).scalar_one_or_none() != owner:
        raise NotHeldError
    wanted = [(each.task_index, each.trial) for each in finished]
    mine = and_(_rollouts.c.run_id == run_id, tuple_(_rollouts.c.task_index, _rollouts.c.trial).in_(wanted))
    held_before = connection.execute(
        select(_rollouts.c.task_index, _rollouts.c.trial, _rollouts.c.again, _rollouts.c.outcome).where(mine)
    ).all()
    connection.execute(delete(_rollouts).where(mine, _rollouts.c.again))
    there = {(row.task_index, row.trial) for row in held_before if not row.again}
    new = [each for each in finished if (each.task_index, each.trial) not in there]
    if new:
        connection.execute(insert(_rollouts), [_row(run_id, each) for each in new])
    counts = Counter(_COLUMN_OF[each.outcome] for each in new)
    counts.subtract(_COLUMN_OF[row.outcome] for row in held_before if row.again)
    counts["done"] = counts.total()
    changed = {name: _runs.c[name] + counts[name] for name in ("done", *_COLUMN_OF.values())}
    scores = sum(each.score for each in new if each.score is not None)
    connection.execute(
        update(_runs)
        .where(_runs.c.id == run_id)
        .values(**changed, score_sum=_runs.c.score_sum + scores, usage=usage)
    )


def _row(run_id: str, each: Finished) -> dict[str, Any]:
    fields = {name: getattr(each, name) for name in Finished.__slots__}
    return {
        **fields,
        "id": new_id(),
        "run_id": run_id,
        "line": zlib.compress(each.line, _LEVEL),
        "finished_at": now(),
    }


def places(connection: Connection, run_id: str) -> set[tuple[int, int]]:
    """The task index and trial of each rollout that is done and need not be done again."""
    query = select(_rollouts.c.task_index, _rollouts.c.trial).where(
        _rollouts.c.run_id == run_id, _rollouts.c.again.is_(False)
    )
    return {(index, trial) for index, trial in connection.execute(query)}


def page(
    connection: Connection,
    run_id: str,
    *,
    limit: int | None = None,
    after: tuple[int, int] | None = None,
    outcome: str | None = None,
    task_index: int | None = None,
) -> list[Brief]:
    """Rollouts by task and trial; those that follow ``after``, the task index and trial of one."""
    query = _page(after is not None, outcome is not None, task_index is not None, limit is not None)
    index, trial = after or (0, 0)
    given = {
        "run": run_id,
        "outcome": outcome,
        "task": task_index,
        "index": index,
        "trial": trial,
        "limit": limit,
    }
    return [_brief(row) for row in connection.execute(query, given)]


@cache
def _page(after: bool, outcome: bool, task: bool, limit: bool) -> Select[Any]:
    # It is put together once: that takes longer than the answer.
    query = select(*_BRIEF).where(_rollouts.c.run_id == bindparam("run"))
    if outcome:
        query = query.where(_rollouts.c.outcome == bindparam("outcome"))
    if task:
        query = query.where(_rollouts.c.task_index == bindparam("task"))
    if after and task:
        query = query.where(_rollouts.c.trial > bindparam("trial"))
    elif after:
        # Both databases look a pair up in an index, as they do not what is said with “or”.
        pair = tuple_(bindparam("index"), bindparam("trial"))
        query = query.where(tuple_(_rollouts.c.task_index, _rollouts.c.trial) > pair)
    query = query.order_by(_rollouts.c.task_index, _rollouts.c.trial)
    return query.limit(bindparam("limit")) if limit else query


def finished_since(connection: Connection, run_id: str, moment: int) -> list[Brief]:
    """Rollouts that were finished at ``moment`` or later, in that order."""
    query = (
        select(*_BRIEF)
        .where(_rollouts.c.run_id == run_id, _rollouts.c.finished_at >= moment)
        .order_by(_rollouts.c.finished_at, _rollouts.c.task_index, _rollouts.c.trial)
    )
    return [_brief(row) for row in connection.execute(query)]


def find(connection: Connection, start: str, *, run_id: str | None = None) -> tuple[Brief, bytes]:
    """The only rollout whose id begins with ``start``, with its line. Raises NotOneError."""
    wanted = start.lower().replace("-", "")
    if not wanted or not all(char in "0123456789abcdef" for char in wanted):
        raise NotOneError(start, ())
    query = select(*_BRIEF, _rollouts.c.line).where(_rollouts.c.id >= wanted, _rollouts.c.id < wanted + "g")
    if run_id is not None:
        query = query.where(_rollouts.c.run_id == run_id)
    rows = connection.execute(query.order_by(_rollouts.c.id).limit(4)).all()
    if len(rows) != 1:
        raise NotOneError(start, [row.id for row in rows])
    return _brief(rows[0]), zlib.decompress(rows[0].line)


def lines(connection: Connection, run_id: str, ids: Sequence[str] | None = None) -> list[tuple[Brief, bytes]]:
    """Rollouts of a run with their lines; all of them, or those of these ids."""
    query = select(*_BRIEF, _rollouts.c.line).where(_rollouts.c.run_id == run_id)
    if ids is None:
        rows = connection.execute(query).all()
    else:
        # A statement takes no more than some thousands of values.
        parts = (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
        rows = [row for part in parts for row in connection.execute(query.where(_rollouts.c.id.in_(part)))]
    found = [(_brief(row), zlib.decompress(row.line)) for row in rows]
    return sorted(found, key=lambda each: (each[0].task_index, each[0].trial))


def by_task(connection: Connection, run_id: str) -> list[dict[str, Any]]:
    """For each task: ``task_index, task, instruction, split, all, passed, failed, errors, unscored, score_sum``."""
    columns = (_rollouts.c.task_index, _rollouts.c.task, _rollouts.c.instruction, _rollouts.c.split)
    query = (
        select(
            *columns,
            func.count().label("all"),
            func.coalesce(func.sum(_rollouts.c.score), 0.0).label("score_sum"),
            *(
                func.sum(case((_rollouts.c.outcome == outcome, 1), else_=0)).label(name)
                for outcome, name in _COLUMN_OF.items()
            ),
        )
        .where(_rollouts.c.run_id == run_id)
        .group_by(*columns)
        .order_by(_rollouts.c.task_index)
    )
    return [row._asdict() for row in connection.execute(query)]


def _brief(row: Any) -> Brief:
    return Brief(*row[: len(_BRIEF)])


__all__ = [
    "Brief",
    "Finished",
    "NotHeldError",
    "by_task",
    "find",
    "finished_since",
    "keep",
    "lines",
    "page",
    "places",
]
