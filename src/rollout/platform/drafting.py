"""An environment as a model wrote it: taken as data of a stranger, laid out as a folder, checked, and proved.

A draft is the platform's envelope ``{config | schema + seed?, description?, tasks, verifier?}``. Its tasks may have
``id`` and ``solution`` besides, which prove it. Nothing in it is run outside a sandbox, and no file is written but
below a folder of ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rollout.check import Report, check
from rollout.compile import Compiled, compile_environment
from rollout.compile.spread import spread
from rollout.diagnostics import Diagnostic, Severity
from rollout.environment import Environment
from rollout.family import member
from rollout.sandbox import SandboxError, asked_for, chosen
from rollout.scratch import scratch
from rollout.source.folder import read_folder
from rollout.source.place import MAX_DEPTH

LARGEST = 400_000
"""How many characters of JSON a draft has at most."""

MOST_TASKS = 200
SECONDS_TO_PROVE = 120.0
"""How long proving a draft may take; one that takes longer is not proved."""

NOT_TAKEN = {
    "python": "it would run code that nobody has read",
    "llm_judge": "a proof asks no model, so nothing would show that it judges rightly",
}
"""Primitives that no draft may have, and why."""

_KEYS = {"config": dict, "schema": str, "seed": str, "description": str, "tasks": list, "verifier": dict}
_TASK_KEYS = {
    "instruction": str,
    "hiddenGroundTruth": dict,
    "split": str,
    "input": dict,
    "id": str,
    "solution": list,
}
_WORDS = {dict: "an object", list: "a list", str: "text"}


class DraftError(ValueError):
    """What is no draft at all; the text is a sentence."""


@dataclass(frozen=True, slots=True)
class Draft:
    """``said`` is the envelope, in the platform's names and without what is empty."""

    template: str
    said: Mapping[str, Any]

    def payload(self, slug: str, name: str) -> dict[str, Any]:
        """As :func:`rollout.compile.spread.spread` takes it, ids and solutions with it."""
        environment = {"slug": slug, "name": name, "template": self.template, **self.said}
        return {"environment": environment, "verifier": environment.pop("verifier", None)}


@dataclass(frozen=True, slots=True)
class Examined:
    """What came of a draft: the files that it would be, what is wrong with them, and, of a sound one, the rest.

    ``trouble`` is a sentence where it could not even be laid out or proved."""

    draft: Draft
    files: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]
    environment: Environment | None = None
    compiled: Compiled | None = None
    trouble: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it is checked and proved."""
        return (
            self.trouble is None
            and self.compiled is not None
            and not any(found.severity is Severity.ERROR for found in self.diagnostics)
        )


def read_draft(value: Any, template: str) -> Draft:
    """The draft that a JSON value says. Raises DraftError.

    Null is as not there. Keys that begin with ``_`` are remarks of whoever answered, and are left out.
    """
    if not isinstance(value, dict):
        raise DraftError("An environment is a JSON object.")
    _bound(value, MAX_DEPTH - 8)
    said = {key: each for key, each in value.items() if each is not None and not key.startswith("_")}
    wanted = ("schema", "seed") if template == "sql" else ("config",)
    allowed = (*wanted, "description", "tasks", "verifier")
    for key, each in said.items():
        if key not in allowed:
            raise DraftError(f"There is no “{key[:80]}” in it: its keys are {', '.join(allowed)}.")
        if not isinstance(each, _KEYS[key]):
            raise DraftError(f"“{key}” is to be {_WORDS[_KEYS[key]]}.")
    for key in (wanted[0], "tasks"):
        if key not in said:
            raise DraftError(f"“{key}” is missing.")
    tasks = [_task(task, number) for number, task in enumerate(said["tasks"])]
    if not 1 <= len(tasks) <= MOST_TASKS:
        raise DraftError(f"It has {len(tasks)} tasks, and 1 to {MOST_TASKS} are taken.")
    for primitive in _primitives(said):
        kind = primitive.get("type")
        if isinstance(kind, str) and (why := NOT_TAKEN.get(kind)) is not None:
            raise DraftError(f"The primitive “{kind}” is not taken here: {why}.")
    return Draft(template, {**said, "tasks": tasks})


def known_parts(value: Any) -> tuple[Any, list[str]]:
    """An answer without what is a platform's own, such as ``createdAt``; and what that was."""
    if not isinstance(value, dict):
        return value, []
    own = [key for key in value if key not in _KEYS and not key.startswith("_")]
    known = {key: each for key, each in value.items() if key in _KEYS}
    if isinstance(tasks := known.get("tasks"), list):
        taken = {*_TASK_KEYS, "hidden_ground_truth"}
        own += sorted(
            {f"tasks[].{key}" for task in tasks if isinstance(task, dict) for key in {*task} - taken}
        )
        known["tasks"] = [
            {key: each for key, each in task.items() if key in taken} if isinstance(task, dict) else task
            for task in tasks
        ]
    return known, own


def draft_of(environment: Environment, *, whole: bool = False) -> dict[str, Any]:
    """The envelope of an environment that is there; ids and solutions, which stay here, only of the ``whole``.

    Raises ValueError for what cannot be compiled.
    """
    compiled = compile_environment(environment)
    said = {
        key: each for key, each in compiled.environment.items() if key not in ("slug", "name", "template")
    }
    if whole:
        said["tasks"] = [
            {**({"id": task.id} if task.id is not None else {}), **payload}
            | ({"solution": task.solution} if task.solution is not None else {})
            for task, payload in zip(environment.tasks, said["tasks"], strict=True)
        ]
    if compiled.verifier is not None:
        said["verifier"] = compiled.verifier
    return said


def examine(draft: Draft, *, slug: str, name: str) -> Examined:
    """Lays a draft out as files, checks them by all rules and, where nothing is wrong, proves them.

    Takes its time and an event loop of its own: not for the thread of another. Never raises for what the draft says.
    """
    try:
        files = spread(draft.payload(slug, name))
        with scratch("draft") as made:
            folder = Path(made).resolve() / "draft"
            _fill(folder, files)
            report = check(read_folder(folder, slug))
            if not report.ok:
                return Examined(draft, files, tuple(report.diagnostics))
            return _proved(draft, files, report)
    except (ValueError, RecursionError, OSError) as error:
        return Examined(draft, {}, (), trouble=f"It cannot be laid out as files: {error}.")


def in_words(examined: Examined) -> str:
    """What is wrong with a draft, as text with the lines that it stands in."""
    from rollout.check.masking import without_secrets

    parts = [examined.trouble or ""]
    if examined.diagnostics:
        some = sorted(examined.diagnostics, key=lambda found: found.severity is not Severity.ERROR)[:40]
        text: Any = member("rollout.diagnostics", "text")
        parts.append(text.render(without_secrets(some), color=False, checked=[]))
    return "\n".join(part.rstrip("\n") for part in parts if part)


def _proved(draft: Draft, files: Mapping[str, str], report: Report) -> Examined:
    from rollout.engine.prove import diagnose, prove

    environment = report.environment()
    found = list(report.diagnostics)
    try:
        compiled = compile_environment(environment)
        with sandboxed():
            proof = asyncio.run(asyncio.wait_for(prove(environment), SECONDS_TO_PROVE))
    except SandboxError as error:
        return Examined(draft, files, tuple(found), environment, trouble=str(error))
    except TimeoutError:
        trouble = f"It could not be proved within {SECONDS_TO_PROVE:g} s."
        return Examined(draft, files, tuple(found), environment, trouble=trouble)
    found += diagnose(report.document, proof)
    found.sort(key=lambda diagnostic: diagnostic.sort_key)
    is_told = any(each.severity is Severity.ERROR for each in found)
    doubt = None if proof.holds or is_told else "It is not proved."
    return Examined(draft, files, tuple(found), environment, compiled, doubt)


def sandboxed() -> AbstractContextManager[None]:
    """Even who runs the commands of their own environments without a sandbox has not read this one."""
    return chosen("auto" if asked_for() == "none" else None)


def _fill(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir()
    for path, text in files.items():
        file = folder / path
        if not file.resolve().is_relative_to(folder):
            raise ValueError(f"“{path}” does not stay in the folder")
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="") as stream:
            stream.write(text)


def _task(value: Any, number: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DraftError(f"Task {number} is no object.")
    if "hidden_ground_truth" in value and "hiddenGroundTruth" not in value:
        value = {**value, "hiddenGroundTruth": value["hidden_ground_truth"]}
    task = {key: each for key, each in value.items() if each is not None and key != "hidden_ground_truth"}
    for key, each in task.items():
        if key not in _TASK_KEYS:
            raise DraftError(f"Task {number} has “{key[:80]}”: a task's keys are {', '.join(_TASK_KEYS)}.")
        if not isinstance(each, _TASK_KEYS[key]):
            raise DraftError(f"“{key}” of task {number} is to be {_WORDS[_TASK_KEYS[key]]}.")
    if "instruction" not in task:
        raise DraftError(f"Task {number} has no instruction.")
    order = ("id", "instruction", "split", "input", "hiddenGroundTruth", "solution")
    return {key: task[key] for key in order if key in task}


def _primitives(said: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    primitives = said.get("verifier", {}).get("primitives")
    if not isinstance(primitives, list):
        return ()
    return [each for each in primitives if isinstance(each, dict)]


def _bound(value: Any, depth: int) -> None:
    if depth < 0:
        raise DraftError("It is nested too deeply.")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise DraftError("It has half of a surrogate pair, which is no character.") from None
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _bound(each, depth - 1)
    if isinstance(value, dict):
        for key in value:
            _bound(key, depth)


__all__ = [
    "LARGEST",
    "SECONDS_TO_PROVE",
    "Draft",
    "DraftError",
    "Examined",
    "draft_of",
    "examine",
    "in_words",
    "known_parts",
    "read_draft",
    "sandboxed",
]
