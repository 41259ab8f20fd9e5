"""Works a solution out from the ground truth, for tools that do no more than add to lists of the state.

Only what is certain counts: every list may only have grown, and every new item has to fit exactly one tool.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.language.compare import compare
from rollout.language.paths import MISSING, Step, get
from rollout.language.placeholders import parse
from rollout.templates import Script


@dataclass(frozen=True, slots=True)
class Appender:
    """A tool that adds ``value``, with its placeholders, to the list at ``steps``."""

    tool: str
    steps: tuple[Step, ...]
    value: Any


def solve(appenders: Sequence[Appender], start: dict[str, Any], truth: Mapping[str, Any]) -> Script | None:
    """The calls that make ``start`` what ``truth`` says, list by list in the order of ``truth``; None if unsure."""
    if not truth:
        return None
    script: Script = []
    for key, wanted in truth.items():
        present = get(start, (key,))
        if compare(wanted, present) is None:
            continue
        if present is MISSING or not isinstance(wanted, list) or not isinstance(present, list):
            return None
        if len(wanted) < len(present) or compare(wanted[: len(present)], present) is not None:
            return None
        for item in wanted[len(present) :]:
            fitting = [
                {"tool": appender.tool, "args": args}
                for appender in appenders
                if appender.steps == (key,) and (args := _invert(appender.value, item)) is not None
            ]
            if len(fitting) != 1:
                return None
            script.extend(fitting)
    return script


def _invert(value: Any, item: Any) -> dict[str, Any] | None:
    args: dict[str, Any] = {}
    return args if _collect(value, item, args) else None


def _collect(value: Any, item: Any, args: dict[str, Any]) -> bool:
    if isinstance(value, str):
        parsed = parse(value)
        if not parsed.placeholders:
            return compare("".join(map(str, parsed.parts)), item) is None
        whole = parsed.whole
        if whole is None or whole.root != "args" or whole.rest or len(whole.steps) > 1:
            return False
        if not whole.steps:
            return isinstance(item, dict) and all(_give(args, key, member) for key, member in item.items())
        return _give(args, str(whole.steps[0]), item)
    if isinstance(value, dict):
        return (
            isinstance(item, dict)
            and value.keys() == item.keys()
            and all("${" not in key and _collect(member, item[key], args) for key, member in value.items())
        )
    if isinstance(value, list):
        return (
            isinstance(item, list)
            and len(value) == len(item)
            and all(_collect(a, b, args) for a, b in zip(value, item, strict=True))
        )
    return compare(value, item) is None


def _give(args: dict[str, Any], name: str, value: Any) -> bool:
    return compare(args.setdefault(name, value), value) is None


__all__ = ["Appender", "solve"]
