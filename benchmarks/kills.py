"""Whether a platform comes to the same rows when its server, its clients and its workers are killed all the while.

    .venv/bin/python benchmarks/kills.py --kills 50 --seed 7
    .venv/bin/python benchmarks/kills.py --kills 50 --seed 7 --database postgresql
    .venv/bin/python benchmarks/kills.py --kills 20 --seed 7 --ray

A server is started as `rollout serve` starts it, and asks a model that answers after a moment. People push
environments, begin runs and follow them, with commands and programs in processes of their own. At random moments a
process is killed with SIGKILL: the server, the server and then again while it starts, one of the people's, or with
--ray a worker of the cluster that does the rollouts. A server is started again; a command is typed again where it had
not said that all is done. After the last kill the people finish what they are doing, and all runs end.

Then the same people do the same steps at a new server where nothing is killed, and the two are compared. A run that was
acknowledged is there under its id, and one that was not at most once for each time that it was typed. Each has each
trial of each task once, with the same outcome, score and transcript, and counts them right. Each environment has the
same versions under the same numbers. Whoever followed a run was told of each of its rollouts; how often of one twice is
counted. The script ends with 1 where one of these does not hold.

The steps follow from the seed, and so do the kinds of the kills and the pauses before them; what a kill hits, and how
many steps there is time for, is left to chance.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from threading import Event

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from servers.chat import ChatServer
from servers.postgres import Postgres
from servers.ray_cluster import RayCluster
from servers.rollout_server import Platform

from killing import desk
from killing.people import Person
from killing.rows import faults, held, told_twice
from rollout import Client

LATENCY = 0.03
"""Seconds until the model answers."""

LONGEST_PAUSE = 2.0
"""Seconds between two kills at most."""

PATIENCE = 180.0
"""Seconds that there may be nothing to kill, and that people and runs have to come to their end afterwards."""

_KINDS = {"server": 30, "server that starts": 10, "client": 60}
_KINDS_WITH_RAY = {"server": 20, "client": 30, "worker": 50}
_SHOWN = 20


class World:
    """A server, those who work at it, and the workers that do its rollouts, if it has any elsewhere."""

    def __init__(self, platform: Platform, people: list[Person], cluster: RayCluster | None) -> None:
        self.platform = platform
        self.people = people
        self._cluster = cluster

    def kill(self, kind: str, chance: Random) -> str | None:
        """Kills one of a kind, and starts it again if it is the server. What was killed; None where there is none."""
        if kind == "client":
            return self._kill_client(chance)
        if kind == "worker":
            return self._kill_worker(chance)
        self.platform.kill()
        said = "the server"
        if kind == "server that starts":
            seconds = chance.uniform(0.05, 2.5)
            self.platform.stumble(seconds)
            said = f"the server, and again {seconds:.2f} s after its start"
        self.platform.start()
        return said

    def _kill_client(self, chance: Random) -> str | None:
        working = [each for person in self.people if (each := person.working) is not None]
        if not working:
            return None
        chosen = chance.choice(working)
        chosen.process.kill()
        return chosen.words if chosen.process.wait(60) == -signal.SIGKILL else None

    def _kill_worker(self, chance: Random) -> str | None:
        assert self._cluster is not None
        workers = self._cluster.workers(0)
        if not workers:
            return None
        with suppress(ProcessLookupError):
            os.kill(chosen := chance.choice(workers), signal.SIGKILL)
            return f"worker {chosen}"
        return None

    def finish(self, seconds: float) -> None:
        """Waits until the people have done their last step, and all runs are over; so many seconds at most."""
        until = time.monotonic() + seconds
        for person in self.people:
            person.wait(max(0.0, until - time.monotonic()))
        with Client(self.platform.key, self.platform.address) as client:
            while any(client.list_runs(1, status=status) for status in ("queued", "running")):
                if time.monotonic() > until:
                    print("not all runs came to their end")
                    return
                Event().wait(0.2)


@contextmanager
def world(
    folder: Path, seed: int, chat: ChatServer, *more: str, steps: list[int], cluster: RayCluster | None = None
) -> Iterator[World]:
    """A new server with people at work, who do ``steps`` each; 0 for as many as there is time for."""
    folder.mkdir()
    variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": "sk-desk-4f6c5cce93aa71"}
    arguments = ("--port", str(_free_port()), *more)
    with Platform(folder / "data", *arguments, **variables) as platform:
        people = [
            Person(
                number, seed, folder, address=platform.address, key=platform.key, steps=steps[number] or None
            )
            for number in range(len(steps))
        ]
        yield World(platform, people, cluster)


def kill_all_the_while(made: World, kills: int, seed: int, kinds: dict[str, int]) -> Iterator[str]:
    """Kills so many times, a line each. Gives a sentence where there is nothing to be killed for too long."""
    chance, began = Random(seed), time.monotonic()
    told: Counter[str] = Counter()
    for number in range(1, kills + 1):
        (kind,) = chance.choices(list(kinds), list(kinds.values()))
        killed, until = None, time.monotonic() + PATIENCE
        while killed is None:
            Event().wait(chance.uniform(0.0, LONGEST_PAUSE))
            killed = made.kill(kind, chance)
            if killed is None and time.monotonic() > until:
                yield f"there was no {kind} to be killed for {PATIENCE:g} s, after {number - 1} kills"
                return
        told[kind] += 1
        print(f"{number:>4}  {time.monotonic() - began:>6.1f} s  {killed}", flush=True)
    print(f"killed: {', '.join(f'{number} × {kind}' for kind, number in told.items())}")


def main() -> int:
    """Kills, compares, and says what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--people", type=int, default=3)
    parser.add_argument(
        "--runs-at-once", type=int, default=6, help="how many runs the server executes at once"
    )
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--ray", action="store_true", help="have rollouts done by a Ray cluster")
    wishes = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        chat = stack.enter_context(ChatServer([desk.acts(LATENCY)]))
        database = f"sqlite:///{folder / 'killed' / 'data' / 'rollout.db'}"
        more = ["--runs-at-once", str(wishes.runs_at_once)]
        if wishes.database == "postgresql":
            database = stack.enter_context(Postgres()).url
            more += ["--database", database]
        cluster = None
        if wishes.ray:
            cluster = stack.enter_context(RayCluster())
            cluster.add(4)
            more += ["--executor", f"ray:{cluster.address}"]
        steps = [0] * wishes.people
        with world(folder / "killed", wishes.seed, chat, *more, steps=steps, cluster=cluster) as made:
            kinds = _KINDS_WITH_RAY if wishes.ray else _KINDS
            found = list(kill_all_the_while(made, wishes.kills, wishes.seed, kinds))
            for person in made.people:
                person.enough()
            made.finish(PATIENCE)
        disturbed, people = held(database), made.people
        steps = [person.done for person in people]
        print(f"and now without: the same {sum(steps)} steps", flush=True)
        with world(folder / "whole", wishes.seed, chat, steps=steps) as made:
            made.finish(PATIENCE * (1 + sum(steps)))
        undisturbed = held(f"sqlite:///{folder / 'whole' / 'data' / 'rollout.db'}")
    found += [fault for person in (*people, *made.people) for fault in person.asked.faults]
    found += faults(disturbed, undisturbed, people)
    if not disturbed.number:
        found.append("no rollout was done, so nothing is known")
    for fault in found[:_SHOWN]:
        print(f"  {fault}")
    sentences = sum((person.asked.sentences for person in people), Counter[str]())
    for sentence, number in sentences.most_common(_SHOWN):
        print(f"said {number} ×  {sentence}")
    versions = sum(map(len, disturbed.versions.values()))
    acknowledged = sum(len(person.asked.runs) for person in people)
    again = sum(person.typed_again for person in people)
    print(
        f"{len(disturbed.runs)} runs ({acknowledged} acknowledged), {disturbed.number} rollouts, {versions} versions; "
        f"{again} commands typed again, {told_twice(people)} rollouts told twice"
    )
    print(f"FAIL: {len(found)} things are not as they are undisturbed" if found else "ok: as undisturbed")
    return 1 if found else 0


def _free_port() -> int:
    """One that no connection of anybody's is given by chance while the server is away."""
    for port in Random().sample(range(20_000, 30_000), 100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise SystemExit("No port from 20,000 to 30,000 is free.")


if __name__ == "__main__":
    sys.exit(main())
