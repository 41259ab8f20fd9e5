"""How a peer plays the refund and is measured: run as `python PEER.py ADDRESS CONCURRENCY ROLLOUTS`.

It plays one rollout before, so that its imports and first connections do not count; then CPU (user and system, of its
own process and of those it started) and wall are taken. What it prints itself goes to standard error. Standard output
has one JSON object: ``name``, ``cpu`` and ``wall`` in seconds, ``passed``, how many rollouts made the refund. Where
what it needs is not installed, it ends with the status ``ABSENT`` and a sentence.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any, NoReturn

ABSENT = 3

QUESTION = "Please refund order O-1 in full, it arrived broken."
ORDER: dict[str, Any] = {"id": "O-1", "customer": "Alice", "amount": 100, "status": "delivered"}
REFUND: dict[str, Any] = {"order_id": "O-1", "amount": 100}


def absent(sentence: str) -> NoReturn:
    print(sentence, file=sys.stderr)
    sys.exit(ABSENT)


def measure(name: str, play: Callable[[str, int, int], int]) -> None:
    """``play`` takes address, concurrency and rollouts, and gives how many rollouts passed."""
    address, concurrency, rollouts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with redirect_stdout(sys.stderr):
        play(address, concurrency, 1)
        gc.collect()
        cpu, wall = _cpu(), time.perf_counter()
        passed = play(address, concurrency, rollouts)
        cpu, wall = _cpu() - cpu, time.perf_counter() - wall
    print(json.dumps({"name": name, "cpu": cpu, "wall": wall, "passed": passed}))


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
