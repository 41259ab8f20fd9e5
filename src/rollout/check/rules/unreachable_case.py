"""A case that never happens.

The cases of a tool are tried in order, and the first whose `when` is true is what happens. A case without `when` always
fits, so nothing behind it is ever reached, and neither are the tool's own `response` and `mutates`, which are for calls
that no case fits. Two cases with the same `when` are the same: the second is never reached.

Before:

    cases:
      - response: {ok: true}
      - when: args.amount > 100
        error: That is too much.

After:

    cases:
      - when: args.amount > 100
        error: That is too much.
      - response: {ok: true}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.diagnostics import Severity
from rollout.language.tool_texts import cases
from rollout.source.place import Route

CODE = "RL343"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        if not subject.is_sound(*tool.route):
            continue
        always: Route | None = None
        seen: dict[tuple[str, ...], Route] = {}
        for index, case in cases(tool.item.value):
            route: Route = (*tool.route, "cases", index)
            when = case.get("when")
            if always is not None:
                yield _finding(route, "This case is never reached: the one before it always fits.", always)
            elif tool.constant_cases.get(index) is False:
                yield Finding(
                    (*route, "when"), "This is never true, so the case never happens.", "Take it out."
                )
            elif isinstance(when, str) and (words := _words(when)) in seen:
                yield _finding(
                    route, "This case is never reached: one before it has the same “when”.", seen[words]
                )
            else:
                if isinstance(when, str):
                    seen[words] = route
                if "when" not in case or tool.constant_cases.get(index) is True:
                    always = route
        if always is not None:
            for key in ("response", "mutates"):
                if key in tool.item.value:
                    message = f"“{key}” of the tool {tool} is never used: a case always fits."
                    yield _finding((*tool.route, key), message, always, at_key=True)


def _finding(route: Route, message: str, other: Route, *, at_key: bool = False) -> Finding:
    hint = "Take out one of the two, or move the case without a condition to the end."
    return Finding(route, message, hint, at="key" if at_key else "value", see=((other, "this one"),))


def _words(when: str) -> tuple[str, ...]:
    from rollout.language.cel_tokens import tokens  # loaded only where there is an expression

    return tuple(token.text for token in tokens(when))
