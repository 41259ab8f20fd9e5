"""A tool writes to a part of the state that is of the wrong kind.

Adding needs a list, and a path needs an object at each step before its last. Where the start state has a number or a
text instead, and no tool puts anything else there, the call fails every time. So does a write to an item that a list
does not have, or to a name in it.

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
from rollout.check.standing import Standing, Standings
from rollout.check.subject import Subject
from rollout.check.tool_view import Write, step_of
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.path_template import PathTemplate
from rollout.language.paths import Step, index_of, write

CODE = "RL335"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    standings = Standings(subject)
    for tool in subject.tool_views:
        for each in tool.writes:
            said = _judge(subject, standings, each)
            if said is not None:
                message, hint = said
                yield Finding(each.route, f"The tool {tool} {message}", hint)


def _judge(subject: Subject, standings: Standings, change: Write) -> tuple[str, str | None] | None:
    path = change.path
    for number, piece in enumerate(path.pieces):
        if number == 0:
            continue  # the state itself is an object
        home = standings.at(path, number)
        if home is None:
            return None
        if said := _inside(subject, path, number, None if number in path.filled else step_of(piece), home):
            return said
    whole = standings.at(path, len(path.pieces)) if change.appends and path.pieces else None
    if whole is not None and not whole.may_be(list):
        return (
            f"adds to {quoted(path.text.removesuffix('[]'))}, which is {' or '.join(whole.kinds)}, not a list.",
            f"Make it a list in {subject.state_key}: [].",
        )
    return None


def _inside(
    subject: Subject, path: PathTemplate, number: int, step: Step | None, home: Standing
) -> tuple[str, str | None] | None:
    """What keeps a tool from writing at ``step`` of what may stand there; None for a step that is filled in."""
    index = None if step is None else index_of(step)
    if home.may_be(dict) and not isinstance(step, int):
        return None
    is_in_list = home.may_be(list) and (step is None or index is not None)
    if is_in_list and (index is None or home.longest is None or index < home.longest):
        return None
    name = _written(path, number)
    if is_in_list:
        has = f"has only {home.longest} item{'s' * (home.longest > 1)}" if home.longest else "is empty"
        return (
            f"writes to item {index} of {quoted(name)}, which {has}, and no tool adds to it: {quoted(path.text)}.",
            f"Write {quoted(f'{name}[]')} to add to it.",
        )
    if home.may_be(list):
        hint = f"Write {quoted(f'{name}[]')} to add to it, or make it an object in {subject.state_key}."
    elif home.may_be(dict):
        hint = f"Write a name, as in {quoted(f'{name}.a')}, or make it a list in {subject.state_key}."
    else:
        hint = f"Make {quoted(name)} an object in {subject.state_key}, or shorten the path."
    return f"writes inside {quoted(name)}, which is {' or '.join(home.kinds)}: {quoted(path.text)}.", hint


def _written(path: PathTemplate, number: int) -> str:
    """The first steps of a path, as they are written."""
    if number <= len(path.known):
        return write(path.known[:number])
    steps = ([step] if isinstance(step, int) else step for step in path.pieces[:number])
    return ".".join("".join(str(each) for each in step) for step in steps)
