"""Rollouts as they are stored: a line of JSON each, from which the same rollout is read again.

A line has ``trace`` and ``verdict``, with the names of the fields of :class:`rollout.engine.Trace` and
:class:`rollout.engine.Verdict`; what a line has besides is somebody else's. ``schema_version`` is 1, also where it is
left out. Nothing is lost on the way: whole numbers stay exact, and what JSON has no form for (NaN, infinities) is
refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from rollout.engine import Ending, Failure, Mark, Outcome, Rollout, Trace, Verdict
from rollout.models import Blame, Exchange, Sampling, Usage
from rollout.verifiers import ToolCall

VERSION = 1


class StoredError(ValueError):
    """A line that is no rollout; its text is the end of a sentence: “has no final state”."""


def to_json(rollout: Rollout) -> dict[str, Any]:
    """A rollout as JSON values, with the version."""
    return {
        "schema_version": VERSION,
        "trace": asdict(rollout.trace),
        "verdict": {**asdict(rollout.verdict), "outcome": str(rollout.verdict.outcome)},
    }


def dump(rollout: Rollout) -> bytes:
    """The line of a rollout, with its line break. Raises ValueError for what is no JSON."""
    text = json.dumps(to_json(rollout), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Some readers take these for the end of a line.
    for separator in ("\x85", "\u2028", "\u2029"):
        if separator in text:
            text = text.replace(separator, f"\\u{ord(separator):04x}")
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:
        # Halves of characters have a form in JSON, but none in UTF-8.
        return json.dumps(to_json(rollout), allow_nan=False, separators=(",", ":")).encode() + b"\n"


def from_json(line: Mapping[str, Any]) -> Rollout:
    """The rollout that a line says. Raises StoredError."""
    version = line.get("schema_version", VERSION)
    if version != VERSION:
        raise StoredError(f"is of version {version}, and this program reads version {VERSION}")
    for key in ("trace", "verdict"):
        if not isinstance(line.get(key), dict):
            raise StoredError(f"has no {key}")
    return Rollout(trace_from_json(line["trace"]), verdict_from_json(line["verdict"]))


def trace_from_json(value: Mapping[str, Any]) -> Trace:
    """The trace that JSON says. Raises StoredError."""
    for key, words in (("initial_state", "state it started with"), ("final_state", "final state")):
        if not isinstance(value.get(key), dict):
            raise StoredError(f"has no {words}")
    try:
        ending = value["ending"]
        if ending not in get_args(Ending):
            raise ValueError(ending)
        return Trace(
            environment=_text(value["environment"]),
            template=_text(value["template"]),
            task=_text(value["task"]),
            model=_text(value["model"]),
            messages=tuple(dict(message) for message in value["messages"]),
            calls=tuple(_call(call) for call in value["calls"]),
            initial_state=value["initial_state"],
            final_state=value["final_state"],
            final_output=_text(value["final_output"]),
            ending=ending,
            usage=_usage(value["usage"]),
            failure=_failure(value.get("failure")),
            seconds=float(value.get("seconds", 0.0)),
            trial=int(value.get("trial", 0)),
            sampling=Sampling(**value.get("sampling", {})),
            exchanges=tuple(_exchange(each) for each in value.get("exchanges", ())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoredError(f"has a trace that cannot be read ({type(error).__name__}: {error})") from None


def verdict_from_json(value: Mapping[str, Any]) -> Verdict:
    """The verdict that JSON says. Raises StoredError."""
    try:
        score = value["score"]
        return Verdict(
            outcome=Outcome(value["outcome"]),
            score=None if score is None else float(score),
            marks=tuple(_mark(mark) for mark in value["marks"]),
            threshold=float(value.get("threshold", 1.0)),
            failure=_failure(value.get("failure")),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StoredError(f"has a verdict that cannot be read ({type(error).__name__}: {error})") from None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _call(value: Mapping[str, Any]) -> ToolCall:
    args = value["args"]
    if args is not None and not isinstance(args, dict):
        raise TypeError(f"{args!r} are no arguments")
    return ToolCall(
        id=_text(value["id"]),
        tool=_text(value["tool"]),
        arguments=_text(value["arguments"]),
        args=args,
        content=_text(value["content"]),
        error=value.get("error"),
        ran=value["ran"] is True,
    )


def _usage(value: Mapping[str, Any]) -> Usage:
    return Usage(**value)


def _failure(value: Mapping[str, Any] | None) -> Failure | None:
    if value is None:
        return None
    if value["charged_to"] not in get_args(Blame):
        raise ValueError(value["charged_to"])
    return Failure(_text(value["sentence"]), value["charged_to"])


def _exchange(value: Mapping[str, Any]) -> Exchange:
    told = dict(value)
    for key in ("retries", "remarks"):
        told[key] = tuple(told.get(key) or ())
    return Exchange(**{**told, "usage": _usage(told["usage"])})


def _mark(value: Mapping[str, Any]) -> Mark:
    given, usage = value["value"], value.get("usage")
    return Mark(
        name=_text(value["name"]),
        type=_text(value["type"]),
        weight=float(value["weight"]),
        value=None if given is None else float(given),
        reason=_text(value["reason"]),
        failure=_failure(value.get("failure")),
        evidence=dict(value.get("evidence") or {}),
        unscored=value.get("unscored") is True,
        usage=None if usage is None else _usage(usage),
    )


__all__ = [
    "VERSION",
    "StoredError",
    "dump",
    "from_json",
    "to_json",
    "trace_from_json",
    "verdict_from_json",
]
