"""A tool changes a part of the state that is not there at the start.

A change makes what is missing, so a misspelt path is no error when the tool is called: it writes a new key beside the
one that was meant, the old value stays, and the task can never be passed. Correct the path, or, when the key is really
new, give it a value in the start state (`null` will do).

Before:

    mutates: {path: order.statuss, value: shipped}
    # initialState: {order: {status: open}}

After:

    mutates: {path: order.status, value: shipped}
    # initialState: {order: {status: open}}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import follow, keys_of, step_of
from rollout.check.wording import closest, listed, quoted, suggestion
from rollout.diagnostics import Severity

CODE = "RL336"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.is_sound("config", subject.state_key):
        return
    for tool in subject.tool_views:
        for write in tool.writes:
            if write.appends:
                continue
            path = write.path
            reached, taken = follow(subject.initial_state, path)
            if taken == len(path.pieces) or taken in path.filled:
                continue
            if not any(isinstance(value, dict) for value in reached):
                continue
            name = str(step_of(path.pieces[taken]))
            keys = keys_of(reached)
            near = closest(name, keys)
            if taken and near is None:
                # A new key in an object that is there is how a state grows: order.cancelled_at.
                continue
            has = f" It has {listed(keys)}." if keys else ""
            new = f"If it is new, give it a value in the start state: {subject.state_key}: {{{name}: null}}.{has}"
            yield Finding(
                write.route,
                f"The tool {tool} sets {quoted(path.text)}, but the start state has no {quoted(name)}"
                f"{' there' if taken else ''}.",
                suggestion(near, name) if near else new,
            )
