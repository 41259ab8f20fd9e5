"""What a run is to do: the options of `rollout test`, and of a run that is taken up again what it was begun with."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import rollout
from rollout.analysis.summary import Brief, Summary
from rollout.check import Report
from rollout.cli.inputs import project_settings, sound_environment
from rollout.cli.output import fail, note
from rollout.compile import compile_environment
from rollout.engine.batch import Job, jobs
from rollout.engine.inputs import changes, inputs
from rollout.engine.journal import Journal
from rollout.engine.rollout_line import Key
from rollout.engine.run_folder import JournalError
from rollout.environment import Environment, Task
from rollout.models import ConnectError, Sampling, Setup, address
from rollout.settings import Settings

Sound = tuple[Report, Environment]
"""An environment without errors, and the report that says so."""

LIMIT, TEMPERATURE, MAX_TOOL_CALLS = 3, 0.3, 12


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options that say what a run is; None where the command line does not.

    ``temperature`` is ``none`` where it is not to be sent.
    """

    path: str | None = None
    slug: str | None = None
    model: str | None = None
    task: str | None = None
    split: str | None = None
    limit: int | None = None
    all: bool = False
    trials: int | None = None
    temperature: float | Literal["none"] | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    max_tool_calls: int | None = None
    seconds: float | None = None

    @property
    def selects(self) -> bool:
        """Whether it says which tasks."""
        return self.task is not None or self.split is not None or self.limit is not None or self.all

    def after(self, begun: Mapping[str, Any]) -> Wishes:
        """These wishes, and of a run that was begun whatever they leave open."""
        was = Wishes(**begun)
        given = {name: getattr(self, name) for name in Wishes.__slots__ if getattr(self, name) is not None}
        if not self.selects:
            given = {name: value for name, value in given.items() if name not in _SELECTING}
        else:
            was = replace(was, task=None, split=None, limit=None, all=False)
        return replace(was, **given)

    def resolved(self) -> Wishes:
        """These wishes with what is the default for the rest."""
        return replace(
            self,
            trials=self.trials or 1,
            limit=None if self.all else (LIMIT if self.limit is None else self.limit),
            temperature=TEMPERATURE if self.temperature is None else self.temperature,
            max_tool_calls=MAX_TOOL_CALLS if self.max_tool_calls is None else self.max_tool_calls,
        )

    def said(self) -> dict[str, Any]:
        """The wishes as JSON."""
        return {name: getattr(self, name) for name in Wishes.__slots__}


_SELECTING = ("task", "split", "limit", "all")


@dataclass(frozen=True, slots=True)
class Portion:
    """Some of the rollouts of a run: so many trials of some tasks, and the options that choose them."""

    tasks: Sequence[Task]
    trials: int
    options: Mapping[str, Any]

    def is_within(self, other: Portion) -> bool:
        """Whether all its rollouts are among another's."""
        keys = {task.key for task in other.tasks}
        return self.trials <= other.trials and all(task.key in keys for task in self.tasks)


@dataclass(slots=True)
class Plan:
    """A run that is to be done: which rollouts, with what, and those that were done before.

    ``tasks`` and ``trials`` are those of the whole run. Where one that was begun is gone on with, ``portions`` make up
    the whole run, and ``chosen`` are those that are done now.
    """

    wishes: Wishes
    label: str
    environment: Environment
    tasks: Sequence[Task]
    model: str
    trials: int
    sampling: Sampling
    settings: Settings = field(default_factory=Settings)
    address: str | None = None
    journal: Journal | None = None
    summary: Summary = field(default_factory=Summary)
    done: set[Key] = field(default_factory=set)
    broken: dict[Key, Brief] = field(default_factory=dict)
    portions: Sequence[Portion] = ()
    chosen: Sequence[Portion] = ()

    @property
    def planned(self) -> int:
        """How many rollouts the run has."""
        if len(self.portions) < 2:
            return len(self.tasks) * self.trials
        return sum(1 for _ in _jobs(self.portions))

    @property
    def done_before(self) -> int:
        """How many of them are done."""
        if not self.done:
            return 0
        whole = _jobs(self.portions) if self.portions else jobs(self.tasks, self.trials)
        return sum(Key(job.task.key, job.trial) in self.done for job in whole)

    def left(self) -> Iterator[Job]:
        """The rollouts that are to be done now."""
        chosen = _jobs(self.chosen) if self.chosen else jobs(self.tasks, self.trials)
        return (job for job in chosen if Key(job.task.key, job.trial) not in self.done)

    def begin(self, out: str) -> None:
        """Opens a new folder for the run. Ends the command with a sentence where that cannot be."""
        try:
            self.journal = Journal.begin(Path(out), config_of(self))
        except JournalError as error:
            fail(str(error), error.hint)

    def close(self) -> None:
        """Gives the run's folder back."""
        if self.journal is not None:
            self.journal.close()


def _jobs(portions: Sequence[Portion]) -> Iterator[Job]:
    """The rollouts of several portions, each once."""
    met: set[Key] = set()
    for portion in portions:
        for job in jobs(portion.tasks, portion.trials):
            key = Key(job.task.key, job.trial)
            if key not in met:
                met.add(key)
                yield job


def plan(wishes: Wishes, *, resume: str | None, sound: Sound | None = None) -> Plan:
    """Reads the environment and what is in a run's folder. Ends the command with a sentence where that cannot be.

    ``sound`` is the environment of ``wishes``, where it has been read and checked before.

    A new folder is opened by :meth:`Plan.begin`, once the model is there: nothing is left of a run that cannot be.
    """
    journal: Journal | None = None
    if resume is None:
        return _read(wishes.resolved(), sound)
    try:
        journal, opened = Journal.go_on(Path(resume))
    except JournalError as error:
        fail(str(error), error.hint)
    try:
        if opened.torn:
            note(f"The last line of “{resume}” had been cut short; that rollout is done again.")
        before: dict[str, Any] = opened.config["options"]
        found = _read(wishes.after(before).resolved(), sound)
        found.journal = journal
        _refuse_changes(found, opened.config, resume)
        _widen(found, wishes, opened.config)
        for place in sorted(opened.places.values()):
            _count(found, _brief(journal.read(place), resume))
        first, *others = [dict(portion.options) for portion in found.portions]
        config = {**opened.config, "options": {**found.wishes.said(), **first}, "also": others}
        if config != {"also": [], **opened.config}:
            journal.configure(config)
    except BaseException:
        journal.close()
        raise
    return found


def _widen(found: Plan, wishes: Wishes, config: Mapping[str, Any]) -> None:
    """Makes the plan that of the whole run: what it was begun with stays, and may only become more."""
    asked = _portion(found.environment, found.wishes)
    known = [
        _portion(found.environment, replace(found.wishes, **{key: options.get(key) for key in _CHOOSING}))
        for options in (config["options"], *config.get("also", ()))
    ]
    if not wishes.selects and wishes.trials is not None:
        # More trials, of whatever the run has.
        known = [
            replace(each, trials=asked.trials, options={**each.options, "trials": asked.trials})
            if each.trials < asked.trials
            else each
            for each in known
        ]
    kept: list[Portion] = []
    for number, portion in enumerate([*known, asked]):
        others = [*kept, *[*known, asked][number + 1 :]]
        if not any(portion.is_within(other) for other in others):
            kept.append(portion)
    found.portions = kept
    found.chosen = [asked] if wishes.selects else kept
    keys = {task.key for portion in kept for task in portion.tasks}
    found.tasks = [task for task in found.environment.tasks if task.key in keys]
    found.trials = max(portion.trials for portion in kept)


_CHOOSING = (*_SELECTING, "trials")


def _portion(environment: Environment, wishes: Wishes) -> Portion:
    options = {key: getattr(wishes, key) for key in _CHOOSING}
    return Portion(choose(environment, wishes), wishes.trials or 1, options)


def _read(wishes: Wishes, sound: Sound | None) -> Plan:
    if wishes.path is None:
        fail("There is no environment to run.", "Give its path: rollout test envs/refund --model oracle")
    if wishes.model is None:
        fail("Missing option “--model”: who is to act.", "“rollout test --help” shows how it is used.")
    report, environment = sound or sound_environment(wishes.path, slug=wishes.slug)
    settings = project_settings()
    try:
        where = address(wishes.model, Setup(settings))
    except ConnectError as error:
        fail(str(error), error.hint)
    return Plan(
        wishes=replace(wishes, path=str(Path(wishes.path).resolve())),
        label=report.document.label,
        environment=environment,
        tasks=choose(environment, wishes),
        model=wishes.model,
        trials=wishes.trials or 1,
        sampling=Sampling(
            None if wishes.temperature == "none" else wishes.temperature,
            wishes.top_p,
            wishes.seed,
            wishes.max_tokens,
        ),
        settings=settings,
        address=where,
    )


def _brief(line: Any, resume: str) -> Brief:
    try:
        return Brief.of_line(line)
    except (KeyError, TypeError, ValueError, AttributeError):
        fail(
            f"A line of rollouts.jsonl in “{resume}” is no rollout, so the run cannot be gone on with.",
            "Take the line away, and its rollout is done again.",
        )


def _count(found: Plan, brief: Brief) -> None:
    key = Key(brief.task, brief.trial)
    if brief.is_to_be_done_again:
        found.broken[key] = brief
        found.summary.add_usage(brief)
    else:
        found.done.add(key)
        found.summary.add(brief)


def _inputs(found: Plan) -> dict[str, Any]:
    wishes = found.wishes
    return inputs(
        found.environment,
        found.model,
        address=found.address,
        sampling=found.sampling,
        max_tool_calls=wishes.max_tool_calls or 0,
        seconds=wishes.seconds,
    )


def config_of(found: Plan) -> dict[str, Any]:
    """What the run is begun with, as it stands in the folder of one that has a folder."""
    return {
        "version": rollout.__version__,
        "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "environment": found.environment.slug,
        "template": found.environment.template,
        "digest": compile_environment(found.environment).digest,
        "inputs": _inputs(found),
        "options": found.wishes.said(),
        "tools": _tools(found.environment),
    }


def _tools(environment: Environment) -> list[dict[str, Any]] | None:
    """The tools as a model is shown them, which no rollout repeats; None where its template cannot be run here."""
    from rollout.templates import TemplateError, prepare
    from rollout.training.records import function

    try:
        return [function(tool) for tool in prepare(environment).tools]
    except TemplateError:
        return None


def _refuse_changes(found: Plan, config: Mapping[str, Any], resume: str) -> None:
    changed = changes(config["inputs"], _inputs(found))
    if changed:
        fail(
            f"The run in “{resume}” was begun with something else. Changed since: {', '.join(changed)}.",
            "Put it back as it was, or begin a new run with --out.",
        )
    before = Wishes(**config["options"])
    if found.trials < (before.trials or 1):
        fail(f"The run in “{resume}” has {before.trials} trials of each task; it can only get more.")


def choose(environment: Environment, wishes: Wishes) -> Sequence[Task]:
    """The tasks that are to be run. Ends the command with a sentence when there are none."""
    tasks, task, split = environment.tasks, wishes.task, wishes.split
    if not tasks:
        fail(f"“{environment.slug}” has no tasks, so there is nothing to run.")
    if task is not None:
        named = [each for each in tasks if each.key == task]
        if not named and task.isascii() and task.isdigit() and len(task) < 10 and int(task) < len(tasks):
            named = [tasks[int(task)]]
        if not named:
            fail(f"There is no task “{task}”.", _task_hint(environment, task))
        return named[:1]
    if split is not None:
        splits = sorted({each.split for each in tasks})
        tasks = [each for each in tasks if each.split == split]
        if not tasks:
            fail(f"No task is in the split “{split}”.", f"The splits here are: {', '.join(splits)}.")
    return tasks[: wishes.limit]


def _task_hint(environment: Environment, task: str) -> str:
    from difflib import get_close_matches

    keys = [each.key for each in environment.tasks[:5_000]]
    if close := get_close_matches(task, keys, n=1):
        return f"Did you mean “{close[0]}”?"
    return f"Give an id, such as “{keys[0]}”, or a number from 0 to {len(environment.tasks) - 1}."


__all__ = ["LIMIT", "MAX_TOOL_CALLS", "TEMPERATURE", "Plan", "Sound", "Wishes", "choose", "config_of", "plan"]
