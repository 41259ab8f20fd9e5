"""People at work: what each types follows from the seed, and what was killed under their hands is typed again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event, Thread

from killing import desk

_ROLLOUT = [sys.executable, "-m", "rollout"]
_CLIENT = [sys.executable, "-m", "killing.client"]
_MODULES = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")]
_BEGUN = re.compile(r"^run ([0-9a-f]{32}): \d+ rollouts", re.MULTILINE)
_KILLED, _NOT_ASKED = -9, 3
_MOST_TIMES = 60
"""How often a command is typed again at most; whoever has to do it more often is told of as a fault."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody knows: names of runs that were asked for, the ids of those that were acknowledged, the ids of the
    rollouts that were told of a run that was followed, the sentences that commands ended with, and what was not as it
    should be."""

    names: set[str] = field(default_factory=set)
    runs: dict[str, str] = field(default_factory=dict)
    told: dict[str, list[str]] = field(default_factory=dict)
    sentences: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Working:
    """A command that is being carried out."""

    process: subprocess.Popen[str]
    words: str


class Person:
    """One who works step by step: ``steps`` of them, or without it until :meth:`enough` is said."""

    def __init__(
        self, number: int, seed: int, folder: Path, *, address: str, key: str, steps: int | None = None
    ) -> None:
        self.asked = Asked()
        self.done = 0
        self.typed_again = 0
        self.working: Working | None = None
        self._name = f"p{number}"
        self._seed = seed
        self._steps = steps
        self._folder = folder / self._name
        self._folder.mkdir(parents=True)
        (self._folder / "rollout.toml").write_text("")
        self._environ = {
            **{name: value for name, value in os.environ.items() if name not in ("CI", "XDG_CONFIG_HOME")},
            "HOME": str(self._folder),
            "ROLLOUT_ENDPOINT": address,
            "ROLLOUT_API_KEY": key,
            # As at a terminal, each line is there once it is said.
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": os.pathsep.join(_MODULES),
        }
        self._over = Event()
        self._versions = {"desk": 0, "loop": 0}
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def enough(self) -> None:
        """The step that is being done is the last."""
        self._over.set()

    def wait(self, seconds: float) -> None:
        """Waits until the last step is done; that it is not is a fault."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._fault(f"is still at it: {self.working.words if self.working else 'nothing'}")

    def _work(self) -> None:
        try:
            # One push and one run there are at least.
            while self.done != self._steps and (self.done < 2 or not self._over.is_set()):
                self._step(Random(f"{self._seed} {self._name} {self.done}"))
                self.done += 1
        except Exception as error:
            self._fault(f"cannot go on after {self.done} steps: {error}")

    def _step(self, chance: Random) -> None:
        if self.done == 0:
            self._push(chance)
            return
        kinds: dict[Callable[[Random], None], int] = {
            self._push: 2,
            self._push_many: 2,
            self._begin_many: 3,
            self._run: 5,
            self._follow: 1,
            self._runs: 1,
        }
        (do,) = [self._run] if self.done == 1 else chance.choices(list(kinds), list(kinds.values()))
        do(chance)

    def _push(self, _: Random) -> None:
        self._versions["desk"] += 1
        desk.write(self._folder, self._slug("desk"), self._versions["desk"])
        self._until_done("rollout push", [*_ROLLOUT, "push", self._slug("desk")])

    def _push_many(self, chance: Random) -> None:
        first, last = self._versions["loop"] + 1, self._versions["loop"] + chance.randint(5, 20)
        tries: dict[int, int] = {}

        def command() -> list[str]:
            tries[first] = tries.get(first, 0) + 1
            return [*_CLIENT, "push", str(self._folder), self._slug("loop"), str(first), str(last)]

        def heard(output: str) -> None:
            nonlocal first
            for line in _whole_lines(output, "pushed "):
                _, version, number, changed = line.split()
                if int(number) != first or int(version) != first:
                    self._fault(f"pushed version {first}, and was told of number {number}")
                if changed != "changed" and tries[first] == 1:
                    self._fault(f"pushed version {first} once, and was told that it had been there")
                first += 1
                tries[first] = tries.get(first, 1)

        self._until_done("a loop that pushes", command, heard=heard)
        self._versions["loop"] = last

    def _begin_many(self, chance: Random) -> None:
        first, last, n = 0, chance.randint(3, 8), chance.randint(1, 3)
        time, names = 0, ""

        def command() -> list[str]:
            nonlocal time, names
            time += 1
            names = f"{self._name}.{self.done}.# time {time}"
            self.asked.names.update(names.replace("#", str(each)) for each in range(first, last + 1))
            return [*_CLIENT, "begin", self._slug("desk"), names, str(first), str(last), str(n)]

        def heard(output: str) -> None:
            nonlocal first
            for line in _whole_lines(output, "begun "):
                _, number, run_id = line.split()
                self.asked.runs[names.replace("#", number)] = run_id
                first = int(number) + 1

        self._until_done("a loop that begins runs", command, heard=heard, is_over=lambda: first > last)

    def _run(self, chance: Random) -> None:
        n, watch = chance.randint(6, 18), chance.random() < 0.7
        time, name, run_id = 0, "", None

        def command() -> list[str]:
            nonlocal time, name
            time += 1
            name = f"{self._name}.{self.done} time {time}"
            self.asked.names.add(name)
            asking = ["run", self._slug("desk"), "--model", "openai/gpt-4o-mini", "-n", str(n)]
            how = ["--concurrency", "4", "--name", name, "--watch" if watch else "--no-watch"]
            return [*_ROLLOUT, *asking, *how]

        def heard(output: str) -> None:
            nonlocal run_id
            if (found := _BEGUN.search(output)) is not None:
                run_id = self.asked.runs[name] = found[1]

        what = f"rollout run {'--watch' if watch else '--no-watch'}"
        self._until_done(what, command, heard=heard, fine=(0, 1), is_over=lambda: run_id is not None)
        if watch and run_id is not None:
            self._look(run_id)

    def _follow(self, chance: Random) -> None:
        if not self.asked.runs:
            return
        run_id = self.asked.runs[sorted(self.asked.runs)[chance.randrange(len(self.asked.runs))]]
        self._look(run_id)

    def _look(self, run_id: str) -> None:
        def heard(output: str) -> None:
            self.asked.told[run_id] = [line.split()[1] for line in _whole_lines(output, "rollout ")]

        self._until_done("one who follows a run", [*_CLIENT, "follow", run_id], heard=heard)

    def _runs(self, _: Random) -> None:
        def heard(output: str) -> None:
            with_all = json.loads(output)["data"]["runs"] if output.strip() else []
            self._listed({run["id"]: run["name"] for run in with_all}, len(with_all))

        command = [*_ROLLOUT, "runs", "--env", self._slug("desk"), "--limit", "1000", "--json"]
        self._until_done("rollout runs", command, heard_at_end=heard)

    def _listed(self, named: dict[str, str], number: int) -> None:
        if len(named) != number:
            self._fault("saw a run twice in the list")
        for name, run_id in self.asked.runs.items():
            if named.get(run_id) != name:
                self._fault(f"does not see the run {name}, which was acknowledged")

    def _until_done(
        self,
        words: str,
        command: list[str] | Callable[[], list[str]],
        *,
        heard: Callable[[str], None] = lambda output: None,
        heard_at_end: Callable[[str], None] = lambda output: None,
        fine: tuple[int, ...] = (0,),
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Types it until it ends by itself, or until what it said is all that was wanted."""
        for _ in range(_MOST_TIMES):
            typed = command if isinstance(command, list) else command()
            process = subprocess.Popen(
                typed,
                cwd=self._folder,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.working = Working(process, words)
            output, said = process.communicate()
            self.working = None
            heard(output)
            if process.returncode in fine:
                heard_at_end(output)
                return
            self.asked.sentences.update(line for line in said.splitlines() if line.startswith("error: "))
            if process.returncode not in (_KILLED, _NOT_ASKED) or "Traceback" in said:
                raise RuntimeError(f"{words} ended with {process.returncode}: {said.strip()[-500:]}")
            if is_over():
                return
            self.typed_again += 1
            # Nobody types faster.
            Event().wait(0.2)
        raise RuntimeError(f"{words} was typed {_MOST_TIMES} times: {said.strip()[-500:]}")

    def _slug(self, what: str) -> str:
        return f"{what}-{self._name}"

    def _fault(self, words: str) -> None:
        self.asked.faults.append(f"{self._name} {words}")


def _whole_lines(output: str, start: str) -> list[str]:
    """The lines that begin so and came to their end."""
    return [line for line in output.split("\n")[:-1] if line.startswith(start)]


__all__ = ["Asked", "Person", "Working"]
