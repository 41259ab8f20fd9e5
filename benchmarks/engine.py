"""What a turn costs in a whole run: `rollout test` as a user starts it, with its journal, its verdicts, its summary.

Needs a chat-completions server on this machine, in a process of its own so that its work is not counted here:

    .venv/bin/python benchmarks/engine.py --server path/to/model_server.py
    .venv/bin/python benchmarks/engine.py --address http://127.0.0.1:8765/v1

The server is started as `python FILE --port 0 --latency-ms N` and has to print its address. It has to play a refund in
three turns: `get_order {"id": "O-1"}`, `refund {"order_id": "O-1", "amount": 100}`, then words.

The command runs in a process of its own. CPU (user and system) and the most memory it had are the system's account of
that whole process, its start included. The wall is shown beside the ideal of turns × latency ÷ concurrency, without
the start, which a run of one rollout tells. The bare loop is aiohttp, orjson and nothing else.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from measure import as_installed, rollout
from model_call import TURNS, alone, serving

CPU = 0.8
"""Milliseconds that a turn may cost."""

WALL = {32: 1.15, 256: 4.0}
"""How many times the ideal a run may take, by concurrency."""

MEMORY = 80
"""MiB that a run may use, however many rollouts it has."""

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
            "hidden_ground_truth": {"refunds": [{"order_id": "O-1", "amount": 100}]},
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Run:
    """CPU seconds and MiB of a process, and the seconds it took."""

    cpu: float
    wall: float
    memory: float


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", type=Path, help="a program that serves chat completions")
    parser.add_argument("--address", help="the base URL of one that runs already")
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[32, 256])
    parser.add_argument("--rollouts", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument(
        "--many", type=int, default=20_000, help="rollouts of the run whose memory counts; 0: none"
    )
    options = parser.parse_args()
    if not options.server and not options.address:
        parser.error("give --server or --address")
    options.uvloop = False
    with contextlib.ExitStack() as stack:
        address = options.address or stack.enter_context(serving(options.server, options.latency_ms))
        held = [compare(options, address, concurrency) for concurrency in options.concurrency]
        if options.many:
            held.append(hold(run(address, options.many, max(options.concurrency)), options.many))
    if not all(held):
        sys.exit(1)


def compare(options: argparse.Namespace, address: str, concurrency: int) -> bool:
    ideal = options.rollouts * TURNS * options.latency_ms / 1000 / concurrency
    print(
        f"concurrency {concurrency}, {options.rollouts} rollouts of {TURNS} turns, {options.latency_ms:g} ms latency"
    )
    runs, bare, starts = [], [], []
    for _ in range(options.repeat):
        starts.append(run(address, 1, concurrency).wall - TURNS * options.latency_ms / 1000)
        runs.append(run(address, options.rollouts, concurrency))
        bare.append(alone("aiohttp", address, concurrency, options))
    turns = options.rollouts * TURNS
    cpu = min(each.cpu for each in runs) / turns * 1000
    start = min(starts)
    wall = min(each.wall for each in runs) - start
    bare_cpu, bare_wall = min(each for each in bare if each is not None)
    print(
        f"  rollout test         {cpu:7.3f} ms CPU a turn   {wall:6.2f} s, {wall / ideal:5.2f}× the ideal   "
        f"(after {start:.2f} s to start)"
    )
    print(
        f"  bare aiohttp loop    {bare_cpu * 1000:7.3f} ms CPU a turn   {bare_wall:6.2f} s, "
        f"{bare_wall / ideal:5.2f}× the ideal   (ours: {cpu / bare_cpu / 1000:.2f}×)"
    )
    limit = WALL.get(concurrency, max(WALL.values()))
    held = say("ms CPU a turn", cpu, CPU) & say("× the ideal", wall / ideal, limit)
    print(flush=True)
    return held


def hold(many: Run, rollouts: int) -> bool:
    print(f"{rollouts} rollouts: {many.wall:.1f} s, {many.cpu / rollouts / TURNS * 1000:.3f} ms CPU a turn")
    return say("MiB at most", many.memory, MEMORY)


def say(what: str, figure: float, limit: float) -> bool:
    print(f"  {'pass' if figure <= limit else 'FAIL'}  {figure:.2f} {what} (at most {limit:g})")
    return figure <= limit


def run(address: str, rollouts: int, concurrency: int) -> Run:
    """One run of the command, which has to pass every rollout and to have each once in its journal."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "refund.json").write_text(json.dumps(ENVIRONMENT))
        (home / "rollout.toml").write_text(f'[providers.here]\nbase_url = "{address}"\n')
        command = [str(rollout()), "test", "refund.json", "--model", "here/m", "--trials", str(rollouts)]
        command += ["--concurrency", str(concurrency), "--out", "run"]
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=home,
            env=as_installed(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        output = process.stdout.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        if status:
            sys.exit(f"{command} ended with {status}:\n{output}")
        with (home / "run" / "rollouts.jsonl").open("rb") as journal:
            trials = {json.loads(line)["trace"]["trial"] for line in journal}
        if trials != set(range(rollouts)):
            sys.exit(f"{rollouts} rollouts were to be done, and {len(trials)} are in the journal")
        return Run(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
