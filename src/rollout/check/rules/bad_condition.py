"""A condition that cannot be understood, or never told.

`when` is a condition in CEL, the Common Expression Language: `state.order.status == "delivered"`,
`args.amount <= state.order.total && size(state.refunds) == 0`. It sees `args`, `state` and `task`, and has to come to
true or false. One that cannot be read, or that asks for a part of the state that is never there, could never be true.

Before:

    when: state.cart.length > 0 and state.open

After:

    when: size(state.cart) > 0 && state.open
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.known import keys_are_known, writes_are_known
from rollout.check.site import elements, possible_state
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
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
            names = parse(text).names
        except MalformedConditionError as error:
            span = _span(subject, route, text, error.start, error.end)
            yield Finding(route, error.message, error.hint, span=span)
            continue
        for name in names:
            if name.root == "state" and (state := _state(subject)) is not None and name.key not in state:
                yield Finding(
                    route,
                    f"{quoted(text[name.start : name.end])} is never there, so this condition can never be told.",
                    _way_out(name.key, state),
                    span=_span(subject, route, text, name.start, name.end),
                )


def _state(subject: Subject) -> frozenset[str] | None:
    if subject.template == "browser":
        return possible_state(subject)
    is_known = keys_are_known(subject, "config", subject.state_key) and writes_are_known(subject)
    if not is_known or not all(write.path.known for write in subject.writes):
        return None
    return frozenset(subject.initial_state) | {str(write.path.known[0]) for write in subject.writes}


def _way_out(key: str, state: frozenset[str]) -> str | None:
    near = did_you_mean(key, sorted(state), kind="parts of the state")
    return near or "Ask with has(…) whether something is there, or give it a value in the start state."


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
