"""A placeholder names state or fixture data that is never there.

`${state.…}` and `${fixtures.…}` are looked up when the tool is called. A path that leads nowhere at the start, and
that no tool makes, fails every call of the tool.

Before:

    response: {total: "${state.card.total}"}
    # initialState: {cart: {total: 0}}

After:

    response: {total: "${state.cart.total}"}
    # initialState: {cart: {total: 0}}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import may_be_made
from rollout.check.wording import closest, listed, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.language.paths import nearest, write
from rollout.language.placeholders import Placeholder
from rollout.source.place import At

CODE = "RL326"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        for spot, placeholder in tool.placeholders:
            if placeholder.root not in ("state", "fixtures") or not placeholder.steps:
                continue
            if subject.calculates(spot.route, placeholder.text):
                continue
            home = subject.state_key if placeholder.root == "state" else "fixtures"
            if subject.is_sound("config", home) and (said := _judge(subject, placeholder)) is not None:
                at: At = "key" if spot.is_key else "value"
                message, hint = said
                text = spot.interpolation.text
                span = subject.inside(spot.route, text, placeholder.start, placeholder.end, at)
                yield Finding(spot.route, message, hint, at=at, span=span)


def _judge(subject: Subject, placeholder: Placeholder) -> tuple[str, str | None] | None:
    in_state = placeholder.root == "state"
    root = subject.initial_state if in_state else subject.fixtures
    steps = placeholder.steps
    here, taken = nearest(root, steps)
    if taken == len(steps) or (in_state and may_be_made(subject.writes, steps)):
        return None
    what = "state" if in_state else "fixtures"
    message = f"{quoted(placeholder.text)} names a part of the {what} that is not there."
    if not isinstance(here, dict):
        return (
            message,
            f"{quoted(write(steps[:taken]))} has no {quoted(str(steps[taken]))}." if taken else None,
        )
    near = closest(str(steps[taken]), list(here))
    if near is not None:
        meant = write([*steps[:taken], near, *steps[taken + 1 :]])
        return message, suggestion(near, str(steps[taken]), f"${{{placeholder.root}.{meant}}}")
    home = f"{quoted(write(steps[:taken]))} has" if taken else f"The {what} {'has' if in_state else 'have'}"
    return message, f"{home} {listed(list(here)) if here else 'nothing in it'}."
