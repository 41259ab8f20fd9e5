"""A condition that cannot be understood.

`when` is a condition in CEL, the Common Expression Language: `state.order.status == "delivered"`,
`args.amount <= state.order.total && size(state.refunds) == 0`. It sees `args`, `state` and `task`, and has to come to
true or false. One that cannot be read could never be true, so the part that depends on it would never be there.

Before:

    when: state.cart.length > 0 and state.open

After:

    when: size(state.cart) > 0 && state.open
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.site import elements
from rollout.check.subject import Subject
from rollout.diagnostics import Severity, Span
from rollout.source.inside import span_inside
from rollout.source.place import Route

CODE = "RL340"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for route, text in _conditions(subject):
        from rollout.language.cel import (
            MalformedConditionError,
            parse,
        )  # loaded only where there is a condition

        try:
            parse(text)
        except MalformedConditionError as error:
            span = _span(subject, route, text, error.start, error.end)
            yield Finding(route, error.message, error.hint, span=span)


def _conditions(subject: Subject) -> Iterator[tuple[Route, str]]:
    for page in subject.pages if subject.template == "browser" else ():
        for element in elements(page):
            if element.offsets is None and (text := element.text("when")) is not None:
                yield (*element.route, "when"), text
    for tool in subject.tools:
        cases = tool.value.get("cases")
        for index, case in enumerate(cases if isinstance(cases, list) else ()):
            if isinstance(case, dict) and isinstance(case.get("when"), str):
                yield (*tool.route, "cases", index, "when"), case["when"]


def _span(subject: Subject, route: Route, text: str, start: int, end: int) -> Span | None:
    place, taken = subject.document.place.nearest(route)
    return span_inside(place, text, start, max(end, start + 1)) if taken == len(route) and text else None
