"""A tool adds to a list that the state does not have.

The start state declares the lists that tools add to (`initialMutableState: {refunds: []}`). One that is not there is
nearly always misspelt: the rows land in a list that no ground truth and no other tool looks at, and every task fails
for a reason that no trace shows.

Before:

    tools:
      - {name: refund, kind: action, stateArray: refund}
    initialMutableState: {refunds: []}

After:

    tools:
      - {name: refund, kind: action, stateArray: refunds}
    initialMutableState: {refunds: []}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import Write, follow, keys_of, meet, step_of
from rollout.check.wording import did_you_mean, quoted, suggestion
from rollout.diagnostics import Severity

CODE = "RL334"
SEVERITY = Severity.ERROR

_NAMES_OF_THE_STATE = frozenset({"state", "initialState", "initialMutableState", "final_state"})


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.is_sound("config", subject.state_key):
        return
    state = subject.initial_state
    for tool in subject.tool_views:
        for write in tool.writes:
            if not write.appends:
                continue
            reached, taken = follow(state, write.path)
            if taken == len(write.path.pieces) or taken in write.path.filled:
                continue
            if not any(isinstance(value, dict) for value in reached) or _is_made(subject, write, taken):
                continue
            name = str(step_of(write.path.pieces[taken]))
            keys = keys_of(reached)
            hint = did_you_mean(name, keys, kind="keys of the state" if not taken else "keys there")
            if not taken and name in _NAMES_OF_THE_STATE and len(write.path.pieces) > 1:
                # A path starts inside the state.
                name = str(step_of(write.path.pieces[1]))
                hint = suggestion(name, write.path.text) if name in keys else None
            if hint is None or not hint.startswith("Did"):
                hint = _declaration(subject, name) if not taken else hint
            yield Finding(
                write.route,
                f"The tool {tool} adds to {quoted(write.path.text.removesuffix('[]'))}, "
                "but the start state has no such list.",
                hint,
            )


def _declaration(subject: Subject, name: str) -> str:
    if subject.state_key in subject.config:
        return f"Add it to {quoted(subject.state_key)}: {name}: []."
    return f"Declare it: {subject.state_key}: {{{name}: []}}."


def _is_made(subject: Subject, own: Write, taken: int) -> bool:
    """Whether another tool sets what is missing, so that it is there by the time this one is called."""
    return any(
        not other.appends
        and other.route != own.route
        and meet(other.path, own.path, min(len(other.path.pieces), taken + 1))
        for other in subject.writes
    )
