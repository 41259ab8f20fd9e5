"""A part of the ground truth has a shape that cannot be judged by, or that nothing ever has.

What a ground truth holds depends on who reads it. Files are texts by path, under `files`; of a database it is a query,
rows or an answer; of a site the page's `url` and `title`, and `values`, which are fields by page. With anything else in
their place every rollout of the task would fail, or end in an error. The same holds of a part of a site's state that no
page brings about: a list without what is in it at the start, or with a row that nothing adds.

Before:

    {"instruction": "Mend total().", "hidden_ground_truth": {"files": "def total(prices): …"}}

After:

    {"instruction": "Mend total().", "hidden_ground_truth": {"files": {"price.py": "def total(prices): …"}}}
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rollout.check.fields import fields_called, never_holds
from rollout.check.finding import Finding
from rollout.check.grading import judging, parsed
from rollout.check.site_state import SiteState
from rollout.check.sql_ways_out import is_query
from rollout.check.start import comparison
from rollout.check.subject import Item, Subject
from rollout.check.values import described, shown
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.paths import MISSING, get, write
from rollout.language.site import OWN_KEYS
from rollout.source.document import TaskRecord
from rollout.source.place import Route

CODE = "RL316"
SEVERITY = Severity.ERROR

Shape = Callable[[dict[str, Any]], Iterable[Finding]]
"""What is wrong with a ground truth; the routes are from its root."""


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if not subject.is_sound("verifier"):
        return None
    shapes = list(_shapes(subject))
    if not shapes:
        return None

    def judge(record: TaskRecord) -> Iterator[Finding]:
        truth = record.ground_truth
        if not isinstance(truth, dict):
            return
        route: Route = ("tasks", record.index, record.truth_key)
        told: set[Route] = set()
        for shape in shapes:
            for found in shape(truth):
                if found.route not in told:
                    told.add(found.route)
                    yield Finding((*route, *found.route), found.message, found.hint)

    return judge


def _shapes(subject: Subject) -> Iterator[Shape]:
    for primitive in judging(subject):
        match subject.template, primitive.value.get("type"):
            case "code-editing", "ground_truth_match" | "files_match" if "files" not in primitive.value:
                yield lambda truth: _files(truth, "files")
            case "code-editing", "command_passes":
                yield lambda truth: _files(truth, "tests")
            case "sql", "sql_result" if "query" not in primitive.value:
                yield lambda truth, primitive=primitive: _gold(truth, primitive)  # type: ignore[misc]
            case "browser", "ground_truth_match":
                yield lambda truth: _site(truth, subject)
                if primitive.value.get("not") is not True and subject.is_sound("config"):
                    state, terms = SiteState(subject), comparison(primitive.value)
                    yield lambda truth, state=state, terms=terms: _state(truth, subject, state, terms)  # type: ignore[misc]


def _files(truth: dict[str, Any], key: str) -> Iterator[Finding]:
    files = truth.get(key, MISSING)
    may_be_gone = key == "files"
    if files is MISSING or (files in (None, {}) and not may_be_gone):
        return
    if not isinstance(files, dict) or not files:
        yield Finding(
            (key,),
            f"{quoted(key)} of the ground truth is {described(files)}; contents by path are expected.",
            f"Write {key}: {{a.py: …}}, each path with the whole content of the file.",
        )
        return
    for path, content in files.items():
        if not isinstance(content, str) and not (content is None and may_be_gone):
            yield Finding(
                (key, path),
                f"What the ground truth has for {quoted(path)} is {described(content)}, not the text of a file.",
                "Write the whole content of the file as a text"
                + (", or null where it must not be there." if may_be_gone else "."),
            )


def _gold(truth: dict[str, Any], primitive: Item) -> Iterator[Finding]:
    may_be_empty = primitive.value.get("expectEmpty") is True
    if (written := primitive.text("groundTruth")) is not None:
        path = parsed(written)
        found = MISSING if path is None else get(truth, path.steps)
        if path is not None and found is not MISSING:
            yield from _query_or_rows(found, path.steps, may_be_empty)
        return
    given = [key for key in ("query", "rows", "answer") if key in truth]
    key = next((each for each in given if truth[each] is not None), given[0] if given else None)
    if key is None:
        return  # another rule says so
    found = truth[key]
    if key != "answer":
        yield from _query_or_rows(found, (key,), may_be_empty or key == "rows")
    elif isinstance(found, list):
        yield from _query_or_rows(found, (key,), may_be_empty)
    elif found is None or isinstance(found, dict) or (isinstance(found, str) and not found.strip()):
        yield Finding(
            (key,),
            f"“answer” of the ground truth is {described(found)}; a value or rows are expected.",
            "Write the one value that is right, or rows: [[…], …]; for no value at all, rows: [[null]].",
        )


def _query_or_rows(found: Any, route: Route, may_be_empty: bool) -> Iterator[Finding]:
    if not isinstance(found, str | list) or (found == [] and not may_be_empty):
        yield Finding(
            route,
            f"{quoted(write(route))} of the ground truth is {described(found)}; a query or rows are expected.",
            "Write a query, SELECT …, or one list a row: [[…], …].",
        )
        return
    if isinstance(found, str) or all(isinstance(each, str) for each in found):
        return
    first = found[0]
    if isinstance(first, dict) and len(first) == 1:
        [(name, value)] = first.items()
        if name in ("query", "sql") and is_query(value):
            yield Finding(
                (*route, 0),
                "This row of the ground truth is a query with a name; queries are texts.",
                f"Write the query alone: {json.dumps(value, ensure_ascii=False)}",
            )
            return
    for index, row in enumerate(found[1:], start=1):
        if (why := _unlike(first, row)) is not None:
            yield Finding(
                (*route, index),
                f"This row of the ground truth is unlike the first: {why}.",
                "Give every row the same columns.",
            )
            return


def _unlike(first: Any, row: Any) -> str | None:
    """How a row differs from the first in its form; None where it does not."""
    if isinstance(first, dict) and isinstance(row, dict):
        for one, other, verb in ((row, first, "has"), (first, row, "has no")):
            if (name := next((each for each in one if each not in other), None)) is not None:
                return f"it {verb} {quoted(name)}"
        return None
    if isinstance(first, dict) or isinstance(row, dict):
        return f"it is {described(row)}, and that is {described(first)}"
    here, there = (len(each) if isinstance(each, list) else 1 for each in (row, first))
    return None if here == there else f"it has {here} value{'s' * (here != 1)}, and that has {there}"


def _site(truth: dict[str, Any], subject: Subject) -> Iterator[Finding]:
    for key, example in (("url", "/orders"), ("title", "Your orders")):
        if key in truth and not isinstance(truth[key], str):
            yield Finding(
                (key,),
                f"{quoted(key)} of the ground truth is {described(truth[key])}; it is a text.",
                f"Write the {key} of the page that is to be open at the end, such as {key}: {example}.",
            )
    state = truth.get("state")
    if state == {} and "state" not in subject.initial_state:
        yield Finding(("state",), "“state” of the ground truth names nothing.", "Name what has to be in it.")
    if "values" not in truth:
        return
    way_out = "Write values: {/page: {field: value}}."
    values = truth["values"]
    if not isinstance(values, dict) or not values:
        told = f"“values” of the ground truth is {described(values)}; fields by page are expected."
        yield Finding(("values",), told, way_out)
        return
    pages = {page.text("url"): page for page in subject.pages}
    for url, fields in values.items():
        if not isinstance(fields, dict) or not fields:
            told = f"What the ground truth has for the page {quoted(url)} is {described(fields)}, not its fields."
            yield Finding(("values", url), told, way_out)
        elif url in pages:
            yield from _fields(pages[url], fields, ("values", url))


def _state(
    truth: dict[str, Any], subject: Subject, state: SiteState, terms: dict[str, Any]
) -> Iterator[Finding]:
    gathered = truth.get("state")
    is_gathered = isinstance(gathered, dict) and "state" not in subject.initial_state
    named: list[tuple[Route, str, Any]] = [
        ((), key, value)
        for key, value in truth.items()
        if key not in OWN_KEYS and not (is_gathered and key == "state")
    ]
    if isinstance(gathered, dict) and is_gathered:
        named += [(("state",), key, value) for key, value in gathered.items()]
    for above, key, value in named:
        if (unreached := state.unreached(key, value, terms)) is not None:
            yield Finding(
                (*above, *unreached.steps),
                f"The final state never has this: {unreached.why}.",
                unreached.hint or "Write what a right rollout leads to, or let a page lead there.",
            )


def _fields(page: Item, fields: dict[str, Any], route: Route) -> Iterator[Finding]:
    for name, value in fields.items():
        found, by_id = fields_called(page, name)
        if found and (why := never_holds(found, value, by_id=by_id)) is not None:
            yield Finding(
                (*route, name), f"{quoted(name)} is never {shown(value)}: {why}.", "Write what can be there."
            )
