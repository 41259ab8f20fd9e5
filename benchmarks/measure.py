"""Times commands and functions side by side, in one run, and shows them as a table with the limits they must keep."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of each repetition."""

    name: str
    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        return min(self.seconds)


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure must not pass (or, with ``at_least``, must reach)."""

    name: str
    figure: float
    limit: float
    unit: str = "×"
    at_least: bool = False

    @property
    def held(self) -> bool:
        return self.figure >= self.limit if self.at_least else self.figure <= self.limit


def time_in_turn(contenders: dict[str, Callable[[], object]], *, repeat: int) -> list[Measured]:
    """Runs the contenders in turn, ``repeat`` times, so that a busy moment hits them all; one warm-up each."""
    for run in contenders.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeat):
        for name, run in contenders.items():
            gc.collect()
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return [Measured(name, tuple(taken)) for name, taken in seconds.items()]


def command(*arguments: str | Path, cwd: Path = ROOT, expected: int = 0) -> Callable[[], object]:
    """A contender that runs a process to its end and insists on its exit status."""

    def run() -> None:
        ended = subprocess.run(
            [str(argument) for argument in arguments],
            cwd=cwd,
            env=as_installed(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if ended.returncode != expected:
            sys.exit(
                f"{arguments} ended with {ended.returncode}:\n{ended.stderr.decode()}{ended.stdout.decode()}"
            )

    return run


def as_installed() -> dict[str, str]:
    """As a user has it. Installed packages bring their bytecode along, so a checkout may keep its own, too."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def ratio(measured: Sequence[Measured], name: str, peer: str) -> float:
    """How many times the ``peer``'s best time ``name`` takes at its best."""
    best = {entry.name: entry.best for entry in measured}
    return best[name] / best[peer]


def rollout() -> Path:
    """The installed command, beside the Python that runs the benchmark."""
    return Path(sys.executable).with_name("rollout")


def report(title: str, measured: Sequence[Measured], limits: Sequence[Limit]) -> None:
    """Prints the table and the limits; ends the process with 1 when one of them does not hold."""
    print(title)
    widest = max(len(entry.name) for entry in measured)
    print(f"  {'':<{widest}}   {'min':>9}   {'median':>9}")
    for entry in measured:
        print(f"  {entry.name:<{widest}}   {_time(entry.best):>9}   {_time(median(entry.seconds)):>9}")
    for limit in limits:
        verdict = "pass" if limit.held else "FAIL"
        bound = "at least" if limit.at_least else "at most"
        print(
            f"  {verdict}  {limit.name}: {limit.figure:,.2f}{limit.unit} ({bound} {limit.limit:,g}{limit.unit})"
        )
    print(flush=True)
    if not all(limit.held for limit in limits):
        sys.exit(1)


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms" if seconds < 10 else f"{seconds:,.2f} s"
