"""What the platform answers, as JSON with the names of the wire. Times are ISO 8601, in UTC.

Every member that is not in the table of the published client may be missing, or null: other servers do not send it.
What an endpoint answers is held to these types (:mod:`rollout.platform.shapes`).
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Status = Literal["queued", "running", "done", "failed", "cancelled"]
Outcome = Literal["passed", "failed", "error", "unscored"]


class EnvironmentEntry(TypedDict):
    """An environment in a list."""

    slug: str
    name: str
    template: str
    taskCount: int
    id: NotRequired[str]
    description: NotRequired[str | None]
    digest: NotRequired[str]
    version: NotRequired[int]
    createdAt: NotRequired[str]
    updatedAt: NotRequired[str]


class HeldTask(TypedDict):
    """A task as it is held; it has more, by the names of the payload."""

    instruction: str
    split: NotRequired[str]


class Primitive(TypedDict):
    """A primitive of a verifier; it has its options besides."""

    type: str
    name: NotRequired[str]
    weight: NotRequired[float]


class Verifier(TypedDict):
    """How an environment is judged."""

    primitives: NotRequired[list[Primitive]]


class Environment(TypedDict):
    """An environment with all that it holds."""

    slug: str
    name: str
    template: str
    tasks: list[HeldTask]
    taskCount: NotRequired[int]
    description: NotRequired[str | None]
    digest: NotRequired[str]
    version: NotRequired[int]
    config: NotRequired[dict[str, Any]]
    schema: NotRequired[str]
    seed: NotRequired[str]
    verifier: NotRequired[Verifier | None]


class Version(TypedDict):
    """A version of an environment."""

    number: int
    digest: str
    taskCount: int
    pushedAt: str
    current: NotRequired[bool]


class Pushed(TypedDict):
    """What came of a push. ``tasksAdded`` counts the tasks that were not held before."""

    slug: str
    tasksAdded: int
    id: NotRequired[str]
    digest: NotRequired[str]
    version: NotRequired[int]
    created: NotRequired[bool]
    unchanged: NotRequired[bool]


class RunRequest(TypedDict):
    """A run that is asked for; ``n`` is rollouts a task."""

    environmentSlug: str
    model: str
    n: int
    temperature: NotRequired[float | None]
    maxToolCalls: NotRequired[int]
    name: NotRequired[str]
    parentRunId: NotRequired[str]
    digest: NotRequired[str]
    split: NotRequired[str]
    tasks: NotRequired[list[str]]
    limit: NotRequired[int]
    topP: NotRequired[float]
    seed: NotRequired[int]
    maxTokens: NotRequired[int]
    timeout: NotRequired[float]
    concurrency: NotRequired[int]
    budgetTokens: NotRequired[int]
    budgetCost: NotRequired[float]


class CreatedRun(TypedDict):
    """A new run; ``total`` is how many rollouts it has."""

    runId: str
    total: int


class RunOptions(TypedDict):
    """What a run was asked to do besides; it has more, by the names of :class:`RunRequest`."""

    temperature: NotRequired[float]
    topP: NotRequired[float]
    seed: NotRequired[float]
    maxTokens: NotRequired[int]
    maxToolCalls: NotRequired[int]
    timeout: NotRequired[float]


class Usage(TypedDict):
    """What a run has used; ``cost`` is in US dollars, None where it is not known."""

    input_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    cost: NotRequired[float | None]


class Run(TypedDict):
    """A run, of whose ``n`` rollouts ``progress`` are done. ``successRate`` is passed ÷ graded, None without any.

    ``status`` is a :data:`Status`, or what another platform calls it.
    """

    id: str
    status: str
    successRate: float | None
    progress: int
    n: int
    model: str
    environmentName: str
    environmentId: str
    environmentSlug: NotRequired[str]
    template: NotRequired[str]
    digest: NotRequired[str]
    name: NotRequired[str | None]
    parentRunId: NotRequired[str | None]
    perTask: NotRequired[int]
    total: NotRequired[int]
    done: NotRequired[int]
    passed: NotRequired[int]
    failed: NotRequired[int]
    errors: NotRequired[int]
    unscored: NotRequired[int]
    meanScore: NotRequired[float | None]
    options: NotRequired[RunOptions]
    usage: NotRequired[Usage | None]
    reason: NotRequired[str | None]
    createdAt: NotRequired[str]
    startedAt: NotRequired[str | None]
    endedAt: NotRequired[str | None]


class Rollout(TypedDict):
    """A rollout, without its transcript. ``passed`` and ``score`` are None where it was not graded.

    ``taskId`` is the same for the same instruction and input, whatever version of the environment they are in.
    """

    id: str
    taskId: str
    instruction: str
    passed: bool | None
    score: float | None
    outcome: NotRequired[Outcome]
    input: NotRequired[Any]
    taskIndex: NotRequired[int]
    trial: NotRequired[int]
    split: NotRequired[str]
    reason: NotRequired[str]
    chargedTo: NotRequired[str | None]
    calls: NotRequired[int]
    seconds: NotRequired[float]
    finishedAt: NotRequired[str]


class RolloutWithTrace(Rollout):
    """A rollout with all that happened: its trace, its verdict, and the attempts before it that broke."""

    trace: dict[str, Any]
    verdict: dict[str, Any]
    earlier: list[dict[str, Any]]


class RunWithRollouts(TypedDict):
    """A run, and its rollouts or a page of them."""

    run: Run
    rollouts: list[Rollout]
    nextCursor: NotRequired[str | None]


class TrainingJob(TypedDict):
    """A training job."""

    id: str
    status: str
    provider: str
    baseModel: str
    hyperparams: dict[str, Any]
    providerJobId: NotRequired[str | None]
    fineTunedModel: NotRequired[str | None]
    error: NotRequired[str | None]


class Whoami(TypedDict):
    """The key that was used."""

    name: str
    prefix: str
    scope: str


class Key(TypedDict):
    """A key; ``key`` is the whole of it, which is told once."""

    id: str
    name: str
    prefix: str
    scope: str
    createdAt: str
    usedAt: str | None
    revokedAt: str | None
    key: NotRequired[str]
