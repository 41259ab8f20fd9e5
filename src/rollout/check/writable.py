"""What tools may bring about in the state, worked out from their paths and values: why a value is never at a path.

Nothing is ever removed from the state, so what holds of every write, and of the start, holds at the end. Whatever is
filled in from the state, from variables or from arguments that are not declared may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from rollout.check.rows import argument_of
from rollout.check.subject import Subject
from rollout.check.tool_view import ARGUMENTS, ToolView, Write, follow, step_of
from rollout.check.values import described, shown
from rollout.check.wording import did_you_mean, quoted
from rollout.language.compare import compare, unmatched
from rollout.language.paths import MISSING, Step, get, write
from rollout.language.placeholders import parse

Terms = Mapping[str, Any]
"""The options of :func:`rollout.language.compare.compare` by which the final state is judged."""


class Unreached(NamedTuple):
    """Where a value is that the final state never has (steps from the state's root), and why, for a sentence."""

    steps: tuple[Step, ...]
    why: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class _Writer:
    tool: ToolView
    write: Write

    def may_write(self, wanted: Any, terms: Terms) -> bool:
        return _may_be(self.tool, self.write.value, wanted, terms)


class Writable:
    """All that the declared tools may write, prepared once for many questions."""

    def __init__(self, subject: Subject) -> None:
        self._state = subject.initial_state
        self._writers = [_Writer(tool, each) for tool in subject.tool_views for each in tool.writes]
        # What is written to a place that is not there at the start may have been meant for another.
        self.is_clear = all(
            follow(self._state, each.write.path)[1] == len(each.write.path.pieces) for each in self._writers
        )

    def unreached(self, steps: tuple[Step, ...], wanted: Any, terms: Terms) -> Unreached | None:
        """Why the final state never has ``wanted`` at ``steps``, whose first step is there; None where it may."""
        start = get(self._state, steps)
        if start is not MISSING and compare(wanted, start, **terms) is None:
            return None
        touching = [each for each in self._writers if _touches(each.write, steps)]
        depth = len(steps)
        here = [each for each in touching if len(each.write.path.pieces) == depth]
        inside = [each for each in touching if len(each.write.path.pieces) > depth]
        if len(here) + len(inside) < len(touching):
            return None  # what holds it is written as a whole
        if not touching:
            return _untouched(steps, start, wanted) if self.is_clear else None
        adding = [each for each in here if each.write.appends]
        setting = [each for each in here if not each.write.appends]
        if setting:
            return None if adding or inside else _never_set(steps, start, wanted, setting, terms)
        if adding:
            return None if inside else _never_added(steps, start, wanted, adding, terms)
        return self._unreached_inside(steps, start, wanted, terms)

    def _unreached_inside(
        self, steps: tuple[Step, ...], start: Any, wanted: Any, terms: Terms
    ) -> Unreached | None:
        name = quoted(write(steps))
        if isinstance(start, list):
            return None if isinstance(wanted, list) else _kept(steps, "a list", wanted)
        if not isinstance(start, dict):
            return None
        if not isinstance(wanted, dict):
            return _kept(steps, "an object", wanted)
        if self.is_clear and (surplus := self._made_by_nothing(steps, start, wanted)) is not None:
            return surplus
        if not terms["subset"] and (left := [key for key in start if key not in wanted]):
            return Unreached(steps, f"{name} always has {quoted(left[0])}, which this leaves out")
        for key, value in wanted.items():
            if (found := self.unreached((*steps, key), value, terms)) is not None:
                return found
        return None

    def _made_by_nothing(
        self, steps: tuple[Step, ...], start: dict[str, Any], wanted: dict[str, Any]
    ) -> Unreached | None:
        for key in wanted:
            place = (*steps, key)
            if key not in start and not any(_touches(each.write, place) for each in self._writers):
                why = f"no tool makes {quoted(write(place))}, and it is not there at the start"
                return Unreached(place, why, did_you_mean(key, list(start), kind="keys there"))
        return None


def _touches(change: Write, steps: tuple[Step, ...]) -> bool:
    """Whether a change may be at ``steps``, above or below: a step that is filled in later may be any."""
    return all(
        number in change.path.filled or str(step_of(piece)) == str(step)
        for number, (piece, step) in enumerate(zip(change.path.pieces, steps, strict=False))
    )


def _kept(steps: tuple[Step, ...], kind: str, wanted: Any) -> Unreached:
    return Unreached(
        steps, f"{quoted(write(steps))} is {kind} from start to end, and {described(wanted)} is none"
    )


def _untouched(steps: tuple[Step, ...], start: Any, wanted: Any) -> Unreached:
    name = quoted(write(steps))
    if start is MISSING:
        return Unreached(steps, f"no tool makes {name}, and it is not there at the start")
    return Unreached(steps, f"no tool changes {name}, which is {shown(start)} and never {shown(wanted)}")


def _never_set(
    steps: tuple[Step, ...], start: Any, wanted: Any, setting: list[_Writer], terms: Terms
) -> Unreached | None:
    if any(each.may_write(wanted, terms) for each in setting):
        return None
    name = quoted(write(steps))
    if all(_is_plain(each.write.value) for each in setting):
        told = [
            shown(each) for each in (start, *(each.write.value for each in setting)) if each is not MISSING
        ]
        return Unreached(steps, f"{name} is {' or '.join(dict.fromkeys(told))}, and never {shown(wanted)}")
    if len(setting) == 1 and (words := _refusal(setting[0], wanted)) is not None:
        return Unreached(steps, f"only {setting[0].tool} sets {name}, and takes no such value: {words}")
    tools = list(dict.fromkeys(str(each.tool) for each in setting))
    verb = "sets" if len(tools) == 1 else "set"
    return Unreached(steps, f"{' and '.join(tools)} never {verb} {name} to {shown(wanted)}")


def _never_added(
    steps: tuple[Step, ...], start: Any, wanted: Any, adding: list[_Writer], terms: Terms
) -> Unreached | None:
    name = quoted(write(steps))
    if start is not MISSING and not isinstance(start, list):
        return None  # another rule says that nothing can be added to it
    if not isinstance(wanted, list):
        why = f"{name} is a list that tools add to, and {described(wanted)} is none"
        return Unreached(steps, why)
    present = start if isinstance(start, list) else []
    for index, row in enumerate(wanted):
        if any(each.may_write(row, terms) for each in adding):
            continue
        if any(compare(row, each, **terms) is None for each in present):
            continue
        return Unreached((*steps, index), f"no tool adds {shown(row, 60)} to {name}")
    return left_out(steps, present, wanted, terms)


def left_out(
    steps: tuple[Step, ...], present: list[Any], wanted: list[Any], terms: Terms
) -> Unreached | None:
    """Why a list that tools only add to is never ``wanted``, since it begins with what is there at the start."""
    if terms["subset"] or wanted[: len(present)] == present:
        return None
    name = quoted(write(steps))
    lacking = unmatched(present, wanted, lambda one, other: compare(other, one, **terms) is None)
    if lacking is not None:
        item = shown(present[lacking], 60)
        why = f"{name} has {item} from the start, which nothing takes away and this leaves out"
        return Unreached(steps, why, "Add it here: the ground truth is the whole list as it is at the end.")
    if terms["ignore_order"] or compare(wanted[: len(present)], present, **terms) is None:
        return None
    why = f"{name} begins with {shown(present[0], 60)}, which is there at the start; what is added comes behind it"
    return Unreached(steps, why, "Put what is there at the start first, or compare with “ignoreOrder: true”.")


def _refusal(writer: _Writer, wanted: Any) -> str | None:
    """What the parameter whose value is written has against ``wanted``."""
    name = argument_of(writer.write.value)
    return None if name is None else writer.tool.refusal(name, wanted)


def _is_plain(value: Any) -> bool:
    return (
        value is None
        or isinstance(value, bool | int | float)
        or (isinstance(value, str) and "$" not in value)
    )


def _may_be(tool: ToolView, value: Any, wanted: Any, terms: Terms) -> bool:
    """Whether what ``tool`` writes as ``value`` may come to ``wanted``."""
    if value is ARGUMENTS or value == "${args}":
        return _may_be_arguments(tool, wanted, terms)
    if isinstance(value, str) and "$" in value:
        parsed = parse(value)
        if parsed.faults or not parsed.placeholders:
            return True
        if parsed.whole is None:
            return isinstance(wanted, str)
        name = argument_of(value)
        return name is None or _may_be_argument(tool, name, wanted, terms)
    if isinstance(value, dict):
        if not isinstance(wanted, dict):
            return False
        if any("$" in key for key in value):
            return True
        if not (wanted.keys() <= value.keys() if terms["subset"] else wanted.keys() == value.keys()):
            return False
        return all(_may_be(tool, value[key], each, terms) for key, each in wanted.items())
    if isinstance(value, list):
        if not isinstance(wanted, list):
            return False
        if terms["subset"] or terms["ignore_order"]:
            return True
        return len(value) == len(wanted) and all(
            _may_be(tool, one, other, terms) for one, other in zip(value, wanted, strict=True)
        )
    return compare(wanted, value, **terms) is None


def _may_be_arguments(tool: ToolView, wanted: Any, terms: Terms) -> bool:
    if not isinstance(wanted, dict):
        return False
    if not tool.is_declared or tool.parameters.faults:
        return True
    names, required = tool.parameters.names, tool.parameters.schema.get("required", ())
    if any(name not in names for name in wanted):
        return False
    if not terms["subset"] and any(name not in wanted for name in required):
        return False
    return all(_may_be_argument(tool, name, each, terms) for name, each in wanted.items())


def _may_be_argument(tool: ToolView, name: str, wanted: Any, terms: Terms) -> bool:
    if isinstance(wanted, dict | list) and any(terms.values()):
        return True
    is_number = isinstance(wanted, int | float) and not isinstance(wanted, bool)
    return (is_number and bool(terms["tolerance"])) or tool.refusal(name, wanted) is None


__all__ = ["Terms", "Unreached", "Writable", "left_out"]
