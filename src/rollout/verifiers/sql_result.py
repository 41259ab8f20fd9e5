"""sql_result: the agent's answer has the rows of the gold query, and the data is what it has to be.

The gold is ``query``, what stands at ``groundTruth`` in the task's ground truth, or else its ``query``, ``rows`` or
``answer``. A list of queries holds several golds, of which one must agree. Rows are compared as bags, by position and
not by the names of columns; in order only where the gold's outermost query orders them, and then rows that are equal
on all it orders by may change places. 1 is 1.0, text is compared exactly, NULL is only NULL; ``tolerance`` eases the
comparison of numbers. A gold that comes to no rows is an error unless ``expectEmpty: true`` says that it may, and so is
a gold that fails.

The answer is what was submitted, or else the last message: rows as JSON, or, where the gold is a single value, that
value, read as by ``answer_match``. What ``run_sql`` showed last is no answer. With ``readOnly: false`` the gold may
change data too; every table must then hold what it holds after the gold, on a clean copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rollout.database import DatabaseSpec
from rollout.database.definitions import Definitions
from rollout.database.golds import Gold, evaluate, is_rows, written_golds
from rollout.database.image import image_of
from rollout.database.rows import Row, difference, equal
from rollout.database.threads import beside
from rollout.language.compare import show
from rollout.language.paths import MISSING, PathError
from rollout.verifiers import CannotJudgeError, Case, Judgement, UnscoredError, absent, failed, passed
from rollout.verifiers._answers import Answer, read_answer, said_number, said_text
from rollout.verifiers._phrase_tokens import Unread
from rollout.verifiers._wording import Question, question_of


async def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when answer and data agree with a gold, else 0 with the difference to the first."""
    if case.database is None:
        raise CannotJudgeError("“sql_result” can only judge a sql environment.")
    written = _written(case, options)
    spec = case.database
    if is_rows(written):
        golds = [_literal(written)]
    else:
        queries = [written] if isinstance(written, str) else written
        golds = await beside(lambda job: _evaluated(spec, queries))
    for number, gold in enumerate(golds, start=1):
        name = "The gold query" if len(golds) == 1 else f"Gold query {number}"
        if gold.failed is not None:
            raise CannotJudgeError(f"{name} does not run: {gold.failed}.", charged_to="environment")
        if gold.answers and not gold.rows and options.get("expectEmpty") is not True:
            raise CannotJudgeError(
                f"{name} comes to no rows, and “expectEmpty: true” does not say that it may.",
                charged_to="environment",
            )
    question = question_of(case.task.instruction, case.task.input)
    answer = read_answer(case.final_output, question)
    reasons: list[str] = []
    unread = False
    undecided: UnscoredError | None = None
    for gold in golds:
        try:
            if not spec.read_only:
                _expect_tables(case, gold, literal=is_rows(written))
            reason = _difference(case, gold, answer, question, options.get("tolerance", 0))
            if reason is None and not spec.read_only:
                reason = _data(case, gold, literal=is_rows(written))
        except _UnreadError as error:
            unread, reason = True, str(error)
        except UnscoredError as error:
            undecided, reason = error, str(error)
        if reason is None:
            which = "" if len(golds) == 1 else f" {len(reasons) + 1} of {len(golds)}"
            return passed(_agreement(gold, which, spec))
        reasons.append(reason)
    if undecided is not None:
        raise undecided
    told = (
        reasons[0]
        if len(golds) == 1
        else f"None of {len(golds)} gold queries agrees. The first: {reasons[0]}"
    )
    return absent(told) if unread else failed(told)


class _UnreadError(Exception):
    """There is no answer, or no table, that could be compared; the text is a sentence."""


def _written(case: Case, options: Mapping[str, Any]) -> Any:
    truth = {} if "query" in options else case.ground_truth
    try:
        written = written_golds(options, truth)
    except PathError as error:
        raise CannotJudgeError(f"“{options.get('groundTruth')}” is no path. {error}") from None
    if written is MISSING:
        where = f"“{options['groundTruth']}”" if "groundTruth" in options else "“query”"
        raise CannotJudgeError(f"There is no {where} in the task's ground truth.", charged_to="environment")
    is_query = isinstance(written, str) and written.strip()
    if not is_query and not (isinstance(written, list) and written):
        raise CannotJudgeError(
            f"The gold is {show(written)}, which is neither a query nor rows.", charged_to="environment"
        )
    return written


def _evaluated(spec: DatabaseSpec, queries: Sequence[str]) -> list[Gold]:
    image = image_of(spec)
    if image.failures:
        failure = image.failures[0]
        raise CannotJudgeError(f"The database cannot be built: {failure.reason}.", charged_to="environment")
    return [evaluate(image, query) for query in queries]


def _literal(rows: list[Any]) -> Gold:
    """Rows that were written out, as lists, as objects with the names of their columns, or as single values."""
    if all(isinstance(row, dict) for row in rows):
        names = tuple(rows[0]) if rows else ()
        if any(row.keys() != rows[0].keys() for row in rows):
            raise CannotJudgeError(
                "The rows of the ground truth do not all have the same columns.", charged_to="environment"
            )
        return Gold("", names, tuple(tuple(row[name] for name in names) for row in rows))
    return Gold("", (), tuple(tuple(row) if isinstance(row, list) else (row,) for row in rows))


def _difference(case: Case, gold: Gold, answer: Answer, question: Question, tolerance: float) -> str | None:
    """Why the answer has not the rows of the gold, or None. Raises _UnreadError."""
    if not gold.answers:
        return None
    if not case.final_output.strip():
        raise _UnreadError("There is no answer.")
    if len(gold.rows) == 1 and len(gold.rows[0]) == 1:
        return _single(gold.rows[0][0], answer, question, tolerance)
    if not answer.readings:
        raise _UnreadError(
            f"The answer cannot be read as rows: {show(answer.text)}. Rows are given as JSON, or by a query."
        )
    reason: str | None = None
    for rows in answer.readings:
        if gold.query == "" and gold.columns:
            rows = _by_name(gold.columns, answer.columns, rows)
        found = difference(gold.rows, rows, groups=gold.groups, tolerance=tolerance)
        if found is None:
            return None
        reason = reason or found
    return reason


def _by_name(names: Sequence[str], given: Sequence[str] | None, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Rows with their columns in the order of the ground truth, where both name them."""
    if given is None or sorted(given) != sorted(names):
        return rows
    places = [given.index(name) for name in names]
    return tuple(tuple(row[place] for place in places) if len(row) == len(given) else row for row in rows)


def _single(expected: Any, answer: Answer, question: Question, tolerance: float) -> str | None:
    """Why the answer is not the one value of the gold, or None. Raises _UnreadError."""
    for rows in answer.readings:
        if len(rows) == 1 and len(rows[0]) == 1 and equal(expected, rows[0][0], tolerance):
            return None
    told = f"It is {show(answer.text)} where {show(expected)} was expected."
    value = (
        answer.readings[0][0][0] if answer.readings and answer.readings[0] and answer.readings[0][0] else None
    )
    if answer.readings and (answer.text.strip()[:1] in "[{" or not isinstance(value, str | int | float)):
        # Rows, true, false and null are what they are; only a plain text or number is read further.
        return told
    text = value if isinstance(value, str) else answer.text
    if expected is None:
        return None if text.strip().strip(".").upper() == "NULL" else told
    said = (
        said_text(expected, text, question)
        if isinstance(expected, str)
        else said_number(text, question, roughly=tolerance > 0)
    )
    if isinstance(said, Unread):
        raise _UnreadError(f"{said.sentence()}; {show(expected)} was expected.")
    return None if equal(expected, said.value, tolerance) else told


def _wanted(case: Case, gold: Gold, *, literal: bool) -> Mapping[str, Any]:
    """What the data has to be at the end; rows that were written out leave it as it was at the start."""
    if literal:
        return case.initial_state
    return {"tables": gold.tables, "others": gold.others, "definitions": gold.definitions}


def _expect_tables(case: Case, gold: Gold, *, literal: bool) -> None:
    """Raises _UnreadError where a table is gone, or cannot be read."""
    state = case.final_state
    if "unknown" in state:
        raise _UnreadError(str(state["unknown"]))
    if not isinstance(state.get("tables"), dict):
        raise CannotJudgeError(
            "The final state does not say what the tables hold.", charged_to="infrastructure"
        )
    for table in _wanted(case, gold, literal=literal).get("tables") or {}:
        if table not in state["tables"]:
            raise _UnreadError(f"The table “{table}” is gone.")


def _data(case: Case, gold: Gold, *, literal: bool) -> str | None:
    """Why the tables, which are all there, do not hold what they have to, or None."""
    state = case.final_state
    source = _wanted(case, gold, literal=literal)
    wanted: dict[str, Any] = source.get("tables") or {}
    found = state["tables"]
    for table in (*wanted, *(table for table in found if table not in wanted)):
        if table not in wanted:
            return f"There is a table “{table}”, which should not be there."
        if wanted[table] == found[table]:
            continue
        started = (case.initial_state.get("tables") or {}).get(table)
        if wanted[table] == started:
            return f"The table “{table}” should not have changed{_example(state, table)}."
        if found[table] == started:
            return f"The table “{table}” should have changed, but did not."
        counts = wanted[table].get("rows"), found[table].get("rows")
        many = f" ({counts[1]} rows where {counts[0]} were expected)" if counts[0] != counts[1] else ""
        return f"The table “{table}” does not hold what it should{many}{_example(state, table)}."
    if list(source.get("others") or ()) != list(state.get("others") or ()):
        names = sorted(set(source.get("others") or ()) ^ set(state.get("others") or ()))
        return f"The indexes, views and triggers are not what they should be: {', '.join(names)}."
    return _redefined(case, source.get("definitions") or {})


def _redefined(case: Case, wanted: Definitions) -> str | None:
    """What is not defined as it should be.

    What the gold leaves as it was has to be as it was. What it defines itself may be written in other words that come
    to the same. Raises UnscoredError where nobody can tell: for triggers and for expressions in other words.
    """
    started, found = (state.get("definitions") or {} for state in (case.initial_state, case.final_state))
    untold = ""
    for name, definition in wanted.items():
        there = found.get(name)
        if there is None or there["words"] == definition["words"]:
            continue  # whether it is there at all has been looked at
        kind, _, plain = name.partition(" ")
        if definition["words"] == (started.get(name) or {}).get("words"):
            return f"The {kind} “{plain}” should be defined as it was."
        if definition["structure"] is None or there.get("structure") is None:
            untold = untold or f"The {kind} “{plain}” is"
        elif there["structure"] != definition["structure"]:
            return f"The {kind} “{plain}” is not what it should be."
        elif there["expressions"] != definition["expressions"]:
            untold = untold or f"An expression in the {kind} “{plain}” is"
    if untold:
        raise UnscoredError(
            f"{untold} written in other words than the gold has, and whether they come to the same cannot be told."
        )
    return None


def _example(state: Mapping[str, Any], table: str) -> str:
    changed = (state.get("changes") or {}).get(table) or {}
    for kind in ("added", "removed"):
        if changed.get(kind):
            return f": {show(changed[kind][0])} was {kind}"
    return ""


def _agreement(gold: Gold, which: str, spec: DatabaseSpec) -> str:
    many = "1 row" if len(gold.rows) == 1 else f"{len(gold.rows)} rows"
    ordered = ", in their order" if gold.groups is not None and len(gold.groups) > 1 else ""
    answered = f"The answer has the {many} of the gold{which}{ordered}" if gold.answers else ""
    held = "the tables hold what they should" if not spec.read_only else ""
    if answered and held:
        return f"{answered}, and {held}."
    return f"{answered or held[0].upper() + held[1:]}."


__all__ = ["judge"]
