"""A verifier's primitive looks at a part of the state that is never there.

The path's first key is not in the start state, and no tool makes it; a list that tools append to has no such part, or
none of its rows such a field; or the text is no path at all. In a sql environment there is no state unless it may be
written to (`readOnly: false`), in code-editing only `files`. `state_match` then fails every rollout, and under
`not: true` passes every one.

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
from rollout.language.paths import PathError, Step, parse
from rollout.source.place import At

CODE = "RL502"
SEVERITY = Severity.ERROR

_OF_A_DATABASE = ("tables", "others", "changes")
"""What there is in the final state of a sql environment that may be written to."""


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
            if (why := _no_state(subject, steps[0])) is not None:
                yield Finding(route, f"Nothing is ever at {quoted(text)}: {why[0]}.", why[1], at=at)
                continue
            if not subject.is_stateful or not is_known:
                continue
            made = writes(subject) if made is None else made
            root = steps[0]
            if root in subject.initial_state or can_change(made, (root,)):
                if (end := dead_end(subject, steps)) is not None:
                    yield Finding(
                        route,
                        f"Nothing is ever at {quoted(text)}: {end.why}.",
                        did_you_mean(end.step, end.names, kind="parts")
                        or f"Leave out {quoted(end.step)} and what follows it.",
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


def _no_state(subject: Subject, root: Step) -> tuple[str, str] | None:
    """Why a template that has no state of its author's has nothing at ``root``, and the way out."""
    if subject.template == "sql":
        if subject.document.value.get("readOnly") is not False:
            return (
                "an agent cannot change this database, so it has no state",
                "Judge the answer, with sql_result.",
            )
        if root not in _OF_A_DATABASE:
            return "the state of a database is its “tables”", "Look at them with sql_result, or at “tables”."
    if subject.template == "code-editing" and root != "files":
        return (
            "the state of a code-editing environment has nothing but “files”",
            "Look at them with files_match or command_passes.",
        )
    return None
