"""Placeholders that were meant to work something out: ``${args.amount * 100}``, ``${round(state.total)}``.

A placeholder names a value by its path. Nearly any character may be in a key, so such a text is often a path all the
same; the two are told apart by its signs, and by what is there and what is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView, may_be_made
from rollout.check.wording import closest, quoted
from rollout.language.paths import nearest
from rollout.language.placeholders import ROOTS, Fault, Placeholder
from rollout.source.place import At, Route

_VALUE = r"(?:\d|[\"']|(?:true|false|null|none|nil|undefined)\b)"
# What no path holds unless somebody set out to name a key so.
_CERTAIN = re.compile(
    rf"""[+*%<>=!&|?(,\s]\s*(?:{"|".join(ROOTS)})[.\[]
        |&&|\|\||\?\?|[=!<>]=|:[-+=?]|\*\*
        |\w\(
        |^[!(+~-]
        |\s[*%<>=|?^]\s
        |\s(?:[-+/:]|and|or|in|if|else|is|not)\s+{_VALUE}
        |(?:\d|["'])\s+[-+/:]\s
        |(?:^|[\s(+,?:=|])(?:"[^"]*"|'[^']*')""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED_KEY = re.compile(r"\[\s*(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')\s*\]")
_SIGN = re.compile(r"\s*[-+*/%<>=!&|?~^(:]")
_NO_NAME = re.compile(r"\w\s*[+*%<>=!|?^~(]")
_FIRST = re.compile(r"[^.\[]*")

_WAYS_OUT: Final = {
    "custom": "Work it out under “vars” of the tool, as in “total: double(args.price) * 2.0”, and write "
    "“${vars.total}” here; “cases” choose by a condition.",
    "workflow": "A workflow does not calculate: let a parameter bring the value, keep it in the fixtures, or use the "
    "template custom, whose tools have “vars” and “cases”.",
    "browser": "A site does not calculate: write the value itself, or keep it in the state as it is to be shown.",
}


@dataclass(frozen=True, slots=True)
class Calculation:
    """One of them: where the ``text`` is that it stands in, from where to where, and what it was read as."""

    route: Route
    at: At
    text: str
    start: int
    end: int
    parts: frozenset[str | Fault]

    @property
    def written(self) -> str:
        """The placeholder as it is written."""
        return self.text[self.start : self.end]


def complaint(written: str) -> str:
    """What is wrong with a placeholder that calculates, in a sentence."""
    return f"{quoted(written)} calculates, but a placeholder only names a value, by its path."


def way_out(template: str | None) -> str | None:
    """What an author can do instead in an environment of ``template``."""
    return _WAYS_OUT.get(template or "")


def calculations(subject: Subject, tool: ToolView) -> Iterator[Calculation]:
    """Those in the texts of a tool that are filled in, each once: what stands in its brackets is a part of it."""
    known = (*tool.parameters.names, *subject.initial_state, *subject.fixtures)
    for spot in tool.spots:
        at: At = "key" if spot.is_key else "value"
        text = spot.interpolation.text
        for fault in spot.interpolation.faults:
            if (around := malformed(text, fault, known)) is not None:
                yield Calculation(spot.route, at, text, *around, frozenset({fault}))
        for placeholder in spot.interpolation.placeholders:
            looks = (placeholder, *placeholder.inner)
            if any(_is_meant(subject, tool, each) for each in looks):
                read_as = frozenset(each.text for each in looks)
                yield Calculation(spot.route, at, text, placeholder.start, placeholder.end, read_as)


def malformed(text: str, fault: Fault, known: Collection[str]) -> tuple[int, int] | None:
    """From where to where the placeholder around a fault is, where it was meant to calculate with one of the ``known``
    or with anything."""
    start = fault.start if text.startswith("${", fault.start) else text.rfind("${", 0, fault.start)
    end = text.find("}", fault.start)
    if start < 0 or end < 0 or "${" in (inside := text[start + 2 : end]):
        return None
    first = _FIRST.match(inside.strip())
    is_meant = is_calculation(inside) or (first is not None and goes_on(first[0], known))
    return (start, end + 1) if is_meant else None


def is_calculation(inside: str) -> bool:
    """Whether what stands between the braces is an expression by its signs alone, unless there is such a key."""
    return _CERTAIN.search(_QUOTED_KEY.sub("[0]", inside).strip()) is not None


def goes_on(name: str, known: Collection[str]) -> bool:
    """Whether ``name`` is one of ``known`` with a sign behind it, such as ``amount*100``, and none of them itself."""
    if name in known or _SIGN.search(name) is None:
        return False
    return any(each and name.startswith(each) and _SIGN.match(name, len(each)) for each in known)


def is_beyond(placeholder: Placeholder, data: Mapping[str, Any], *, may_be_made: bool) -> bool:
    """Whether a placeholder for a part of ``data`` calculates with it instead, since there is no such part."""
    here, taken = nearest(data, placeholder.steps)
    is_certain = is_calculation(placeholder.text[2:-1])
    if taken == len(placeholder.steps):
        return is_certain and bool(placeholder.rest)
    step = placeholder.steps[taken]
    if any(isinstance(each, str) and _SIGN.search(each) for each in placeholder.steps[:taken]):
        return False
    if not isinstance(here, dict) or not isinstance(step, str):
        return is_certain
    if (near := closest(step, list(here))) is not None and _SIGN.search(near):
        return False
    return is_certain or (not may_be_made and goes_on(step, here))


def _is_meant(subject: Subject, tool: ToolView, placeholder: Placeholder) -> bool:
    steps = placeholder.steps
    if placeholder.root in ("state", "fixtures"):
        in_state = placeholder.root == "state"
        data = subject.initial_state if in_state else subject.fixtures
        is_made = in_state and may_be_made(subject.writes, steps)
        return is_beyond(placeholder, data, may_be_made=is_made)
    is_certain = is_calculation(placeholder.text[2:-1])
    if placeholder.root == "task" or not steps:
        return is_certain
    name = str(steps[0])
    if placeholder.root == "vars":
        names: Collection[str] = tool.variables
    else:
        names = () if tool.parameters.form == "inferred" else tool.parameters.names
    if name in names:
        return is_certain and len(steps) + len(placeholder.rest) > 1
    if placeholder.root == "args" and not tool.is_declared and _NO_NAME.search(name):
        return True
    return is_certain or goes_on(name, names)


__all__ = [
    "Calculation",
    "calculations",
    "complaint",
    "goes_on",
    "is_beyond",
    "is_calculation",
    "malformed",
    "way_out",
]
