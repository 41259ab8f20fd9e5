"""A condition that cannot be understood, or never told.

`when` is a condition in CEL, the Common Expression Language: `state.order.status == "delivered"`,
`args.amount <= state.order.total && size(state.refunds) == 0`. It sees `args`, `state` and `task`, in a tool also
`vars`, and has to come to true or false. One that cannot be read, or that asks for a part of the state that is never
there, could never be true. The `vars` of a tool are written in CEL as well, and come to any value.

Before:

    when: state.cart.length > 0 and state.open

After:

    when: size(state.cart) > 0 && state.open
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rollout.check.finding import Finding
from rollout.check.known import keys_are_known, writes_are_known
from rollout.check.site import elements, possible_state
from rollout.check.subject import Subject
from rollout.check.tool_view import may_be_made
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity, Span
from rollout.language.paths import nearest
from rollout.language.tool_texts import expressions
from rollout.source.inside import span_inside
from rollout.source.place import Route

if TYPE_CHECKING:
    from rollout.language.cel import Condition
    from rollout.language.cel_tokens import Name

CODE = "RL340"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for route, text, in_tool in _conditions(subject):
        # Loaded only where there is a condition.
        from rollout.language.cel import ROOTS, TOOL_ROOTS, MalformedConditionError, parse

        try:
            condition = parse(text, TOOL_ROOTS if in_tool else ROOTS)
        except MalformedConditionError as error:
            span = _span(subject, route, text, error.start, error.end)
            yield Finding(route, error.message, error.hint, span=span)
            continue
        if not condition.looks and route[-1] == "when" and (why := _no_truth(condition)) is not None:
            yield Finding(route, why, "Compare something with it, or leave the condition out.")
        for name in condition.names:
            end = _dead_end(subject, name)
            if end is not None:
                taken, known = end
                shown = ".".join((name.root, *name.steps[: taken + 1]))
                yield Finding(
                    route,
                    f"{quoted(shown)} is never there, so this {_NOUN[route[-1] == 'when']}.",
                    _way_out(name.steps[taken], known),
                    span=_span(subject, route, text, name.start, name.start + len(shown)),
                )


_NOUN = {True: "condition can never be told", False: "can never be worked out"}


def _no_truth(condition: Condition) -> str | None:
    """Why a condition that looks at nothing is neither true nor false; None where it is one of them."""
    from rollout.language.cel import ConditionError

    try:
        condition.holds({})
    except ConditionError as error:
        return str(error)
    return None


def _dead_end(subject: Subject, name: Name) -> tuple[int, frozenset[str]] | None:
    """At which step nothing is ever found, and the names that there are instead; None where something may be."""
    if name.root != "state" or (state := _state(subject)) is None or name.key is None:
        return None
    if name.key not in state:
        return 0, state
    if subject.template == "browser":
        return None
    here, taken = nearest(subject.initial_state, name.steps)
    if taken == 0 or taken == len(name.steps) or not isinstance(here, dict):
        return None
    return None if may_be_made(subject.writes, name.steps) else (taken, frozenset(here))


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


def _conditions(subject: Subject) -> Iterator[tuple[Route, str, bool]]:
    """Every expression: where it stands, its text, and whether it is a tool's."""
    for page in subject.pages if subject.template == "browser" else ():
        for element in elements(page):
            if element.offsets is None and (text := element.text("when")) is not None:
                yield (*element.route, "when"), text, False
    for tool in subject.tools:
        for place, text in expressions(tool.value):
            yield (*tool.route, *place), text, True


def _span(subject: Subject, route: Route, text: str, start: int, end: int) -> Span | None:
    place, taken = subject.document.place.nearest(route)
    return span_inside(place, text, start, max(end, start + 1)) if taken == len(route) and text else None
