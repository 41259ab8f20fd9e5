"""A ground truth names a page, a field or a part of the state that the site never has.

In a browser environment the ground truth is compared with the page that is open at the end (`url`), with what stands
in fields (`values`: page, field, value), and with the site's state. A name that the site does not have can never
match, so that every rollout of the task would fail.

Before:

    {"hidden_ground_truth": {"url": "/order/dnoe", "crat": []}}

After:

    {"hidden_ground_truth": {"url": "/order/done", "cart": []}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.grading import judging
from rollout.check.known import names_are_known
from rollout.check.site import fields, possible_state, urls
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity
from rollout.language.site import OWN_KEYS
from rollout.source.document import TaskRecord
from rollout.source.place import Route

CODE = "RL315"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if subject.template != "browser" or not names_are_known(subject, "config", "pages", key="url"):
        return None
    if not subject.pages:
        return None  # they are missing, or stand in the wrong place
    if not any(each.value.get("type") == "ground_truth_match" for each in judging(subject)):
        return None
    known, state = urls(subject), possible_state(subject)
    in_fields = {page.text("url"): fields(page) for page in subject.pages}

    def judge(record: TaskRecord) -> Iterator[Finding]:
        truth = record.ground_truth
        if not isinstance(truth, dict):
            return
        route: Route = ("tasks", record.index, record.truth_key)
        url = truth.get("url")
        if isinstance(url, str) and url not in known:
            yield _no_page(url, (*route, "url"), known)
        values = truth.get("values")
        for page, wanted in values.items() if isinstance(values, dict) else ():
            if page not in known:
                yield _no_page(page, (*route, "values", page), known, is_key=True)
                continue
            for name in wanted if isinstance(wanted, dict) and in_fields[page] else ():
                if name not in in_fields[page]:
                    yield Finding(
                        (*route, "values", page, name),
                        f"The page {quoted(page)} has no field {quoted(name)}.",
                        did_you_mean(name, sorted(in_fields[page]), kind="fields"),
                        at="key",
                    )
        if state is not None:
            yield from _unknown_state(truth, route, state)

    return judge


def _no_page(url: str, route: Route, known: Iterable[str], *, is_key: bool = False) -> Finding:
    return Finding(
        route,
        f"There is no page {quoted(url)} in this site.",
        did_you_mean(url, sorted(known), kind="pages"),
        at="key" if is_key else "value",
    )


def _unknown_state(truth: dict[str, Any], route: Route, state: frozenset[str]) -> Iterator[Finding]:
    named = [((*route, key), key) for key in truth if key not in OWN_KEYS]
    gathered = truth.get("state")
    if isinstance(gathered, dict) and "state" not in state:
        named = [each for each in named if each[1] != "state"]
        named += [((*route, "state", key), key) for key in gathered]
    for at, key in named:
        if key not in state:
            yield Finding(
                at,
                f"The ground truth names {quoted(key)}, which the site's state never has.",
                did_you_mean(key, (*sorted(state), *OWN_KEYS), kind="parts of the final state"),
                at="key",
            )
