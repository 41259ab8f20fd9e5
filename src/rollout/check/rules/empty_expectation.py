"""A primitive expects an empty text, null, or no rows, which an agent that says nothing would give.

An empty gold is nearly always a value that was forgotten. Where nothing is the right answer, ask for a word for it,
such as “none”; a gold query that rightly comes to no rows is allowed with `expectEmpty: true`.

Before:

    - {name: answer, type: answer_match, expected: ""}

After:

    - {name: answer, type: answer_match, expected: none}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rollout.check.blank import is_blank
from rollout.check.finding import Finding
from rollout.check.grading import ground_truth_path, judging, parsed
from rollout.check.subject import Subject
from rollout.check.values import described
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.paths import Step, get
from rollout.source.document import TaskRecord

CODE = "RL522"
SEVERITY = Severity.ERROR

_TEXTS = ("answer_match", "output_equals")
_WAY_OUT = "Write what is expected; where nothing is right, ask for a word for it, such as “none”."


def check(subject: Subject) -> Iterator[Finding]:
    for primitive in subject.primitives:
        kind, name = primitive.value.get("type"), quoted(str(primitive.value.get("name")))
        if kind in _TEXTS and is_blank(primitive.value.get("expected")):
            yield Finding((*primitive.route, "expected"), f"{name} expects an empty text.", _WAY_OUT)
        terms = primitive.value.get("terms")
        for index, term in enumerate(terms if kind == "contains_terms" and isinstance(terms, list) else ()):
            # The schema has told of the empty ones.
            if is_blank(term) and term:
                yield Finding(
                    (*primitive.route, "terms", index), f"A term of {name} is only white space.", _WAY_OUT
                )


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    looked: list[tuple[tuple[Step, ...], str]] = []
    rows_may_be_empty = True
    for primitive in judging(subject):
        written = ground_truth_path(primitive)
        kind = str(primitive.value.get("type"))
        if kind in _TEXTS and written and (path := parsed(written)) is not None:
            looked.append((path.steps, kind))
        if primitive.value.get("type") == "sql_result" and "query" not in primitive.value:
            rows_may_be_empty &= primitive.value.get("expectEmpty") is True
    if not looked and rows_may_be_empty:
        return None

    def judge(record: TaskRecord) -> Iterator[Finding]:
        truth = record.ground_truth
        route = ("tasks", record.index, record.truth_key)
        for steps, kind in looked:
            found = get(truth, steps)
            if is_blank(found):
                yield Finding((*route, *steps), "The ground truth expects an empty text.", _WAY_OUT)
            elif found is None or (kind == "output_equals" and isinstance(found, list | dict)):
                what = f"{described(found)}, which no {'answer' if kind == 'answer_match' else 'message'} is"
                yield Finding((*route, *steps), f"The ground truth expects {what}.", _WAY_OUT)
        if (
            not rows_may_be_empty
            and isinstance(truth, dict)
            and "query" not in truth
            and truth.get("rows") == []
        ):
            yield Finding(
                (*route, "rows"),
                "The ground truth expects no rows.",
                "Write the rows; where none is right, say expectEmpty: true in the sql_result primitive.",
            )

    return judge
