"""Reads a side of a comparison from the folder of a run, as `rollout test --out DIR` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from rollout.analysis.compare import Graded, Side
from rollout.engine import Outcome
from rollout.engine.run_folder import (
    ROLLOUTS,
    RUN,
    JournalError,
    read_config,
    read_rollouts,
    read_summary,
    rollouts_file,
)

_GRADES = (Outcome.PASSED, Outcome.FAILED)


def read_side(name: str) -> Side:
    """The run in the folder ``name``, which may also be the path of its ``rollouts.jsonl``.

    Raises JournalError where there is none, and for a run that does not say which environment and tasks it is of.
    """
    path = Path(name)
    file = rollouts_file(path)
    folder = file.parent
    if file.name != ROLLOUTS or not (folder / RUN).is_file():
        raise JournalError(
            f"“{name}” does not say which environment it is of: there is no {RUN} beside it.",
            "Give the folder that “rollout test --out DIR” wrote.",
        )
    config = read_config(folder)
    digest: Any = config.get("digest")
    inputs: Any = config.get("inputs")
    if not isinstance(digest, str) or not _is_known(inputs):
        raise JournalError(
            f"“{folder / RUN}” is not as it was written, so it is not known what the run is of.",
            "Do the run again.",
        )
    rollouts = [_graded(line, name) for line in read_rollouts(file)]
    if not rollouts:
        raise JournalError(
            f"There are no rollouts in “{name}”.", f"Go on with it: rollout test --resume {folder}"
        )
    return Side(
        label=name,
        model=inputs["model"],
        environment=str(config.get("environment", "")),
        digest=digest,
        rollouts=rollouts,
        parts={
            part: inputs[part]
            for part in ("environment", "tasks", "verifier")
            if isinstance(inputs.get(part), str)
        },
        settings={setting: inputs.get(setting) for setting in ("sampling", "max_tool_calls", "seconds")},
        unfinished=_unfinished(folder, len(rollouts)),
        run=str(folder.resolve()),
    )


def _is_known(inputs: Any) -> bool:
    """Whether what a run was begun with is of the shape that is compared."""
    if not isinstance(inputs, Mapping) or not isinstance(inputs.get("model"), str):
        return False
    sampling = inputs.get("sampling")
    if not isinstance(sampling, Mapping):
        return False
    numbers = [*sampling.values(), inputs.get("max_tool_calls"), inputs.get("seconds")]
    return all(number is None or isinstance(number, int | float) for number in numbers)


def _graded(line: Mapping[str, Any], name: str) -> Graded:
    trace, verdict = line["trace"], line["verdict"]
    way_out = f"Take trial {trace.get('trial', 0)} of it out of the lines in “{name}”."
    task = line.get("task")
    if task is None:
        raise JournalError(
            f"The rollouts in “{name}” do not say what they were asked: an older version wrote them.",
            "Do the run again, so that its tasks can be found in the other run.",
        )
    try:
        outcome, failure = Outcome(verdict["outcome"]), verdict.get("failure") or {}
        score = _score(verdict["score"]) if outcome in _GRADES else None
        charged = failure.get("charged_to")
        told = Graded(
            task["content"], trace["task"], outcome, score, task["split"], trace["template"], charged
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        told = None
    if told is None or not all(
        isinstance(text, str) for text in (told.content, told.split, told.template, told.charged_to or "")
    ):
        raise JournalError(f"A rollout of task “{trace['task']}” in “{name}” cannot be read.", way_out)
    return told


def _score(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    if not isfinite(value) or not 0 <= value <= 1:
        raise ValueError(value)
    return float(value)


def _unfinished(folder: Path, found: int) -> str | None:
    ended = read_summary(folder)
    if ended is None:
        return "It is under way, or was broken off."
    if ended.all != found:
        return None if found >= ended.planned else f"{found:,} of {ended.planned:,} rollouts are done."
    if ended.all < ended.planned:
        return f"{ended.all:,} of {ended.planned:,} rollouts are done. {ended.stopped or ''}".rstrip()
    return None


__all__ = ["read_side"]
