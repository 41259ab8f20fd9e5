"""A call that a ground truth expects is one that no agent can make, or no call at all.

A `calls_match` with `groundTruth` takes the expected calls from each task. A call of a tool that there is not, with an
argument that the tool does not take, or with a value that its parameters refuse, never comes to a tool, so that nobody
can pass the task. What is no list of calls cannot be judged; an empty one can where `expectNone: true` says that it may
be right to call nothing.

Before:

    # refund takes {order_id: string, amount: number}; verifier: {name: calls, type: calls_match, groundTruth: calls}
    hidden_ground_truth: {calls: [{tool: refund, args: {order: O-1, amount: "100"}}]}

After:

    hidden_ground_truth: {calls: [{tool: refund, args: {order_id: O-1, amount: 100}}]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rollout.check.calls import ARGUMENTS, named_twice, unmakeable
from rollout.check.finding import Finding
from rollout.check.grading import ground_truth_path, parsed
from rollout.check.known import names_are_known
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView
from rollout.check.values import described, shown
from rollout.check.wording import closest, did_you_mean, quoted
from rollout.diagnostics import Severity
from rollout.language.paths import MISSING, Step, get
from rollout.source.document import TaskRecord
from rollout.source.place import Route

CODE = "RL313"
SEVERITY = Severity.ERROR

_KEYS = ("tool", *ARGUMENTS)


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    looked: list[tuple[tuple[Step, ...], dict[str, Any]]] = []
    for primitive in subject.primitives:
        written = ground_truth_path(primitive)
        if primitive.value.get("type") == "calls_match" and written and (path := parsed(written)) is not None:
            looked.append((path.steps, primitive.value))
    if not looked or not subject.is_sound("verifier"):
        return None
    are_known = subject.tools_are_known and names_are_known(subject, "config", "tools")
    known = subject.tool_names if subject.template is not None and are_known else None
    tools = subject.known_tools

    def judge(record: TaskRecord) -> Iterator[Finding]:
        truth = record.ground_truth
        for steps, options in looked:
            calls = get(truth, steps)
            route = ("tasks", record.index, record.truth_key, *steps)
            if calls is MISSING:
                continue  # another rule says so
            if calls == [] and options.get("expectNone") is True:
                continue
            if not isinstance(calls, list) or not calls:
                name = quoted(str(options.get("name")))
                yield Finding(
                    route,
                    f"The ground truth has {described(calls)} here; {name} wants a list of calls.",
                    "Write them as {tool: …, args: {…}}; where no call is right, say expectNone: true in the primitive."
                    if calls == []
                    else "Write them as {tool: …, args: {…}}.",
                )
                continue
            for index, call in enumerate(calls):
                found = _shape(call, (*route, index)) or _judge(call, (*route, index), known, tools, options)
                if found is not None:
                    yield found

    return judge


def _shape(call: Any, route: Route) -> Finding | None:
    """What makes ``call`` none that can be judged."""
    if not isinstance(call, dict):
        return Finding(
            route, f"An expected call is {described(call)}, not an object.", "Write {tool: …, args: {…}}."
        )
    for key in call:
        if key not in _KEYS and not key.startswith("x-"):
            near = closest(key, _KEYS) or {"name": "tool", "arguments": "args", "function": "tool"}.get(key)
            return Finding(
                (*route, key),
                f"An expected call has no {quoted(key)}.",
                f"Did you mean {quoted(near)}?"
                if near
                else "It has “tool”, and may have “args”, “anyOf” and “optional”.",
                at="key",
            )
    if not isinstance(call.get("tool"), str):
        return Finding(
            (*route, "tool"),
            "An expected call does not say which tool is called.",
            "Write {tool: …, args: {…}}.",
        )
    for key in ARGUMENTS:
        named = call.get(key, {})
        if not isinstance(named, dict):
            return Finding(
                (*route, key),
                f"{quoted(key)} of an expected call is {described(named)}, not an object.",
                f"Write {key}: {{parameter: {'value' if key == 'args' else '[value, …]'}}}.",
            )
        for name, values in named.items() if key != "args" else ():
            if not isinstance(values, list) or (key == "anyOf" and not values):
                return Finding(
                    (*route, key, name),
                    f"{quoted(name)} in {quoted(key)} is {described(values)}; a list of values is expected.",
                    f"Write [{shown(values)}]." if not isinstance(values, list | dict) else None,
                )
    if (twice := named_twice(call)) is not None:
        return Finding(
            (*route, *twice.below), f"{twice.why[0].upper()}{twice.why[1:]}.", twice.hint, at=twice.at
        )
    return None


def _judge(
    call: dict[str, Any],
    route: Route,
    known: frozenset[str] | None,
    tools: dict[str, ToolView],
    options: dict[str, Any],
) -> Finding | None:
    name = call["tool"]
    if known is not None and name not in known:
        return Finding(
            (*route, "tool"),
            f"There is no tool {quoted(name)} in this environment.",
            did_you_mean(name, sorted(known), kind="tools"),
        )
    if name not in tools:
        return None
    partly, tolerance = options.get("subset") is True, options.get("tolerance", 0)
    found = unmakeable(tools[name], call, partly=partly, tolerance=tolerance)
    if found is None:
        return None
    return Finding(
        (*route, *found.below),
        f"No agent can make this call: {found.why}.",
        found.hint or "Expect a call that the tool takes.",
        at=found.at,
    )
