"""Environment and Task: what authors write in Python, and what the rest of the road works on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from rollout.database import DatabaseSpec
from rollout.language.canonical import canonical, digest, whole_numbers
from rollout.language.compiled_parts import compiled_config, compiled_verifier, plain_text

Split = Literal["dev", "test", "train"]
Template = Literal["sql", "workflow", "code-editing", "custom", "browser"]


@dataclass(slots=True)
class Task:
    """One thing an agent is asked to do.

    ``hidden_ground_truth`` is never shown to the agent; ``input`` is shown after the instruction. ``id`` is the
    author's stable name. ``solution`` is the list of tool calls that solves the task; it never leaves the machine.
    """

    instruction: str
    hidden_ground_truth: dict[str, Any] = field(default_factory=dict)
    input: dict[str, Any] | None = None
    split: Split = "dev"
    id: str | None = field(default=None, kw_only=True)
    solution: list[dict[str, Any]] | None = field(default=None, kw_only=True)

    @property
    def key(self) -> str:
        """What the task is known by: its id, or 16 hex digits of the digest of its instruction and input."""
        if self.id is not None:
            return self.id
        return digest(canonical([self.instruction, self.input or {}])).removeprefix("sha256:")[:16]

    @property
    def content(self) -> str:
        """The digest of what is asked and what is wanted, whatever the task is called and whichever split it is in."""
        return digest(canonical([self.instruction, self.input or {}, self.hidden_ground_truth]))

    @classmethod
    def from_jsonl(cls, path: str | PathLike[str]) -> list[Task]:
        """Reads one task a line. Raises ValueError with file, line and column for a line that is no task."""
        from rollout.source.tasks import read_jsonl_tasks

        return [cls.from_value(value) for value in read_jsonl_tasks(path)]

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> Task:
        """The task that one parsed line says; the line has been checked."""
        truth = (
            value["hidden_ground_truth"]
            if "hidden_ground_truth" in value
            else value.get("hiddenGroundTruth", {})
        )
        return cls(
            instruction=value["instruction"],
            hidden_ground_truth=truth,
            input=value.get("input"),
            split=value.get("split", "dev"),
            id=value.get("id"),
            solution=value.get("solution"),
        )

    def to_payload(self) -> dict[str, Any]:
        """The task as the platform takes it: ``{instruction, hiddenGroundTruth, split, input?}``."""
        payload: dict[str, Any] = {
            "instruction": self.instruction,
            "hiddenGroundTruth": self.hidden_ground_truth,
            "split": self.split,
        }
        if self.input is not None:
            payload["input"] = self.input
        return payload


@dataclass(slots=True)
class Environment:
    """A world with tools, the tasks set in it, and the verifier that judges what the agent did.

    A ``sql`` environment has ``schema`` (DDL) and optionally ``seed``; every other template has ``config``. How its
    database is run on this machine is said by ``dialect`` (what schema and seed are written in), ``now`` (an ISO 8601
    time at which its clock stands still) and ``read_only`` (whether agents may only query); they never leave it. Nor
    does ``folder``, where its files are, among them the Python files that judge; two that differ in it only are equal.
    """

    slug: str
    name: str
    template: Template
    tasks: list[Task] = field(default_factory=list)
    description: str | None = None
    schema: str | None = None
    seed: str | None = None
    config: dict[str, Any] | None = None
    verifier: dict[str, Any] | None = field(default=None, kw_only=True)
    dialect: str | None = field(default=None, kw_only=True)
    now: str | None = field(default=None, kw_only=True)
    read_only: bool = field(default=True, kw_only=True)
    folder: Path | None = field(default=None, kw_only=True, compare=False)

    @property
    def database(self) -> DatabaseSpec | None:
        """What the environment says of its database; None for every template but sql."""
        if self.template != "sql":
            return None
        return DatabaseSpec(self.schema or "", self.seed or "", self.dialect, self.now, self.read_only)

    def push(self, client: Any = None) -> dict[str, Any]:
        """Creates or updates the environment where ``client`` (a :class:`rollout.Client`, by default a new one) asks,
        its verifier with it; the answer has ``slug`` and ``tasksAdded``.

        What is held there is replaced; ``rollout push`` looks at it before. Raises :class:`rollout.RolloutError`, and
        ValueError for what cannot be compiled or cannot judge there.
        """
        # The one call up the road, by whoever has come to its end.
        pushed: dict[str, Any] = import_module("rollout.platform.push").push_object(self, client)
        return pushed

    def to_payload(self) -> dict[str, Any]:
        """The body of ``POST /api/environments``; the verifier travels by its own PUT.

        Raises ValueError when the template and ``config``, ``schema``, ``seed`` do not go together.
        """
        if self.template == "sql":
            if self.config is not None:
                raise ValueError("A sql environment has schema and seed; it takes no config.")
            if not self.schema:
                raise ValueError("A sql environment needs a schema: its CREATE TABLE statements.")
        elif self.config is None:
            raise ValueError(f"A {self.template} environment needs a config.")
        elif self.schema is not None or self.seed is not None:
            raise ValueError(f"Only a sql environment has schema and seed; this one is {self.template}.")
        elif self.dialect is not None or self.now is not None or not self.read_only:
            raise ValueError(
                f"Only a sql environment has dialect, now and read_only; this one is {self.template}."
            )
        payload: dict[str, Any] = {"slug": self.slug, "name": self.name, "template": self.template}
        if self.description is not None:
            payload["description"] = self.description
        if self.template == "sql":
            payload["schema"] = self.schema
            if self.seed is not None:
                payload["seed"] = self.seed
        else:
            payload["config"] = self.config
        payload["tasks"] = [task.to_payload() for task in self.tasks]
        return payload


def as_compiled(environment: Environment) -> Environment:
    """The environment as its compiled file says it, with what stays on this machine: ids, solutions, its database's
    settings and its folder.

    It is what runs, so that a copy which was pushed and unpacked comes to the same.
    """
    config, verifier = environment.config, environment.verifier
    return replace(
        environment,
        tasks=[_task_as_compiled(task) for task in environment.tasks],
        description=plain_text(environment.description or "") or None,
        schema=environment.schema and plain_text(environment.schema),
        seed=plain_text(environment.seed or "") or None,
        config=None if config is None else compiled_config(environment.template, config),
        verifier=None if verifier is None else compiled_verifier(verifier),
    )


def _task_as_compiled(task: Task) -> Task:
    return Task(
        task.instruction,
        whole_numbers(task.hidden_ground_truth),
        whole_numbers(task.input) if task.input else None,
        task.split,
        id=task.id,
        solution=task.solution,
    )


__all__ = ["Environment", "Split", "Task", "Template", "as_compiled"]
