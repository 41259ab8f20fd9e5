"""Runs of `rollout test` as a user starts it, on a refund in three turns: what one cost, and what its journal says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import as_installed, rollout

REFUND = {"order_id": "O-1", "amount": 100}

ENVIRONMENT = {
    "template": "workflow",
    "name": "Refund",
    "config": {
        "tools": [
            {
                "name": "get_order",
                "kind": "lookup",
                "fixturePath": "orders.${args.id}",
                "paramsSchema": {"id": "string"},
            },
            {
                "name": "refund",
                "kind": "action",
                "stateArray": "refunds",
                "paramsSchema": {"order_id": "string", "amount": "number"},
            },
        ],
        "fixtures": {"orders": {"O-1": {"customer": "Alice", "amount": 100, "status": "delivered"}}},
        "initialMutableState": {"refunds": []},
    },
    "verifier": {"primitives": [{"name": "outcome", "type": "ground_truth_match"}]},
    "tasks": [
        {
            "id": "refund",
            "instruction": "Please refund order O-1 in full, it arrived broken.",
            "hidden_ground_truth": {"refunds": [REFUND]},
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Run:
    """CPU seconds and MiB of a process, the seconds it took, and how many rollouts its summary says came out how."""

    cpu: float
    wall: float
    memory: float
    outcomes: dict[str, int]


def run(
    address: str,
    rollouts: int,
    concurrency: int,
    *more: str,
    uvloop: bool = True,
    statuses: tuple[int, ...] = (0,),
    look: Callable[[dict[str, Any]], None] | None = None,
) -> Run:
    """One run of the command, which has to end with one of ``statuses`` and to have each rollout once in its journal.

    ``more`` are options of the command's. ``look`` is shown each line of the journal.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "refund.json").write_text(json.dumps(ENVIRONMENT))
        (home / "rollout.toml").write_text(f'[providers.here]\nbase_url = "{address}"\n')
        command = [str(rollout()), "test", "refund.json", "--model", "here/m", "--trials", str(rollouts)]
        command += ["--concurrency", str(concurrency), "--out", "run", *more]
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=home,
            env=as_installed() if uvloop else _without_uvloop(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        output = process.stdout.read().decode()
        _, waited, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        status = process.returncode = os.waitstatus_to_exitcode(waited)
        if status not in statuses:
            sys.exit(f"{command} ended with {status}:\n{output[-4000:]}")
        trials: list[int] = []
        with (home / "run" / "rollouts.jsonl").open("rb") as journal:
            for line in journal:
                told = json.loads(line)
                trials.append(told["trace"]["trial"])
                if look is not None:
                    look(told)
        if sorted(trials) != list(range(rollouts)):
            once = len(set(trials))
            sys.exit(
                f"{rollouts} rollouts were to be done; the journal has {len(trials)} lines, of {once} rollouts"
            )
        summary = json.loads((home / "run" / "summary.json").read_bytes())
        return Run(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, summary["outcomes"])


def _without_uvloop(home: Path) -> dict[str, str]:
    """As where the extra ``fast`` is not installed."""
    shadow = home / "shadow"
    shadow.mkdir()
    (shadow / "uvloop.py").write_text("raise ImportError\n")
    return as_installed() | {"PYTHONPATH": str(shadow)}
