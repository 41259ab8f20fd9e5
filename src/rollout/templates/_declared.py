"""Worlds whose tools are declared in the config: one state that tools change, fixtures that nothing does."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.environment import Environment, Task
from rollout.language.compare import compare
from rollout.language.interpolation import ROOM, FillError, MalformedError, Scope, fresh
from rollout.language.params_schema import parameters
from rollout.language.paths import PathError, Step, TargetError, put
from rollout.language.room import OverfullError, Room, check_growth, size_of_state
from rollout.templates import Result, Script, TemplateError, Tool
from rollout.templates._appending import Appender, solve
from rollout.templates._overfull import Given, answered

Run = Callable[["DeclaredWorld", Mapping[str, Any]], Any]
"""What a tool does: the value it answers with. Raises FillError or TargetError for what an agent can cause."""


@dataclass(frozen=True, slots=True)
class Action:
    """A compiled tool, and what it may add to the state in a call that does nothing else."""

    run: Run
    appenders: tuple[Appender, ...] = ()


Compile = Callable[[Mapping[str, Any], "DeclaredStage"], Action]


class Refusal(Exception):
    """A call that cannot be answered; its text is a sentence for the agent."""


class DeclaredStage:
    """An environment with declared tools, made ready. ``fixtures`` are shared by all worlds and never changed."""

    def __init__(self, environment: Environment, *, state_key: str, compile_tool: Compile) -> None:
        config = environment.config or {}
        self.notes = str(config.get("description") or "")
        self.fixtures = _section(config, "fixtures")
        self._image = marshal.dumps(_section(config, state_key))
        self.start_size = size_of_state(self.start_state())
        self.tools: list[Tool] = []
        self.actions: dict[str, Action] = {}
        for declared in config.get("tools") or ():
            self._add(declared, compile_tool)

    def _add(self, declared: Mapping[str, Any], compile_tool: Compile) -> None:
        name = declared.get("name")
        if not isinstance(name, str) or not name:
            raise TemplateError("A tool has no name.")
        if name in self.actions:
            raise TemplateError(f"Two tools are called “{name}”.")
        try:
            self.actions[name] = compile_tool(declared, self)
        except (MalformedError, PathError) as error:
            raise TemplateError(f"Tool “{name}” cannot work. {error}") from None
        self.tools.append(Tool(name, str(declared.get("description") or ""), parameters(declared)))

    def start_state(self) -> dict[str, Any]:
        """A fresh copy of the state as it is before the first call."""
        state: dict[str, Any] = marshal.loads(self._image)
        return state

    def open(self, task: Task) -> DeclaredWorld:
        """A world with a state of its own."""
        return DeclaredWorld(self, task)

    def solve(self, task: Task) -> Script | None:
        """The calls that add what the ground truth has more than the start state, where they are certain.

        They were tried: a call may be refused, or come to something else, because of what holds when it is made.
        """
        appenders = [appender for action in self.actions.values() for appender in action.appenders]
        script = solve(appenders, self.start_state(), task.hidden_ground_truth)
        return script if script is not None and self._leads_to(script, task) else None

    def _leads_to(self, script: Script, task: Task) -> bool:
        world = self.open(task)
        for step in script:
            try:
                self.actions[step["tool"]].run(world, step["args"])
            except (FillError, TargetError, Refusal, OverfullError):
                return False
        return all(
            compare(wanted, world.now.get(key)) is None for key, wanted in task.hidden_ground_truth.items()
        )


class DeclaredWorld:
    """One rollout's own state, and the tools that change it. ``now`` is the state itself."""

    def __init__(self, stage: DeclaredStage, task: Task) -> None:
        self.now = stage.start_state()
        self._stage = stage
        self._task = {} if task.input is None else {"input": fresh(task.input)}
        self._given = Given()
        self._added = 0

    async def call(self, name: str, args: Mapping[str, Any]) -> Result:
        """Runs one tool; whatever an agent can cause comes back as an error in the result.

        Raises TemplateError where a tool makes more than there is room for.
        """
        self._given.add(args)
        try:
            return answered(Result.of(self._stage.actions[name].run(self, args)))
        except OverfullError as error:
            return self._given.refuse(name, error)
        except (FillError, TargetError, Refusal) as error:
            return Result.failed(str(error))

    def scope(self, args: Mapping[str, Any]) -> Scope:
        """What placeholders may name during a call, and the room there is for what they stand for."""
        return {
            "args": args,
            "state": self.now,
            "fixtures": self._stage.fixtures,
            "task": self._task,
            ROOM: Room(),
        }

    def replace(self, state: dict[str, Any]) -> None:
        """Puts a state in the place of the one there is. Raises OverfullError where it is too large."""
        check_growth(size_of_state(state) - self._stage.start_size)
        self.now = state

    def append(self, steps: Sequence[Step], item: Any, *, existing: Collection[int] = ()) -> None:
        """Adds an item to a list of the state. Raises OverfullError where there is no room for it, and TargetError."""
        added = self._added + size_of_state({"item": item}) + sum(len(str(step)) for step in steps)
        check_growth(added)
        put(self.now, steps, item, append=True, existing=existing)
        self._added = added

    def state(self) -> dict[str, Any]:
        """A copy of the state."""
        return copy(self.now)

    async def close(self) -> None:
        """There is nothing to give back."""


def copy(state: dict[str, Any]) -> dict[str, Any]:
    """A deep copy of a JSON object."""
    # marshal takes a fifth of the time of copy.deepcopy, and JSON values are all it is given here.
    copied: dict[str, Any] = marshal.loads(marshal.dumps(state))
    return copied


def _section(config: Mapping[str, Any], key: str) -> dict[str, Any]:
    section = config.get(key)
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise TemplateError(f"“{key}” is not an object.")
    return section


__all__ = ["Action", "Compile", "DeclaredStage", "DeclaredWorld", "Refusal", "Run", "copy"]
