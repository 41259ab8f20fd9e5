"""A tool writes to a part of the state that is of the wrong kind.

Adding needs a list, and a path needs an object at each step before its last. Where the start state has a number or a
text instead, the call fails every time.

Before:

    tools:
      - {name: refund, kind: action, stateArray: refunds}
    initialMutableState: {refunds: {}}

After:

    tools:
      - {name: refund, kind: action, stateArray: refunds}
    initialMutableState: {refunds: []}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import Write, follow, meet
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.paths import kind, write

CODE = "RL335"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        for each in tool.writes:
            said = _judge(subject, each)
            if said is not None:
                message, hint = said
                yield Finding(each.route, f"The tool {tool} {message}", hint)


def _judge(subject: Subject, change: Write) -> tuple[str, str | None] | None:
    if _is_replaced(subject, change):
        return None
    path = change.path
    reached, taken = follow(subject.initial_state, path)
    if not reached or not path.pieces:
        return None
    if taken == len(path.pieces):
        if change.appends and not any(isinstance(value, list) for value in reached):
            return (
                f"adds to {quoted(path.text.removesuffix('[]'))}, which is {kind(reached[0])}, not a list.",
                f"Make it a list in {subject.state_key}: [].",
            )
        return None
    if taken == 0 or any(isinstance(value, dict | list) for value in reached):
        return None
    home = write(path.known[:taken]) if taken <= len(path.known) else path.text
    return f"writes inside {quoted(home)}, which is {kind(reached[0])}: {quoted(path.text)}.", (
        f"Make {quoted(home)} an object in {subject.state_key}, or shorten the path."
    )


def _is_replaced(subject: Subject, change: Write) -> bool:
    """Whether some tool sets what this one writes to, or what holds it, to another value."""
    size = len(change.path.pieces)
    return any(
        not other.appends
        and other.route != change.route
        and len(other.path.pieces) <= size
        and meet(other.path, change.path, len(other.path.pieces))
        for other in subject.writes
    )
