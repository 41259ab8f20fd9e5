"""A `${…}` that cannot be understood.

A placeholder is a path that starts with `args`, `state`, `fixtures` or `task.input`, in a tool that has them also with
`vars`: `${args.order_id}`, `${state.cart[0].sku}`, `${state.orders[args.order_id].status}`. Anything else cannot be
filled in, so the tool would fail on every call. To write the two characters `${` themselves, double the dollar sign:
`$${`.

A placeholder does not calculate: no sums, calls, comparisons or defaults. In `custom`, the `vars` of a tool work values
out, and its `cases` choose; a `workflow` has neither. Texts are put together by writing placeholders one after the
other. A key of the data that has such signs in it is quoted: `${state["R + D"]}`.

Before:

    mutates: {path: "sales[]", value: {id: "${order_id}", note: "${args.note", total: "${args.price * 2}"}}

After:

    vars: {total: double(args.price) * 2.0}
    mutates: {path: "sales[]", value: {id: "${args.order_id}", note: "${args.note}", total: "${vars.total}"}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rollout.check.calculations import complaint, way_out
from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView
from rollout.check.wording import closest, quoted
from rollout.diagnostics import Severity
from rollout.language.placeholders import ROOTS, Fault, parse
from rollout.source.place import At

CODE = "RL324"
SEVERITY = Severity.ERROR

_ROOTED = re.compile(r"\$\{\s*([A-Za-z_][\w-]*)((?:\.[^{}$\s]+|\[[^{}$\s]+)?)\s*\}")


def check(subject: Subject) -> Iterator[Finding]:
    for found in subject.calculations:
        span = subject.inside(found.route, found.text, found.start, found.end, found.at)
        yield Finding(
            found.route, complaint(found.written), way_out(subject.template), at=found.at, span=span
        )
    for tool in subject.tool_views:
        for spot in tool.spots:
            at: At = "key" if spot.is_key else "value"
            text = spot.interpolation.text
            for fault in spot.interpolation.faults:
                if subject.calculates(spot.route, fault):
                    continue
                hint = _guess(subject, tool, text, fault) or fault.hint
                span = subject.inside(spot.route, text, *fault.shown(text), at)
                yield Finding(spot.route, fault.message, hint, at=at, span=span)


def _guess(subject: Subject, tool: ToolView, text: str, fault: Fault) -> str | None:
    if text[fault.start - 1 : fault.start] == "[" and text[fault.start : fault.end] in tool.parameters.names:
        return f"Did you mean “[args.{text[fault.start : fault.end]}]”?"
    match = _ROOTED.match(text, fault.start)
    if match is None or match[1] in ROOTS:
        return None
    root, rest = match.groups()
    whole = root + rest
    if root in tool.parameters.names:
        meant = f"${{args.{whole}}}"
    elif root in ("input", "inputs"):
        meant = f"${{task.input{rest}}}"
    elif root in subject.initial_state:
        meant = f"${{state.{whole}}}"
    elif root in subject.fixtures:
        meant = f"${{fixtures.{whole}}}"
    elif rest and (near := closest(root, [*ROOTS, "params", "arguments"])) is not None:
        meant = f"${{{near if near in ROOTS else 'args'}{rest}}}"
    else:
        return None
    return f"Did you mean {quoted(meant)}?" if not parse(meant).faults else None
