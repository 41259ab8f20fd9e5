"""Rollouts of a run as the file that a provider trains a model on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from rollout.compile.payload import environment_of
from rollout.platform.server.bodies import aside
from rollout.platform.server.http import ApiError
from rollout.platform.store import Store, environments, rollouts
from rollout.platform.store.rollouts import Brief
from rollout.platform.store.runs import Run
from rollout.templates import TemplateError, Tool, prepare
from rollout.training.records import RecordError, jsonl, preference, supervised

_Line = tuple[Brief, bytes]


async def examples(store: Store, run: Run, ids: list[str], method: str) -> bytes:
    """The rows to train on by ``sft`` or ``dpo``: these rollouts, or each beside one of its task that failed.

    Raises ApiError for a rollout that is not of the run or did not pass, and where there is nothing to learn from.
    """
    wanted = list(dict.fromkeys(ids))
    found = {brief.id: (brief, line) for brief, line in await store.aread(rollouts.lines, run.id, wanted)}
    for index, rollout_id in enumerate(ids):
        if rollout_id not in found:
            raise ApiError(
                400, f"“{rollout_id[:40]}” is no rollout of that run.", pointer=f"/rolloutIds/{index}"
            )
        if found[rollout_id][0].outcome != "passed":
            raise ApiError(
                400,
                "A rollout that did not pass is no example to follow.",
                "Send the ids of those that passed.",
                pointer=f"/rolloutIds/{index}",
            )
    passed = [found[each] for each in wanted]
    failed = (
        []
        if method == "sft"
        else [each for each in await store.aread(rollouts.lines, run.id) if each[0].outcome == "failed"]
    )
    data = await store.aread(environments.data, run.environment_id, run.digest)
    assert data is not None
    return await aside(_written, data, passed, failed, method)


def _written(data: bytes, passed: Sequence[_Line], failed: Sequence[_Line], method: str) -> bytes:
    try:
        tools = prepare(environment_of(orjson.loads(data))).tools
        if method == "sft":
            return jsonl(supervised(orjson.loads(line), tools) for _, line in passed)
        rows = list(_pairs(passed, failed, tools))
    except (TemplateError, RecordError) as error:
        raise ApiError(422, str(error)) from None
    if not rows:
        raise ApiError(
            422,
            "No task of this run was both passed and failed by what the model did, so there is nothing to prefer.",
            "Run each task several times (perTask), or train by sft.",
        )
    return jsonl(rows)


def _pairs(
    passed: Sequence[_Line], failed: Sequence[_Line], tools: Sequence[Tool]
) -> Iterator[dict[str, Any]]:
    """Each that passed beside one of its task that failed, in turn, and no pair twice."""
    failed_of: dict[int, list[bytes]] = defaultdict(list)
    for brief, line in failed:
        failed_of[brief.task_index].append(line)
    seen: set[bytes] = set()
    turn: dict[int, int] = defaultdict(int)
    for brief, line in passed:
        others = failed_of[brief.task_index]
        for _ in others:
            other = others[turn[brief.task_index] % len(others)]
            turn[brief.task_index] += 1
            row = preference(orjson.loads(line), orjson.loads(other), tools)
            if row is not None and (written := orjson.dumps(row)) not in seen:
                seen.add(written)
                yield row
                break


__all__ = ["examples"]
