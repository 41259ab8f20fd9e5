"""A finished rollout as a line of JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

import orjson

from rollout.engine import Failure, Outcome, Rollout, Verdict, stored
from rollout.engine.batch import Done
from rollout.language.exact_json import load

_SEPARATORS = tuple((text.encode(), f"\\u{ord(text):04x}".encode()) for text in "\x85\u2028\u2029")


class Key(NamedTuple):
    """Which rollout: its task's key, and its trial from 0."""

    task: str
    trial: int


class Line(NamedTuple):
    """A finished rollout, and its line."""

    done: Done
    data: bytes


def encode(done: Done) -> Line:
    """A finished rollout with its line, which ends in a line break.

    A rollout that JSON has no form for, as when a tool of somebody's leaves an object of Python in the state, becomes
    an error that is charged to the environment; it stops no other.
    """
    try:
        return Line(done, _line(done))
    except (TypeError, ValueError, RecursionError) as error:
        sentence = f"The rollout holds what JSON cannot say: {error}."
        failure = Failure(sentence[:500], "environment")
        trace = replace(
            done.rollout.trace,
            messages=(),
            calls=(),
            initial_state={},
            final_state={},
            exchanges=(),
            ending="failure",
            failure=failure,
        )
        broken = Rollout(trace, Verdict(Outcome.ERROR, None, failure=failure))
        done = replace(done, rollout=broken)
        return Line(done, _line(done))


def _line(done: Done) -> bytes:
    rollout, task = done.rollout, done.job.task
    return dump(
        {
            "schema_version": stored.VERSION,
            "task": {"content": task.content, "split": task.split},
            "trace": rollout.trace,
            "verdict": rollout.verdict,
            "earlier": done.earlier,
        }
    )


def dump(value: Any) -> bytes:
    """A JSON value, dataclasses in it as objects, on a line of its own.

    Raises TypeError, ValueError or RecursionError for what JSON cannot say.
    """
    try:
        data = orjson.dumps(value, default=_plain, option=orjson.OPT_APPEND_NEWLINE)
        # Some readers take these for the end of a line.
        for separator, escaped in _SEPARATORS:
            if separator in data:
                data = data.replace(separator, escaped)
        return data
    except TypeError:
        # Whole numbers past 64 bits, and halves of characters.
        text = json.dumps(value, default=_plain, separators=(",", ":"), allow_nan=False)
        data = text.encode() + b"\n"
        # A line that could be written and not read would keep the run from being gone on with.
        read_line(data)
        return data


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{value!r} is not JSON")


def read_line(data: bytes) -> Any:
    """The value of a line. Raises ValueError for what is no JSON."""
    try:
        return load(data)
    except ValueError:
        # The fast reader refuses halves of characters, and what is nested a thousand levels deep.
        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("It is nested too deeply.") from None


def key_of(line: Any) -> Key | None:
    """Which rollout a line is of; None when it is none."""
    trace = line.get("trace") if isinstance(line, dict) else None
    if not isinstance(trace, dict) or not isinstance(line.get("verdict"), dict):
        return None
    task, trial = trace.get("task"), trace.get("trial", 0)
    return Key(task, trial) if isinstance(task, str) and isinstance(trial, int) else None


__all__ = ["Key", "Line", "dump", "encode", "key_of", "read_line"]
