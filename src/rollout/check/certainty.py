"""What can be said of a primitive before any rollout: that it always passes, or that it never does."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rollout.check.calls import named_twice, unmakeable
from rollout.check.fields import fields_called, never_holds
from rollout.check.grading import (
    at_start,
    can_change,
    expected_calls,
    is_foreign,
    parsed,
    state_paths,
    writes,
)
from rollout.check.known import writes_are_known
from rollout.check.reach import cannot_be, dead_end
from rollout.check.subject import Item, Subject
from rollout.check.values import shown
from rollout.check.wording import quoted
from rollout.language.compare import compare
from rollout.language.paths import MISSING
from rollout.language.regex import compile_pattern
from rollout.source.place import At, Route

_PROBES = (
    "",
    "x",
    "0",
    " ",
    "\n",
    "é",
    "The order O-17 was refunded: 100.00 USD.\nAnything else?",
    "{}",
    "中文",
)


@dataclass(frozen=True, slots=True)
class Certain:
    """An outcome that does not depend on the rollout: which, why, and the part of the primitive that makes it so.

    ``turns`` says whether ``not`` turns it around; what cannot be judged passes neither way. ``hint`` is the way out,
    where it is not just to ask for something else.
    """

    passes: bool
    why: str
    below: Route = ()
    at: At = "value"
    turns: bool = True
    hint: str | None = None


def certain_outcome(subject: Subject, primitive: Item) -> Certain | None:
    """The primitive's outcome where it is certain, ``not`` applied; None where a rollout decides."""
    judge = _JUDGES.get(str(primitive.value.get("type")))
    if judge is None or not subject.is_sound(*primitive.route) or is_foreign(subject, primitive):
        return None
    found = judge(subject, primitive)
    if found is None or not found.turns or primitive.value.get("not") is not True:
        return found
    return replace(found, passes=not found.passes)


def _tool_call_count(subject: Subject, primitive: Item) -> Certain | None:
    least, most = primitive.value.get("min", 0), primitive.value.get("max")
    if most is not None and least > most:
        return Certain(False, f"min {least} is above max {most}", ("min",))
    if most is None and least == 0:
        return Certain(True, "every number of calls is 0 or more", ("min",))
    return None


def _output_matches(subject: Subject, primitive: Item) -> Certain | None:
    try:
        pattern = compile_pattern(str(primitive.value.get("pattern", "")))
    except re.error:
        return None
    # A pattern that is happy with nothing and with all of these is happy with everything.
    if all(pattern.search(probe) for probe in _PROBES):
        return Certain(True, "its pattern matches every text", ("pattern",))
    return None


def _output_json(subject: Subject, primitive: Item) -> Certain | None:
    if _takes_nothing(primitive.value.get("schema", True)):
        return Certain(False, "its schema takes no value at all", ("schema",))
    return None


def _takes_nothing(schema: Any) -> bool:
    """Whether a JSON Schema plainly refuses every value."""
    if not isinstance(schema, dict):
        return schema is False
    parts = schema.get("allOf")
    if isinstance(parts, list) and any(map(_takes_nothing, parts)):
        return True
    ways = [schema[key] for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list)]
    if any(way and all(map(_takes_nothing, way)) for way in ways):
        return True
    refused = schema.get("not", False)
    return refused is True or refused == {} or schema.get("enum") == []


def _state_match(subject: Subject, primitive: Item) -> Certain | None:
    if not subject.is_stateful or not _is_known(subject):
        return None
    expected: dict[str, Any] = primitive.value.get("expected") or {}
    contradiction = _length_contradiction(expected)
    if contradiction is not None:
        return contradiction
    made = writes(subject)
    options = {
        "ignore_order": primitive.value.get("ignoreOrder") is True,
        "tolerance": primitive.value.get("tolerance", 0.0),
        "subset": primitive.value.get("subset") is True,
    }
    paths = {text: path.steps for text in expected if (path := parsed(text)) is not None}
    if any(dead_end(subject, steps) is not None for steps in paths.values()):
        return None  # another rule says so
    if options["subset"] and (vacuous := _holds_of_all(subject, expected, paths)) is not None:
        return vacuous
    for text, steps in paths.items():
        if (
            can_change(made, steps)
            and (why := cannot_be(subject, steps, expected[text], options)) is not None
        ):
            return Certain(False, why, ("expected", text))
    held = 0
    for text, wanted in expected.items():
        path = parsed(text)
        if path is None or can_change(made, path.steps):
            return None
        root = at_start(subject, path.steps[:1])
        if root is MISSING:
            return None  # the state has no such part: another rule says so
        found = at_start(subject, path.steps)
        if compare(wanted, found, **options) is not None:
            if not subject.writable.is_clear:
                return None  # a tool writes where there is nothing, and may have been meant for this
            why = (
                f"no tool makes {quoted(text)}, and it is not there at the start"
                if found is MISSING
                else f"no tool changes {quoted(text)}, and at the start it is another value"
            )
            return Certain(False, why, ("expected", text), "key")
        held += 1
    return (
        Certain(True, "it holds at the start, and no tool changes what it looks at", ("expected",), "key")
        if held
        else None
    )


def _holds_of_all(
    subject: Subject, expected: dict[str, Any], paths: dict[str, tuple[str | int, ...]]
) -> Certain | None:
    """Says so where all that is expected is in every list or object, and there only are such where it is looked for."""
    for text, wanted in expected.items():
        if (
            wanted not in ([], {})
            or text not in paths
            or type(at_start(subject, paths[text])) is not type(wanted)
        ):
            return None
        if any(write.replaces(paths[text]) for write in writes(subject)):
            return None
    text, wanted = next(iter(expected.items()))
    return Certain(
        True,
        f"with “subset”, every {'list' if wanted == [] else 'object'} holds what an empty one holds",
        ("expected", text),
        hint="Name what has to be there, or take “subset” away, so that nothing else may be there.",
    )


def _is_known(subject: Subject) -> bool:
    return subject.is_sound("config", subject.state_key) and writes_are_known(subject)


def _length_contradiction(expected: dict[str, Any]) -> Certain | None:
    lengths = {
        text.removesuffix(".length"): wanted for text, wanted in expected.items() if text.endswith(".length")
    }
    for text in expected:
        match = re.match(r"(?P<list>.+?)\[(?P<index>[0-9]{1,9})\]", text)
        length = lengths.get(match["list"]) if match else None
        if (
            match
            and isinstance(length, int)
            and not isinstance(length, bool)
            and int(match["index"]) >= length
        ):
            return Certain(
                False,
                f"{quoted(text)} is beyond the length of {length} that it asks for too",
                ("expected", text),
                "key",
            )
    return None


def _state_unchanged(subject: Subject, primitive: Item) -> Certain | None:
    if not subject.is_stateful or not _is_known(subject):
        return None
    made = writes(subject)
    paths = [parsed(text) for _, text in state_paths(primitive)]
    if "paths" not in primitive.value:
        return None if made else Certain(True, "no tool changes the state", ("type",))
    if any(path is None or can_change(made, path.steps) for path in paths):
        return None
    if any(path is not None and at_start(subject, path.steps[:1]) is MISSING for path in paths):
        return None  # the state has no such part: another rule says so
    return Certain(True, "no tool changes what it looks at", ("paths",), "key")


def _called(subject: Subject, primitive: Item) -> Certain | None:
    args = primitive.value.get("args")
    tool = subject.known_tools.get(str(primitive.value.get("tool")))
    if not isinstance(args, dict) or tool is None:
        return None
    # Of a call that is named in part, the arguments are named in full.
    names_all = primitive.value.get("type") == "tool_was_called"
    required = tool.parameters.schema.get("required", ())
    call = {
        "args": args,
        "optional": {} if names_all else {name: [] for name in required if name not in args},
    }
    found = unmakeable(tool, call, partly=False, tolerance=primitive.value.get("tolerance", 0))
    return None if found is None else Certain(False, found.why, found.below, found.at, hint=found.hint)


def _calls_match(subject: Subject, primitive: Item) -> Certain | None:
    tools = subject.known_tools
    for index, call in enumerate(expected_calls(primitive)):
        twice, route = named_twice(call), ("calls", index)
        if twice is not None:
            return Certain(False, twice.why, (*route, *twice.below), twice.at, False, twice.hint)
        tool = tools.get(str(call.get("tool")))
        if tool is None:
            continue
        found = unmakeable(
            tool,
            call,
            partly=primitive.value.get("subset") is True,
            tolerance=primitive.value.get("tolerance", 0),
        )
        if found is not None:
            return Certain(False, found.why, (*route, *found.below), found.at, hint=found.hint)
    return None


def _element_value(subject: Subject, primitive: Item) -> Certain | None:
    name, url = primitive.text("element"), primitive.text("page")
    if subject.template != "browser" or name is None or not subject.is_sound("config", "pages"):
        return None
    why = None
    for page in subject.pages:
        if url is not None and page.text("url") != url:
            continue
        found, by_id = fields_called(page, name)
        if found:
            why = never_holds(found, primitive.value.get("value"), by_id=by_id)
            if why is None:
                return None
    if why is None:
        return None  # there is no such field: another rule says so
    told = f"{quoted(name)} is never {shown(primitive.value.get('value'))}: {why}"
    return Certain(False, told, ("value",))


_JUDGES: dict[str, Callable[[Subject, Item], Certain | None]] = {
    "tool_call_count": _tool_call_count,
    "output_json": _output_json,
    "output_matches": _output_matches,
    "state_match": _state_match,
    "state_unchanged": _state_unchanged,
    "tool_was_called": _called,
    "tool_called_with": _called,
    "calls_match": _calls_match,
    "element_value": _element_value,
}

__all__ = ["Certain", "certain_outcome"]
