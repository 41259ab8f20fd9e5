"""A platform's data with something of everything, in whose texts anything can stand."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import update

from rollout.compile import Compiled
from rollout.language.canonical import digest
from rollout.platform.store import Store, environments, jobs, keys, rollouts, runs, tables
from rollout.platform.store.keys import Scope
from rollout.platform.store.rollouts import Finished
from rollout.platform.store.runs import Status

LETTERS = Path(__file__).parents[1] / "cases" / "reports" / "letters"
TASKS = ("late", "polite", "shift")
KEPT = {"role", "outcome", "ending", "charged_to", "raw", "type", "schema_version"}


@dataclass(frozen=True, slots=True)
class Stocked:
    """What there is, by its ids. ``key`` is the whole of a key with all scopes."""

    slug: str
    digests: tuple[str, str]
    runs: tuple[str, str]
    live: str
    rollouts: tuple[str, ...]
    job: str
    key: str
    other_key: str

    @property
    def pages(self) -> dict[str, str]:
        """The pages that show it, by what they are called here."""
        old, new = self.digests
        from urllib.parse import quote

        slug = quote(self.slug, safe="")
        told = {f"rollout {number}": f"/rollouts/{each}" for number, each in enumerate(self.rollouts)}
        return {
            "environments": "/environments",
            "newest environments": "/environments?sort=newest",
            "new": "/environments/new",
            "environment": f"/environments/{slug}",
            "old environment": f"/environments/{slug}?digest={old}&split=dev",
            "task": f"/environments/{slug}/tasks/0",
            "changes": f"/environments/{slug}/changes?from={old}&to={new}",
            "runs": "/runs",
            "run": f"/runs/{self.runs[0]}",
            "failed rollouts": f"/runs/{self.runs[0]}?outcome=failed&order=-rate&task=1",
            "live run": f"/runs/{self.live}",
            **told,
            "whole rollout": f"/rollouts/{self.rollouts[0]}?all=1",
            "choose": "/compare",
            "comparison": f"/compare?baseline={self.runs[0]}&trained={self.runs[1]}",
            "training": "/training",
            "job": f"/training/{self.job}",
            "keys": "/settings/api-keys",
            "nothing": "/nothing",
            "refused": "/runs?status=odd",
        }


def letters() -> list[dict[str, Any]]:
    """The rollouts of the case folder."""
    lines = (LETTERS / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def spoilt(value: Any, text: str) -> Any:
    """A value with ``text`` in every text and name in it that a model, a tool or an author could have written."""
    if isinstance(value, str):
        return value + text
    if isinstance(value, list):
        return [spoilt(each, text) for each in value]
    if isinstance(value, dict):
        return {key: each if key in KEPT else spoilt(each, text) for key, each in value.items()}
    return value


def stock(store: Store, text: str = "", *, slug: str = "letters") -> Stocked:
    """Fills a store; ``text`` is added to whatever people, models and tools write."""
    old, new = _compiled(text, slug, "Letters"), _compiled(text, slug, "Post")
    entry = store.write(environments.push, old).entry
    store.write(environments.push, new)
    made = [_run(store, entry.id, new.digest, text, turn) for turn in (0, 1)]
    live = store.write(
        runs.create,
        environment_id=entry.id,
        digest=new.digest,
        model=f"openai/gpt-4o-mini{_stored(text)}",
        options={"n": 2, "maxToolCalls": 20},
        total=6,
        name=f"under way{_stored(text)}",
    )
    store.write(runs.lease, "nobody", 3600.0, only=live.id)
    passed = [
        brief.id for brief in store.read(rollouts.page, made[0]) if brief.outcome == "passed" or not text
    ]
    job = store.write(
        jobs.create,
        run_id=made[0],
        provider="openai",
        base_model=f"openai/gpt-4o-mini{text}",
        method="sft",
        suffix=f"letters{text}",
        hyperparams={f"epochs{_stored(text)}": f"3{_stored(text)}"},
        rollout_ids=passed,
    )
    store.write(jobs.taken, job.id, f"ftjob-1{text}")
    store.write(
        jobs.progress, job.id, status="succeeded", model=f"ft:gpt{text}", error=f"Broke off.{text}\n{text}"
    )
    _, whole = store.write(keys.create, f"owner{text}", Scope.ADMIN)
    _, other = store.write(keys.create, f"reader{text}", Scope.READ)
    found = store.read(rollouts.page, made[0])
    return Stocked(
        slug,
        (old.digest, new.digest),
        (made[0], made[1]),
        live.id,
        tuple(brief.id for brief in found),
        job.id,
        whole,
        other,
    )


def _stored(text: str) -> str:
    # A column of JSON takes neither of these, on any database.
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _compiled(text: str, slug: str, name: str) -> Compiled:
    text = _stored(text)
    said: dict[str, Any] = {
        "slug": slug,
        "name": f"{name}{text}",
        "template": "custom",
        "description": f"You edit letters.{text}\n{text}",
        "config": {
            "description": f"Sign them.{text}",
            "tools": [
                {
                    "name": f"send{text}",
                    "description": f"Send it.{text}",
                    "paramsSchema": {f"id{text}": "string"},
                    "response": f"ok{text}\n{text}",
                },
                {"name": f"read_{name}", "response": {f"x{text}": [text]}},
            ],
            "initialState": {f"letters{text}": {f"L-1{text}": f"Dear{text}\n{text}"}},
        },
        "tasks": [
            {
                "instruction": f"Do {task}.{text}\n{name}",
                "hiddenGroundTruth": {f"sent{text}": f"yes{text}"},
                "split": ("dev", "test", "train")[number],
                "input": {f"shift{text}": f"night{text}"},
            }
            for number, task in enumerate(TASKS)
        ],
    }
    verifier = {
        "primitives": [
            {"name": f"sent{text}", "type": "tool_was_called", "tool": f"send{text}", "weight": 2},
            {"name": f"truth{text}", "type": f"ground_truth_match{text}", "weight": 1},
        ],
        "passThreshold": 0.9,
    }
    data = json.dumps({"environment": said, "verifier": verifier}).encode()
    return Compiled(said, verifier, data, digest(data))


def _run(store: Store, environment_id: str, version: str, text: str, turn: int) -> str:
    kept = _stored(text)
    run = store.write(
        runs.create,
        environment_id=environment_id,
        digest=version,
        model=f"openai/gpt-4o-mini{text}",
        options={"n": 2, "maxToolCalls": 20, "temperature": 0.7, "tasks": [f"late{kept}"]},
        total=6,
        name=f"run {turn}{text}",
    )
    lines = letters()[:: -1 if turn else 1]
    store.write(runs.lease, "me", 60.0, only=run.id)
    done = [_finished(line, text) for line in lines]
    usage = {"input_tokens": 1200, "output_tokens": 300}
    store.write(rollouts.keep, run.id, "me", done, usage)
    store.write(runs.end, run.id, "me", Status.FAILED, f"The budget was used up.{text}")
    with store.writing() as connection:
        connection.execute(update(tables.runs).where(tables.runs.c.id == run.id).values(key_id=None))
    return run.id


def _finished(line: dict[str, Any], text: str) -> Finished:
    trace, verdict = line["trace"], line["verdict"]
    task, failure = trace["task"], verdict.get("failure") or {}
    reason = " ".join(mark["reason"] for mark in verdict["marks"])
    line = spoilt(copy.deepcopy(line), text) if text else line
    if text:
        for part in (line["trace"]["initial_state"], line["trace"]["final_state"]):
            part[text] = {text: [text]}
        line["trace"]["final_state"][f"new {text}"] = f"{text}\n{text}"
        for call in line["trace"]["calls"]:
            call["args"] = {text: f"{text}\n{text}"}
        for mark in line["verdict"]["marks"]:
            mark["evidence"] = {text: text}
    return Finished(
        TASKS.index(task),
        trace.get("trial", 0),
        f"{task}{text}",
        f"Do {task}.{text}\n{text}",
        "dev",
        verdict["outcome"],
        failure.get("charged_to") == "infrastructure",
        verdict["score"],
        f"{reason}{failure.get('sentence', '')}{text}",
        len(trace["calls"]),
        trace["seconds"],
        json.dumps(line).encode() + b"\n",
        failure.get("charged_to"),
    )
