"""What a worker elsewhere is sent and sends back: plain JSON, so that nothing depends on what is installed there.

A parcel has two halves. The open one holds the environment without its tasks, the files that judge, and what results
depend on; the private one holds the values of the variables that were read for keys, and the settings, in whose headers
keys may stand. Tasks travel one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rollout.engine import Failure, stored
from rollout.engine.batch import Attempt, Done, Job
from rollout.engine.executors import Recipe
from rollout.engine.inputs import inputs, judging_files
from rollout.engine.rollout_line import dump, read_line
from rollout.environment import Environment, Task
from rollout.models import ConnectError, Patience, Sampling, Setup, Usage, address, connect
from rollout.settings import Price, ProviderSettings, Settings

_AT_HOME = ("tasks", "folder")


class Noted(Mapping[str, str]):
    """Environment variables that remember which of them were read."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.read: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        value = self._variables[name]
        self.read[name] = value
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


@dataclass(frozen=True, slots=True)
class Parcel:
    """A recipe as bytes."""

    data: bytes
    private: bytes = field(repr=False)


def pack(recipe: Recipe) -> Parcel:
    """A recipe for a worker elsewhere. What cannot be run here cannot be run there: raises as ``furnish`` does."""
    noted = Noted(recipe.setup.environ)
    setup = replace(recipe.setup, environ=noted)
    replace(recipe, setup=setup).furnish()
    for judge in _judges(recipe.environment):
        # A judge that cannot be had leaves its rollouts unscored, there as here.
        with suppress(ConnectError):
            connect(judge, setup)
    environment = recipe.environment
    data = {
        "environment": {
            each.name: getattr(environment, each.name)
            for each in fields(environment)
            if each.name not in _AT_HOME
        },
        "files": None if environment.folder is None else judging_files(environment),
        "model": recipe.model,
        "sampling": asdict(recipe.sampling),
        "max_tool_calls": recipe.max_tool_calls,
        "seconds": recipe.seconds,
        "sandbox": recipe.sandbox,
        "patience": asdict(setup.patience),
        "inputs": inputs_of(recipe),
    }
    settings = setup.settings
    private = {
        "variables": noted.read,
        "providers": {name: asdict(each) for name, each in settings.providers.items()},
        "prices": {name: asdict(each) for name, each in settings.prices.items()},
    }
    return Parcel(dump(data), dump(private))


def unpack(parcel: Parcel, folder: Path, *, concurrency: int) -> tuple[Recipe, dict[str, Any]]:
    """The recipe in a parcel, and what its inputs were where it was packed. Files are laid down in ``folder``."""
    data, private = read_line(parcel.data), read_line(parcel.private)
    for name, text in (data["files"] or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    settings = Settings(
        providers={name: ProviderSettings(**each) for name, each in private["providers"].items()},
        prices={name: Price(**each) for name, each in private["prices"].items()},
    )
    recipe = Recipe(
        Environment(**data["environment"], folder=None if data["files"] is None else folder),
        data["model"],
        Sampling(**data["sampling"]),
        data["max_tool_calls"],
        data["seconds"],
        Setup(settings, private["variables"], concurrency, Patience(**data["patience"])),
        data["sandbox"],
    )
    return recipe, data["inputs"]


def inputs_of(recipe: Recipe) -> dict[str, Any]:
    """What results depend on besides the tasks; see :mod:`rollout.engine.inputs`."""
    return inputs(
        replace(recipe.environment, tasks=[]),
        recipe.model,
        address=address(recipe.model, recipe.setup),
        sampling=recipe.sampling,
        max_tool_calls=recipe.max_tool_calls,
        seconds=recipe.seconds,
    )


def pack_task(task: Task) -> bytes:
    """A task as JSON, with its id, solution and ground truth."""
    return dump(task)


def unpack_task(data: bytes) -> Task:
    """The task that was packed."""
    return Task(**read_line(data))


def read_done(job: Job, line: bytes, before: tuple[Attempt, ...] = ()) -> Done:
    """The finished rollout that a journal's line says, with attempts ``before`` it.

    Raises StoredError for what is no rollout of this job.
    """
    value = read_line(line)
    rollout = stored.from_json(value)
    if (rollout.trace.task, rollout.trace.trial) != (job.task.key, job.trial):
        raise stored.StoredError(
            f"is of another rollout: “{rollout.trace.task}”, trial {rollout.trace.trial}"
        )
    return Done(job, rollout, (*before, *(_attempt(each) for each in value["earlier"])))


def _attempt(value: Mapping[str, Any]) -> Attempt:
    return Attempt(Failure(**value["failure"]), Usage(**value["usage"]), value["seconds"])


def _judges(environment: Environment) -> list[str]:
    primitives = (environment.verifier or {}).get("primitives") or ()
    return [each["model"] for each in primitives if isinstance(each.get("model"), str)]


__all__ = ["Noted", "Parcel", "inputs_of", "pack", "pack_task", "read_done", "unpack", "unpack_task"]
