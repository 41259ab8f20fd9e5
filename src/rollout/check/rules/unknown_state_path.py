"""A verifier's primitive looks at a part of the state that is never there.

The path's first key is not in the start state, and no tool makes it; a list that tools append to has no such part, or
none of its rows such a field; or the text is no path at all. `state_match`
then fails every rollout, and under `not: true` passes every one.

Before:

    initialMutableState: {refunds: []}
    # verifier
    expected: {refund.length: 1}

After:

    expected: {refunds.length: 1}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.grading import can_change, state_paths, writes
from rollout.check.known import keys_are_known, writes_are_known
from rollout.check.reach import dead_end
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity
from rollout.language.paths import PathError, parse
from rollout.source.place import At

CODE = "RL502"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    made = None
    is_known: bool | None = None
    for primitive in subject.primitives:
        for route, text in state_paths(primitive):
            at: At = "key" if route[-2] == "expected" else "value"
            try:
                steps = parse(text).steps
            except PathError as error:
                yield Finding(route, f"{quoted(text)} is no path: {error.message}", error.hint, at=at)
                continue
            if is_known is None:
                is_known = keys_are_known(subject, "config", subject.state_key) and writes_are_known(subject)
            if not subject.is_stateful or not is_known:
                continue
            made = writes(subject) if made is None else made
            root = steps[0]
            if root in subject.initial_state or can_change(made, (root,)):
                if (end := dead_end(subject, steps)) is not None:
                    yield Finding(
                        route,
                        f"Nothing is ever at {quoted(text)}: {end.why}.",
                        did_you_mean(end.step, end.names, kind="parts"),
                        at=at,
                    )
                continue
            yield Finding(
                route,
                f"Nothing is ever at {quoted(text)}: the state has no {quoted(str(root))}, and no tool makes it.",
                did_you_mean(str(root), sorted(map(str, subject.initial_state)), kind="parts of the state")
                or f"Add it to {subject.state_key}.",
                at=at,
            )
