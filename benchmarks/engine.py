"""What a turn costs in a whole run: `rollout test` as a user starts it, with its journal, its verdicts, its summary.

Needs a chat-completions server on this machine, in a process of its own so that its work is not counted here:

    .venv/bin/python benchmarks/engine.py --server path/to/model_server.py
    .venv/bin/python benchmarks/engine.py --address http://127.0.0.1:8765/v1

The server is started as `python FILE --port 0 --latency-ms N` and has to print its address. It has to play a refund in
three turns: `get_order {"id": "O-1"}`, `refund {"order_id": "O-1", "amount": 100}`, then words.

The command runs in a process of its own. CPU (user and system) and the most memory it had are the system's account of
that whole process, its start included. The wall is shown beside the ideal of turns × latency ÷ concurrency, without
the start, which a run of one rollout tells. The bare loop is aiohttp, orjson and nothing else. Both run on uvloop,
where it is installed, and on asyncio's own loop.

With ``--peers`` others play the same refund, each in a process of its own; ``--peers-python`` names the Pythons of the
virtual environments that they are installed in, since some cannot live in one. A peer that is nowhere is left out, and
that is said. Peers are slow, so they play few rollouts, once, and nobody's start is counted: theirs by a rollout
played before, ours by taking off what a run of one rollout costs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from measure import ROOT
from model_call import TURNS, alone, serving
from refunds import run

CPU = 0.8
"""Milliseconds that a turn may cost."""

WALL = {32: 1.15, 256: 4.0}
"""How many times the ideal a run may take, by concurrency."""

MEMORY = 80
"""MiB that a run may use, however many rollouts it has."""

LOOPS = {
    "aiohttp": "bare aiohttp loop",
    "openai-post-aiohttp": "openai, post, over aiohttp",
    "openai-post": "openai, post",
    "openai-create": "openai, create",
}
"""Loops without tools or verdicts, which ``model_call.py`` has; they need only what this Python has."""

ABSENT = 3
"""The status that a peer ends with where it is not installed."""


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds a turn, and wall seconds."""

    name: str
    cpu: float
    wall: float


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
    parser.add_argument("--peers", action="store_true", help="let others play, too")
    parser.add_argument(
        "--peers-python", type=Path, nargs="+", default=[], help="Pythons that have peers installed"
    )
    parser.add_argument(
        "--peers-rollouts",
        type=int,
        default=200,
        help="how many they play; at least twice as many as at once",
    )
    options = parser.parse_args()
    if not options.server and not options.address:
        parser.error("give --server or --address")
    with contextlib.ExitStack() as stack:
        address = options.address or stack.enter_context(serving(options.server, options.latency_ms))
        held = [compare(options, address, concurrency) for concurrency in options.concurrency]
        if options.many:
            held.append(hold(options, address))
        if options.peers:
            for concurrency in options.concurrency:
                meet(options, address, concurrency)
    if not all(held):
        sys.exit(1)


def compare(options: argparse.Namespace, address: str, concurrency: int) -> bool:
    turns = options.rollouts * TURNS
    ideal = turns * options.latency_ms / 1000 / concurrency
    print(
        f"concurrency {concurrency}, {options.rollouts} rollouts of {TURNS} turns, {options.latency_ms:g} ms latency"
    )
    loops = [True, False] if find_spec("uvloop") else [False]
    ours: dict[bool, list[Cost]] = {uvloop: [] for uvloop in loops}
    bare: dict[bool, list[Cost]] = {uvloop: [] for uvloop in loops}
    starts: list[float] = []
    for _ in range(options.repeat):
        starts.append(run(address, 1, concurrency).wall - TURNS * options.latency_ms / 1000)
        for uvloop in loops:
            whole = run(address, options.rollouts, concurrency, uvloop=uvloop)
            ours[uvloop].append(Cost("rollout test", whole.cpu / turns, whole.wall))
            loop = bare_loop("aiohttp", address, concurrency, options.rollouts, uvloop=uvloop)
            bare[uvloop] += [] if loop is None else [loop]
    held = True
    for uvloop in loops:
        on = "uvloop" if uvloop else "asyncio"
        cpu = min(each.cpu for each in ours[uvloop])
        wall = min(each.wall for each in ours[uvloop]) - min(starts)
        beside = min(each.cpu for each in bare[uvloop])
        show(f"rollout test, {on}", cpu, wall, ideal, cpu / beside)
        show(f"bare aiohttp loop, {on}", beside, min(each.wall for each in bare[uvloop]), ideal, 1.0)
        held &= say(f"ms CPU a turn, {on}", cpu * 1000, CPU)
        if wall < ideal:
            # No run is faster than the answers come: the start took longer by itself than in the run.
            print(
                f"  not measured: × the ideal, {on}, since other work went on; run it again at rest",
                flush=True,
            )
            held = False
            continue
        held &= say(f"× the ideal, {on}", wall / ideal, WALL.get(concurrency, max(WALL.values())))
    print(f"  ({min(starts):.2f} s to start are not in the wall, and are in the CPU)\n", flush=True)
    return held


def hold(options: argparse.Namespace, address: str) -> bool:
    """Whether memory stays within its limit, and how much of it the number of rollouts makes up."""
    concurrency = max(options.concurrency)
    few = run(address, min(options.rollouts, options.many), concurrency)
    many = run(address, options.many, concurrency)
    ideal = options.many * TURNS * options.latency_ms / 1000 / concurrency
    print(f"concurrency {concurrency}, {options.many} rollouts")
    show("rollout test", many.cpu / options.many / TURNS, many.wall, ideal)
    print(f"  {few.memory:.2f} MiB with {min(options.rollouts, options.many)} rollouts")
    held = say(f"MiB with {options.many} rollouts", many.memory, MEMORY)
    print(flush=True)
    return held


def meet(options: argparse.Namespace, address: str, concurrency: int) -> None:
    """A table of all who play a refund: the bare loops, we, and the peers that are installed."""
    rollouts = max(options.peers_rollouts, 2 * concurrency)
    turns = rollouts * TURNS
    ideal = turns * options.latency_ms / 1000 / concurrency
    print(f"concurrency {concurrency}, {rollouts} rollouts, peers included, nobody's start counted")
    one, whole = run(address, 1, concurrency), run(address, rollouts, concurrency)
    # The three turns of the one rollout were waited for in its run, and are not part of the start.
    start = one.wall - TURNS * options.latency_ms / 1000
    ours = Cost("rollout test", (whole.cpu - one.cpu) / turns, whole.wall - start)
    show(ours.name, ours.cpu, ours.wall, ideal, 1.0)
    for name in LOOPS:
        loop = bare_loop(name, address, concurrency, rollouts, uvloop=False)
        if loop is not None:
            show(loop.name, loop.cpu, loop.wall, ideal, loop.cpu / ours.cpu)
    pythons = [*options.peers_python, Path(sys.executable)]
    for program in sorted((ROOT / "benchmarks" / "peers").glob("[a-z]*.py")):
        peer = played_by(program, pythons, address, concurrency, rollouts)
        if peer is not None:
            show(peer.name, peer.cpu, peer.wall, ideal, peer.cpu / ours.cpu)
    print(flush=True)


def bare_loop(name: str, address: str, concurrency: int, rollouts: int, *, uvloop: bool) -> Cost | None:
    found = alone(name, address, concurrency, argparse.Namespace(rollouts=rollouts, uvloop=uvloop))
    return None if found is None else Cost(LOOPS[name], *found)


def played_by(
    program: Path, pythons: list[Path], address: str, concurrency: int, rollouts: int
) -> Cost | None:
    """What a peer cost, under the first Python that has it; None, and a sentence, when it could not be measured."""
    sentence = ""
    for python in pythons:
        ended = subprocess.run(
            [python, program, address, str(concurrency), str(rollouts)],
            cwd=program.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        sentence = ended.stderr.strip().rpartition("\n")[2]
        if ended.returncode == ABSENT:
            continue
        if ended.returncode:
            break
        figures = json.loads(ended.stdout)
        if figures["passed"] == rollouts:
            return Cost(figures["name"], figures["cpu"] / (rollouts * TURNS), figures["wall"])
        sentence = f"only {figures['passed']} of {rollouts} rollouts passed"
        break
    print(f"  {program.stem:<27} not measured: {sentence}", flush=True)
    return None


def show(name: str, cpu: float, wall: float, ideal: float, ratio: float | None = None) -> None:
    beside = "" if ratio is None else f"   CPU {ratio:.2f}×"
    print(
        f"  {name:<27} {cpu * 1000:8.3f} ms CPU a turn   {wall:6.2f} s, {wall / ideal:6.2f}× the ideal{beside}",
        flush=True,
    )


def say(what: str, figure: float, limit: float) -> bool:
    print(f"  {'pass' if figure <= limit else 'FAIL'}  {figure:.2f} {what} (at most {limit:g})")
    return figure <= limit


if __name__ == "__main__":
    main()
