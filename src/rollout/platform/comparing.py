"""Makes a side of a comparison of a run that an endpoint keeps, from what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

import orjson

from rollout.analysis.compare import Graded, Pairing, Side
from rollout.engine import Outcome
from rollout.engine.inputs import inputs
from rollout.environment import Environment
from rollout.models import Sampling
from rollout.platform.client import Client
from rollout.platform.errors import RolloutError
from rollout.platform.held import held_at
from rollout.platform.results import Rollout, Run

_PARTS = ("environment", "tasks", "verifier")
_GRADES = (Outcome.PASSED, Outcome.FAILED)
_SHOWN = 8
"""So many characters of an id tell runs apart, as in tables."""


_MOST_ASKED = 48


def side_of(run: Run, rollouts: Iterable[Rollout], environment: Environment | None) -> Side:
    """The side that a run is, with its rollouts, and the version of the environment that it was of.

    Without the version, for an endpoint that keeps none, tasks are known by what they ask, or else by their ids alone.
    Raises RolloutError for a score that is none.
    """
    contents = _Contents(environment)
    graded = [_graded(each, contents, run) for each in rollouts]
    return Side(
        label=label_of(run),
        model=run["model"],
        environment=run.get("environmentSlug") or run["environmentName"],
        digest=run.get("digest") or "",
        rollouts=graded,
        parts={} if environment is None else _parts(environment),
        settings=_settings(run),
        unfinished=_unfinished(run),
        identity=run["environmentId"],
        pairing=contents.pairing,
        run=run["id"],
    )


def side_at(client: Client, start: str) -> Side:
    """The side that a run at an endpoint is, whose id begins with ``start``. Raises RolloutError."""
    run: Run = client.get_run(start)["run"]
    rollouts = client.get_rollouts(run["id"])
    slug, digest = run.get("environmentSlug"), run.get("digest")
    held = held_at(client, slug, digest=digest) if client.answers_more and slug and digest else None
    return side_of(run, rollouts, None if held is None else held.environment)


def label_of(run: Run) -> str:
    """What a run is called: the beginning of its id, and its name."""
    start = run["id"][:_SHOWN]
    return f"{start} “{name}”" if (name := run.get("name")) else start


class _Contents:
    """By what tasks are found in another run: their content, each worked out when it is first asked for.

    ``pairing`` is the least that was known of any of them.
    """

    def __init__(self, environment: Environment | None) -> None:
        self.pairing = Pairing.CONTENT
        self._tasks = [] if environment is None else environment.tasks
        self._known: dict[int, str] = {}

    def of(self, rollout: Rollout) -> str:
        place = rollout.get("taskIndex")
        if place is not None and 0 <= place < len(self._tasks):
            if place not in self._known:
                self._known[place] = self._tasks[place].content
            return self._known[place]
        if asked := rollout["instruction"]:
            self.pairing = max(self.pairing, Pairing.ASKED)
            said = orjson.dumps([asked, rollout.get("input")], option=orjson.OPT_SORT_KEYS)
            return f"asked {sha256(said).hexdigest()}"
        self.pairing = Pairing.ID
        return f"task {rollout['taskId']}"


def _graded(rollout: Rollout, contents: _Contents, run: Run) -> Graded:
    outcome = _outcome(rollout)
    return Graded(
        contents.of(rollout),
        _name(rollout),
        outcome,
        _score(rollout) if outcome in _GRADES else None,
        rollout.get("split") or "",
        run.get("template") or "",
        rollout.get("chargedTo"),
    )


def _name(rollout: Rollout) -> str:
    """What people know a task by: its id, and the beginning of what it asks."""
    asked = " ".join(rollout["instruction"].split())
    start = asked if len(asked) <= _MOST_ASKED else f"{asked[: _MOST_ASKED - 1]}…"
    return f"{rollout['taskId']} {start}".rstrip()


def _score(rollout: Rollout) -> float:
    score = rollout["score"]
    if score is None or not 0 <= score <= 1:
        raise RolloutError(
            0,
            f"The score of the rollout {rollout['id'][:_SHOWN]} is {score}, and not from 0 to 1.",
            dict(rollout),
            hint="Look at the run where it is kept: nothing is compared with it.",
        )
    return score


def _outcome(rollout: Rollout) -> Outcome:
    said = rollout.get("outcome")
    if said is not None and said not in _GRADES:
        return Outcome(said)
    # An endpoint that only answers as published: what has no grade is an error of nobody knows whom.
    if rollout["passed"] is None or rollout["score"] is None:
        return Outcome.ERROR
    return Outcome.PASSED if rollout["passed"] else Outcome.FAILED


def _parts(environment: Environment) -> dict[str, str]:
    nothing = Sampling()
    found = inputs(environment, "", address=None, sampling=nothing, max_tool_calls=0, seconds=None)
    return {part: found[part] for part in _PARTS}


def _settings(run: Run) -> dict[str, object]:
    options: Mapping[str, Any] | None = run.get("options")
    if options is None:
        return {}
    sampling = Sampling(
        options.get("temperature"), options.get("topP"), options.get("seed"), options.get("maxTokens")
    )
    return {
        "sampling": asdict(sampling),
        "max_tool_calls": options.get("maxToolCalls"),
        "seconds": options.get("timeout"),
    }


def _unfinished(run: Run) -> str | None:
    total, done = run.get("total"), run.get("done")
    total, done = run["n"] if total is None else total, run["progress"] if done is None else done
    if run["status"] in ("queued", "running"):
        return f"It is under way: {done:,} of {total:,} rollouts are done."
    if done < total:
        return f"{done:,} of {total:,} rollouts are done. {run.get('reason') or ''}".rstrip()
    return None


__all__ = ["label_of", "side_at", "side_of"]
