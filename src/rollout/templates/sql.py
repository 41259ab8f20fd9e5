"""sql: a SQLite database in memory that the agent reads with ``describe_schema`` and ``run_sql``, and an answer.

The database is built once from ``schema`` and ``seed``; every rollout has its own copy. With ``readOnly: true``, the
default, ``run_sql`` takes queries only. With ``readOnly: false`` it takes statements that change the data, too, each
taking effect by itself, and what the tables hold at the end is the state. ``submit_answer`` hands in a text or a
number, rows, or a query, which is run at once; after it the model is not asked again.

A statement may take so many steps and no more, and its result is shown up to so many rows; both are said to the agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.database import DatabaseSpec
from rollout.database.contents import Contents, changes, contents, others
from rollout.database.definitions import definitions
from rollout.database.golds import golds_of_task, is_rows, statements_of
from rollout.database.image import Image, SqlFailure, image_of
from rollout.database.running import FAILURES, Outcome, run
from rollout.database.sandbox import Access, Sandbox
from rollout.database.threads import Job, StuckError, beside
from rollout.environment import Environment, Task
from rollout.language.canonical import dump
from rollout.language.paths import MISSING
from rollout.templates import Result, Script, TemplateError
from rollout.templates._sql_tools import LARGEST_RESULT, MOST_ROWS, describe, result_of, tools

MOST_SUBMITTED = 10_000
"""How many rows a submitted query may come to."""


def prepare(environment: Environment) -> SqlStage:
    """Builds the database. Raises TemplateError when schema or seed do not run."""
    spec = environment.database
    if spec is None:
        raise TemplateError("It is no sql environment.")
    return SqlStage(image_of(spec), environment.verifier)


class SqlStage:
    """A database made ready, and what is to be told of it."""

    def __init__(self, image: Image, verifier: dict[str, Any] | None) -> None:
        if image.failures:
            raise TemplateError(_failed(image.spec, image.failures[0]))
        self.image = image
        self.verifier = verifier
        spec = image.spec
        self.tools = tools(read_only=spec.read_only)
        self.notes = _notes(spec)
        self.start: dict[str, Any] = {}
        self.contents: Contents = {}
        if not spec.read_only:
            sandbox = image.copy(Access.READ)
            try:
                self.contents = contents(sandbox)
                self.start = {
                    "tables": self.contents,
                    "others": others(sandbox),
                    "definitions": definitions(sandbox),
                }
            finally:
                sandbox.close()

    def open(self, task: Task) -> SqlWorld:
        """A world with a database of its own, which is copied when it is first written to."""
        return SqlWorld(self)

    def solve(self, task: Task) -> Script | None:
        """The gold query, run and handed in; or the rows or the answer that the ground truth says."""
        gold = golds_of_task(self.verifier, task.hidden_ground_truth)
        if gold is MISSING or gold is None or gold == "":
            return None
        if is_rows(gold):
            truth = task.hidden_ground_truth.get("answer")
            if truth is not None and gold in ([[truth]], truth) and not isinstance(truth, dict):
                return [{"tool": "submit_answer", "args": {"answer": truth}}]
            return [{"tool": "submit_answer", "args": {"rows": gold}}]
        query = gold if isinstance(gold, str) else gold[0]
        return _script(self.image, query) if isinstance(query, str) else None


def _script(image: Image, query: str) -> Script | None:
    statements = list(statements_of(query))
    if not statements:
        return None
    script: Script = [{"tool": "run_sql", "args": {"query": each}} for each in statements]
    if image.spec.read_only or _is_query(image, statements):
        return [*script, {"tool": "submit_answer", "args": {"query": statements[-1]}}]
    return [*script, {"tool": "submit_answer", "args": {"answer": "Done."}}]


def _is_query(image: Image, statements: list[str]) -> bool:
    sandbox = image.copy(Access.WRITE)
    try:
        outcome = Outcome()
        for each in statements:
            outcome = run(sandbox, each, most_rows=1)
        return not outcome.wrote
    finally:
        sandbox.close()


class SqlWorld:
    """One rollout's database."""

    def __init__(self, stage: SqlStage) -> None:
        self._stage = stage
        self._own: Sandbox | None = None
        self._number = 0
        self._state: dict[str, Any] = stage.start
        self._is_lost = False

    async def call(self, name: str, args: Mapping[str, Any]) -> Result:
        """Answers one call; what a statement does wrong or takes too much of is an error in the result."""
        if name == "submit_answer" and "query" not in args:
            given = args["answer"] if "answer" in args else args["rows"]
            text = given if isinstance(given, str) else dump(given).decode("utf-8")
            if not text.strip():
                return Result.failed("The answer is empty.")
            return Result(_RECEIVED, answer=text)
        if self._is_lost:
            return Result.failed("The database is still busy with a statement that could not be stopped.")
        self._number += 1
        try:
            return await beside(lambda job: self._answer(job, name, args))
        except StuckError:
            self._is_lost = True
            return Result.failed("The statement takes too long and was stopped.")
        except MemoryError:
            return Result.failed("There is not enough memory for this.")

    def _answer(self, job: Job, name: str, args: Mapping[str, Any]) -> Result:
        if self._stage.image.spec.read_only:
            with self._stage.image.lent() as sandbox:
                return self._use(job, sandbox, name, args)
        if self._own is None:
            self._own = self._stage.image.copy(Access.WRITE)
        return self._use(job, self._own, name, args)

    def _use(self, job: Job, sandbox: Sandbox, name: str, args: Mapping[str, Any]) -> Result:
        sandbox.dice.shake(str(self._number))
        job.use(sandbox)
        try:
            if name == "describe_schema":
                return describe(sandbox, args.get("table"))
            if name == "run_sql":
                outcome = run(sandbox, args["query"], most_rows=MOST_ROWS, most_bytes=LARGEST_RESULT)
                if outcome.wrote and not self._stage.image.spec.read_only:
                    # One that fails half way, such as INSERT OR FAIL, has changed what it came to before.
                    self._take_down(sandbox)
                return result_of(outcome)
            return self._submit(sandbox, args["query"])
        finally:
            job.use(None)

    def _submit(self, sandbox: Sandbox, query: str) -> Result:
        access, sandbox.access = sandbox.access, Access.READ
        try:
            outcome = run(sandbox, query, most_rows=MOST_SUBMITTED)
        finally:
            sandbox.access = access
        if outcome.failed is not None:
            return Result.failed(f"The query does not run, so no answer was handed in: {outcome.failed}.")
        if outcome.left_out:
            return Result.failed(
                f"The query comes to more than {MOST_SUBMITTED:,} rows; no answer was handed in."
            )
        if not outcome.columns:
            return Result.failed("That is no query, so no answer was handed in.")
        answer = {"columns": list(outcome.columns), "rows": [list(row) for row in outcome.rows]}
        return Result(_RECEIVED, answer=dump(answer).decode("utf-8"))

    def _take_down(self, sandbox: Sandbox) -> None:
        """Takes down what the tables hold, after a statement that changed them."""
        stage = self._stage
        try:
            # Those that triggers and foreign keys lead to are among the touched ones.
            known = None if sandbox.redefined else self._state["tables"]
            now = contents(sandbox, known=known, stale=set(sandbox.touched))
            names = [
                table
                for table, held in now.items()
                if stage.contents.get(table, held) != held or table not in stage.contents
            ]
            told = {}
            with stage.image.lent() as before:
                for table in names:
                    if table in stage.contents and (found := changes(before, sandbox, table)):
                        told[table] = found
            self._state = {"tables": now, "others": others(sandbox), "definitions": definitions(sandbox)}
            if told:
                self._state["changes"] = told
        except FAILURES as error:
            self._state = {**self._state, "unknown": f"The tables cannot be read: {sandbox.why(error)}."}

    def state(self) -> dict[str, Any]:
        """What the tables hold, for an environment that can be written to; else nothing."""
        return dict(self._state)

    async def close(self) -> None:
        """Gives back the copy."""
        if self._own is not None and not self._is_lost:
            self._own.close()


_RECEIVED = dump({"ok": True, "message": "The answer was received."}).decode("utf-8")


def _failed(spec: DatabaseSpec, failure: SqlFailure) -> str:
    text = {"schema": spec.schema, "seed": spec.seed}.get(failure.key)
    if text is None:
        return failure.reason if failure.reason.endswith((".", "!", "?", "'")) else f"{failure.reason}."
    line = text.count("\n", 0, failure.start) + 1
    return f"A statement of the {failure.key} does not run (line {line}): {failure.reason}."


def _notes(spec: DatabaseSpec) -> str:
    may = (
        "The database is read-only: only queries are possible."
        if spec.read_only
        else "Statements that change the data take effect at once and cannot be taken back."
    )
    clock = "" if spec.now is None else f" The current time is {spec.now} (UTC), and it stands still."
    return (
        "You work on a SQLite database. describe_schema shows its tables; run_sql runs one SQL statement at a time, "
        f"in SQLite's dialect. {may}{clock}\n"
        "When you are done, call submit_answer once, with the answer as a text or a number, as rows, or as a query "
        "whose rows are the answer."
    )


__all__ = ["prepare"]
