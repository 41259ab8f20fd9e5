"""What tables of a page show, on both databases: in order, a page at a time, and on SQLite always by an index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers.postgres import Postgres
from sqlalchemy import event, insert, text

from rollout.platform.store import Store, listing, rollouts, runs, tables
from rollout.platform.store.rollouts import Finished
from rollout.platform.store.runs import Status

SCORES = (0.0, 0.05, 0.1, 0.15, 0.3, 0.7, 0.95, 0.999, 1.0)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'rollout.db'}"
    else:
        server: Postgres = request.getfixturevalue("postgres")
        url = server.url
    made = Store(url)
    yield made
    made.close()


def add_environments(store: Store, number: int) -> None:
    rows = [
        {
            "id": f"e{index}",
            "slug": f"desk-{index:03}",
            "name": "n" * 1000,
            "template": "custom",
            "description": None,
            "digest": "sha256:0",
            "version": 1,
            "task_count": 3,
            "created_at": 1,
            "updated_at": index % 5,
        }
        for index in range(number)
    ]
    with store.writing() as connection:
        connection.execute(insert(tables.environments), rows)


def add_run(store: Store, rows: list[Finished], environment: str = "e0") -> str:
    run = store.write(
        runs.create,
        environment_id=environment,
        digest="sha256:0",
        model="noop",
        options={"n": 1},
        total=len(rows),
    )
    store.write(runs.lease, "me", 60.0, only=run.id)
    store.write(rollouts.keep, run.id, "me", rows, None)
    return run.id


def finished(index: int, trial: int, score: float | None, outcome: str) -> Finished:
    whom = None if score is not None else "model"
    return Finished(
        index, trial, f"t{index}", "i" * 9000, "dev", outcome, False, score, "", 2, 0.5, b"{}", whom
    )


def graded(score: float) -> str:
    return "passed" if score == 1 else "failed"


def everything(store: Store, ask: Any, place: Any, **more: Any) -> list[Any]:
    """All rows, three at a time."""
    found: list[Any] = []
    while page := store.read(ask, limit=3, after=place(found[-1]) if found else (), **more):
        found += page
    return found


def test_environments_come_by_slug_or_by_when_they_were_changed(store: Store) -> None:
    add_environments(store, 17)
    by_slug = everything(store, listing.environments, lambda row: (row.slug,))
    newest = everything(store, listing.environments, lambda row: (row.updated_at, row.slug), newest=True)
    assert [row.slug for row in by_slug] == [f"desk-{index:03}" for index in range(17)]
    assert [(row.updated_at, row.slug) for row in newest] == sorted(
        ((row.updated_at, row.slug) for row in by_slug), reverse=True
    )
    assert {len(row.name) for row in by_slug} == {listing.LONGEST + 1}


def test_runs_come_from_either_end_and_of_one_environment_or_status(store: Store) -> None:
    add_environments(store, 2)
    made = [add_run(store, [], f"e{number % 2}") for number in range(8)]
    store.write(runs.end, made[0], "me", Status.DONE)

    def place(row: Any) -> tuple[int, str]:
        return row.created_at, row.id

    newest = everything(store, listing.runs, place)
    assert sorted(row.id for row in newest) == sorted(made)
    assert everything(store, listing.runs, place, oldest=True) == newest[::-1]
    assert {row.id for row in everything(store, listing.runs, place, environment_id="e0")} == set(made[::2])
    assert [row.id for row in everything(store, listing.runs, place, status=Status.DONE)] == [made[0]]
    assert store.read(listing.runs_by_id, [made[3]])[made[3]].slug == "desk-001"


def test_rollouts_come_from_either_end_and_of_one_outcome_or_task(store: Store) -> None:
    add_environments(store, 1)
    rows = [finished(index, trial, 1.0, "passed") for index in range(4) for trial in range(3)]
    rows += [finished(9, trial, None, "error") for trial in range(4)]
    run_id = add_run(store, rows)

    def found(**more: Any) -> list[tuple[int, int]]:
        shown = everything(
            store, listing.rollouts, lambda row: (row.task_index, row.trial), run_id=run_id, **more
        )
        return [(row.task_index, row.trial) for row in shown]

    order = [(row.task_index, row.trial) for row in rows]
    assert found() == order
    assert found(down=True) == order[::-1]
    assert found(outcome="error") == order[-4:]
    assert found(task_index=2) == [(2, 0), (2, 1), (2, 2)]
    [first, second, third] = store.read(listing.rollouts, run_id, limit=3)
    assert (first.charged_to, len(first.instruction)) == (None, listing.LONGEST + 1)
    assert store.read(listing.beside, run_id, (0, 1), before=True) == first.id
    assert store.read(listing.beside, run_id, (0, 1), before=False) == third.id
    assert store.read(listing.beside, run_id, (0, 0), before=True) is None
    assert second.id not in (first.id, third.id)


def test_tasks_and_scores_are_counted(store: Store) -> None:
    add_environments(store, 1)
    rows = [finished(0, trial, score, graded(score)) for trial, score in enumerate(SCORES)]
    rows += [finished(5, 0, None, "error"), finished(5, 1, None, "unscored"), finished(5, 2, 1.0, "passed")]
    run_id = add_run(store, rows)
    first, second = store.read(listing.tallies, run_id)
    assert (first.task_index, first.passed, first.failed, first.all) == (0, 1, 8, 9)
    assert first.score_sum == pytest.approx(sum(SCORES))
    assert second[:5] == (5, 1, 0, 1, 1)
    assert (second.graded, second.all) == (1, 3)
    counted = store.read(listing.scores, run_id)
    assert counted == {
        (0, "failed"): 1,
        (1, "failed"): 1,
        (2, "failed"): 2,
        (4, "failed"): 1,
        (8, "failed"): 1,
        (10, "failed"): 2,
        (11, "passed"): 2,
    }
    names = store.read(listing.task_names, run_id, [0, 5, 7])
    assert {index: name.task for index, name in names.items()} == {0: "t0", 5: "t5"}


def test_no_table_is_read_as_a_whole(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'rollout.db'}")
    add_environments(store, 3)
    run_id = add_run(store, [finished(0, 0, 1.0, "passed")])
    asked: list[tuple[str, Any]] = []

    @event.listens_for(store.engine, "before_cursor_execute")
    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if statement.lstrip().startswith("SELECT"):
            asked.append((statement, parameters))

    for newest in (False, True):
        store.read(listing.environments, limit=3, newest=newest, after=(1, "a") if newest else ("a",))
        store.read(listing.runs, limit=3, oldest=newest, after=(1, "a"))
        store.read(listing.runs, limit=3, environment_id="e0", after=(1, "a"))
        store.read(listing.runs, limit=3, status=Status.DONE, after=(1, "a"))
        store.read(listing.rollouts, run_id, limit=3, down=newest, after=(0, 0))
        store.read(listing.rollouts, run_id, limit=3, outcome="passed", after=(0, 0))
        store.read(listing.rollouts, run_id, limit=3, task_index=0, after=(0, 0))
        store.read(listing.beside, run_id, (0, 0), before=newest)
        store.read(listing.tallies, run_id)
        store.read(listing.scores, run_id)
        store.read(listing.jobs, limit=3, after=(1, "a"))
        store.read(runs.newest, limit=3, before=(1, "a"))
        store.read(rollouts.page, run_id, limit=3, after=(0, 0))
    assert len(asked) == 26
    with store.reading() as connection:
        plans = [
            [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)]
            for statement, parameters in asked
        ]
        assert connection.execute(text("select count(*) from rollouts")).scalar_one() == 1
    store.close()
    for steps in plans:
        assert all(step.startswith(("SEARCH", "USE TEMP B-TREE FOR GROUP BY")) for step in steps), steps
    counting = [steps for steps in plans if any("score" in step for step in steps)]
    assert len(counting) == 4
    assert all("USING COVERING INDEX" in steps[0] for steps in counting)
