"""Worlds of SQLite databases: hostile statements end, side by side with others, and leave no trace in them."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from rollout.database import sandbox, threads
from rollout.engine import Outcome, Rollout, Trace, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.engine.prove import prove
from rollout.environment import Environment, Task
from rollout.models import Call, Request, Turn
from rollout.templates import TemplateError, prepare

SCHEMA = "CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT DEFAULT 'open', total REAL);"
SEED = "INSERT INTO orders (id, total) VALUES (1, 10), (2, 20.5), (3, 30);"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"
TOO_LONG = "The statement failed: it takes too long and was stopped."


class Scripted:
    """Makes the calls it was given, one a turn, and says its last words."""

    id = "scripted"

    def __init__(self, *calls: tuple[str, dict[str, Any]], says: str = "Done.") -> None:
        self.calls = calls
        self.says = says

    async def respond(self, request: Request) -> Turn:
        number = sum(message["role"] == "assistant" for message in request.messages)
        if number >= len(self.calls):
            return Turn(self.says)
        tool, args = self.calls[number]
        return Turn(calls=(Call(f"call_{number}", tool, json.dumps(args)),))

    async def close(self) -> None: ...


def orders(*tasks: Task, **settings: Any) -> Environment:
    made = list(tasks) or [Task("How many orders are there?", {"query": "SELECT COUNT(*) FROM orders"})]
    return Environment("orders", "Orders", "sql", made, schema=SCHEMA, seed=SEED, **settings)


def sql(*queries: str, says: str = "Done.") -> Scripted:
    return Scripted(*(("run_sql", {"query": query}) for query in queries), says=says)


def play(environment: Environment, model: Scripted, task: int = 0) -> Rollout:
    workflow, grader = EnvironmentWorkflow(environment, max_tool_calls=50), VerifierGrader(environment)
    return asyncio.run(roll_out(workflow, grader, environment.tasks[task], model))


def answers(trace: Trace) -> list[Any]:
    return [json.loads(call.content) for call in trace.calls]


@pytest.fixture
def short_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "STEPS", 2_000_000)


@pytest.mark.usefixtures("short_work")
@pytest.mark.parametrize(
    "query",
    [
        ENDLESS,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n ORDER BY i DESC",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n WHERE i < 0",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT group_concat(i) FROM n WHERE i < 0",
    ],
)
def test_an_endless_query_is_stopped_and_the_rollout_goes_on(query: str) -> None:
    rollout = play(orders(), sql(query, "SELECT COUNT(*) FROM orders", says="3"))
    assert answers(rollout.trace) == [{"error": TOO_LONG}, {"columns": ["COUNT(*)"], "rows": [[3]]}]
    assert rollout.verdict.outcome is Outcome.PASSED


@pytest.mark.usefixtures("short_work")
def test_an_endless_query_does_not_hold_up_others() -> None:
    environment = orders()
    workflow = EnvironmentWorkflow(environment)

    async def main() -> tuple[list[Trace], float]:
        late = 0.0

        async def watch() -> None:
            nonlocal late
            while True:
                before = time.perf_counter()
                await asyncio.sleep(0)
                late = max(late, time.perf_counter() - before)

        watching = asyncio.create_task(watch())
        models = [
            sql(ENDLESS) if number % 4 == 0 else sql("SELECT COUNT(*) FROM orders") for number in range(32)
        ]
        traces = await asyncio.gather(*(workflow.run(environment.tasks[0], model) for model in models))
        watching.cancel()
        return list(traces), late

    traces, late = asyncio.run(main())
    assert {trace.calls[0].error for trace in traces[::4]} == {TOO_LONG}
    assert {trace.calls[0].error for number, trace in enumerate(traces) if number % 4} == {None}
    assert late < 2


def test_a_statement_that_cannot_be_stopped_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SECONDS", 0.05)
    monkeypatch.setattr(threads, "GRACE", 0.05)
    slow = "SELECT hex(zeroblob(450000)) LIKE '%' || substr(hex(zeroblob(450)), 1, 900) || '1%'"
    rollout = play(orders(), sql(slow, "SELECT 1"))
    assert answers(rollout.trace) == [
        {"error": "The statement takes too long and was stopped."},
        {"error": "The database is still busy with a statement that could not be stopped."},
    ]
    assert rollout.trace.failure is None


def test_memory_that_a_statement_may_take_is_bounded() -> None:
    doubling = "WITH a0 AS (SELECT zeroblob(900000) AS x)" + "".join(
        f", a{n} AS (SELECT x FROM a{n - 1} UNION ALL SELECT x FROM a{n - 1})" for n in range(1, 12)
    )
    rollout = play(orders(), sql(f"{doubling} SELECT x FROM a11 ORDER BY length(x), random()", "SELECT 1"))
    first, second = answers(rollout.trace)
    assert first == {"error": "The statement failed: it needs too much memory and was stopped."}
    assert second == {"columns": ["1"], "rows": [[1]]}


@pytest.mark.usefixtures("short_work")
def test_a_database_cannot_be_filled_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    filling = "WITH RECURSIVE n(i) AS (SELECT 9 UNION ALL SELECT i + 1 FROM n) INSERT INTO orders "
    rollout = play(
        orders(read_only=False),
        sql(f"{filling} SELECT i, hex(zeroblob(400000)), 1 FROM n", "SELECT COUNT(*) FROM orders"),
    )
    assert answers(rollout.trace) == [
        {"error": "The statement failed: the database would become too large."},
        {"columns": ["COUNT(*)"], "rows": [[3]]},
    ]


@pytest.mark.parametrize("read_only", [True, False])
def test_the_same_calls_give_the_same_trace_however_many_run(read_only: bool) -> None:
    environment = orders(read_only=read_only)
    workflow = EnvironmentWorkflow(environment)
    model = sql(
        "SELECT id, random() FROM orders ORDER BY random()",
        "INSERT INTO orders (total) VALUES (abs(random() % 100)) RETURNING *",
        "SELECT hex(randomblob(4)), datetime('now') = CURRENT_TIMESTAMP",
        "DROP TABLE orders",
        "SELECT COUNT(*) FROM orders",
    )

    async def many(count: int) -> list[Trace]:
        return await asyncio.gather(*(workflow.run(environment.tasks[0], model) for _ in range(count)))

    (alone,) = asyncio.run(many(1))
    assert all(trace == alone for trace in asyncio.run(many(24)))
    assert (alone.calls[-1].error is None) is read_only


def test_long_results_are_cut_and_say_so() -> None:
    long = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) "
        "SELECT i, hex(zeroblob(30000)) FROM n"
    )
    (answer,) = answers(play(orders(), sql(long)).trace)
    assert answer["note"] == (
        "4 more rows left out; the first 1 of 5 are shown. 1 long value was cut at 4,000 characters."
    )
    assert answer["rows"][0][1].endswith("0… (60,000 characters)")


CLOSE = Task("Close order 1.", {"query": "UPDATE orders SET status = 'closed' WHERE id = 1"})
ADD = Task(
    "Add an order of 5, then say how many there are.",
    {"query": "INSERT INTO orders (total) VALUES (5); SELECT COUNT(*) FROM orders"},
)
COUNT = Task("How many orders are there?", {"query": "SELECT COUNT(*) FROM orders"})


@pytest.mark.parametrize(
    ("task", "model", "outcome", "reason"),
    [
        (
            0,
            sql("UPDATE orders SET status = 'closed' WHERE total = 10"),
            "passed",
            "The tables hold what they should.",
        ),
        (0, sql(), "failed", "The table “orders” should have changed, but did not."),
        (
            0,
            sql("UPDATE orders SET status = 'closed'"),
            "failed",
            'The table “orders” does not hold what it should: [1,"closed",10] was added.',
        ),
        (
            0,
            sql("UPDATE orders SET status = 'closed' WHERE id = 1", "CREATE TABLE notes (line)"),
            "failed",
            "There is a table “notes”, which should not be there.",
        ),
        (0, sql("DROP TABLE orders"), "failed", "The table “orders” is gone."),
        (
            0,
            sql("UPDATE orders SET status = 'closed' WHERE id = 1", "CREATE VIEW v AS SELECT 1"),
            "failed",
            "The indexes, views and triggers are not what they should be: view v.",
        ),
        (
            1,
            sql("INSERT INTO orders (total) VALUES (5.0)", says="4"),
            "passed",
            "The answer has the 1 row of the gold, and the tables hold what they should.",
        ),
        (1, sql(says="4"), "failed", "The table “orders” should have changed, but did not."),
        (
            1,
            sql("INSERT INTO orders (total) VALUES (5)", says="3"),
            "failed",
            'It is "3" where 4 was expected.',
        ),
        (
            2,
            sql("DELETE FROM orders WHERE id = 3", says="3"),
            "failed",
            'The table “orders” should not have changed: [3,"open",30] was removed.',
        ),
        (
            2,
            sql("DELETE FROM orders WHERE id = 3", "INSERT INTO orders (id, total) VALUES (3, 30)", says="3"),
            "passed",
            "The answer has the 1 row of the gold, and the tables hold what they should.",
        ),
    ],
)
def test_what_was_changed_is_judged(task: int, model: Scripted, outcome: str, reason: str) -> None:
    rollout = play(orders(CLOSE, ADD, COUNT, read_only=False), model, task)
    assert (rollout.verdict.outcome, [mark.reason for mark in rollout.verdict.marks]) == (outcome, [reason])


@pytest.mark.parametrize(
    "truth",
    [
        {"query": "SELECT id FROM orders ORDER BY total DESC"},
        {"query": ["SELECT MAX(total) FROM orders", "SELECT id FROM orders"]},
        {"rows": [[1, "a"], [2, None]]},
        {"rows": [{"id": 1, "name": "a"}]},
        {"answer": 41.5},
        {"answer": "Ada"},
    ],
)
def test_the_oracle_works_the_answer_out_of_the_ground_truth(truth: dict[str, Any]) -> None:
    assert asyncio.run(prove(orders(Task("Say.", truth)))).defects == ()


def test_the_oracle_makes_the_changes_of_a_gold_query() -> None:
    assert asyncio.run(prove(orders(CLOSE, ADD, COUNT, read_only=False))).defects == ()


def test_only_what_was_handed_in_is_an_answer() -> None:
    task = Task("Which orders are above 15?", {"query": "SELECT id FROM orders WHERE total > 15"})
    asked = sql("SELECT id FROM orders WHERE total > 15", says="They are listed above.")
    assert play(orders(task), asked).verdict.outcome is Outcome.FAILED
    handed_in = Scripted(("submit_answer", {"query": "SELECT id AS n FROM orders WHERE total > 15"}))
    assert play(orders(task), handed_in).verdict.outcome is Outcome.PASSED


def test_a_query_that_fails_is_not_handed_in() -> None:
    model = Scripted(
        ("submit_answer", {"query": "SELECT nothing FROM orders"}),
        ("submit_answer", {"answer": 3}),
        ("run_sql", {}),
    )
    rollout = play(orders(), model)
    assert [call.error is None for call in rollout.trace.calls] == [False, True]
    assert rollout.verdict.outcome is Outcome.PASSED


def test_a_database_that_cannot_be_built_is_said_with_its_line() -> None:
    broken = Environment("e", "E", "sql", schema="CREATE TABLE a (x);\nCREATE TABEL b (x);")
    with pytest.raises(TemplateError, match=r"A statement of the schema does not run \(line 2\): near"):
        prepare(broken)


def test_a_clock_that_is_no_time_is_said() -> None:
    with pytest.raises(TemplateError, match="“tomorrow” is no time"):
        prepare(orders(now="tomorrow"))
