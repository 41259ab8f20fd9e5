"""The near end of a run on a cluster, over a stand-in for Ray whose workers are in this process and fail as told."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rollout.check import check
from rollout.engine import Outcome
from rollout.engine.batch import Done, Job, Stop, jobs
from rollout.engine.budget import Budget
from rollout.engine.executors import Recipe, _pool
from rollout.engine.executors._cluster import Cluster
from rollout.engine.executors._parcel import Parcel, pack, pack_task, unpack_task
from rollout.engine.executors._pool import LIVES, Pool
from rollout.engine.executors._worker import Worker
from rollout.environment import Environment, Task
from rollout.source import read

DESK = Path(__file__).parents[3] / "cases" / "models" / "desk"


class RayError(Exception):
    """As Ray's own."""


class Actor:
    """A worker that is reached as one of Ray's is, and can be lost."""

    def __init__(self, ray: Ray, worker: Any) -> None:
        self.ray = ray
        self.worker = worker
        self.lost = False
        self.calls: set[asyncio.Future[Any]] = set()

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *arguments: self.call(name, arguments))

    def call(self, name: str, arguments: tuple[Any, ...]) -> asyncio.Future[Any]:
        call = asyncio.ensure_future(self.answer(name, arguments))
        call.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        self.calls.add(call)
        return call

    async def answer(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if self.lost:
            raise RayError("The actor is dead")
        if name == "close":
            self.lost = True
        try:
            return await self.answer_alive(name, arguments)
        except asyncio.CancelledError:
            if self.lost:
                raise RayError("The actor died") from None
            raise

    async def answer_alive(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name == "do":
            self.ray.under_way += 1
            self.ray.most_under_way = max(self.ray.most_under_way, self.ray.under_way)
            try:
                task = unpack_task(arguments[0])
                self.ray.sent.append((task.key, arguments[1]))
                fate = self.ray.befalls(self, task)
                if fate is not None:
                    return await fate
            finally:
                self.ray.under_way -= 1
        return await getattr(self.worker, name)(*arguments)

    def lose(self) -> None:
        """Its process ends; nobody hears of what it had under way but that."""
        if not self.lost:
            self.lost = True
            self.ray.ends.append(asyncio.ensure_future(self.worker.close()))


class Ray:
    """As much of Ray as a run needs."""

    exceptions = SimpleNamespace(RayError=RayError)

    def __init__(
        self,
        processors: int = 4,
        befalls: Callable[[Actor, Task], Any] = lambda actor, task: None,
        makes: Callable[[], Any] = Worker,
    ) -> None:
        self.processors = processors
        self.befalls = befalls
        self.makes = makes
        self.actors: list[Actor] = []
        self.sent: list[tuple[str, int]] = []
        self.under_way = self.most_under_way = 0
        self.ends: list[asyncio.Future[None]] = []

    def remote(self, kind: Any) -> Any:
        assert kind is Worker
        return SimpleNamespace(options=lambda **options: SimpleNamespace(remote=self.start))

    def start(self) -> Actor:
        self.actors.append(Actor(self, self.makes()))
        return self.actors[-1]

    def put(self, value: Any) -> Any:
        return value

    def kill(self, actor: Actor) -> None:
        actor.lose()

    def nodes(self) -> list[Any]:
        return [
            {"Alive": True, "Resources": {"CPU": float(self.processors)}},
            {"Alive": True, "Resources": {}},
            {"Alive": False, "Resources": {"CPU": 64.0}},
        ]


def desk() -> Environment:
    (document,) = read(DESK)
    return check(document).environment()


def run(
    ray: Any,
    to_do: Iterable[Job],
    *,
    finish: Any = None,
    parcel: Parcel | None = None,
    budget: Budget | None = None,
    concurrency: int = 4,
    **options: Any,
) -> tuple[list[Done], Stop | None, list[str]]:
    finished: list[Done] = []
    told: list[str] = []

    async def keep(done: Done) -> None:
        finished.append(done)

    async def whole() -> Stop | None:
        pool = Pool(
            Cluster(ray, "the cluster", ours=False),
            parcel or pack(Recipe(desk(), "oracle")),
            model="oracle",
            concurrency=concurrency,
            budget=budget or Budget(),
            tell=told.append,
            **options,
        )
        try:
            return await pool.run(to_do, finish or keep)
        finally:
            await pool.close()
            await asyncio.gather(*ray.ends)

    stop = asyncio.run(whole())
    return finished, stop, told


def keys(finished: list[Done]) -> Counter[tuple[str, int]]:
    return Counter((done.rollout.trace.task, done.rollout.trace.trial) for done in finished)


def all_keys(trials: int) -> Counter[tuple[str, int]]:
    return Counter((task.key, trial) for task in desk().tasks for trial in range(trials))


def loses(actor: Actor) -> Any:
    """The worker is lost over a rollout."""
    actor.lose()
    raise RayError("The actor died unexpectedly before finishing this task.\nIts node was lost.")


def test_all_jobs_are_done_once_and_no_more_at_once_than_asked_for() -> None:
    ray = Ray()
    finished, stop, told = run(ray, jobs(desk().tasks, 20), concurrency=3)
    assert (stop, told, keys(finished)) == (None, [], all_keys(20))
    assert ray.most_under_way <= 3
    assert len(ray.actors) <= 3


def test_jobs_are_taken_as_they_are_done() -> None:
    taken = 0
    finished = 0

    def counted() -> Iterator[Job]:
        nonlocal taken
        for job in jobs(desk().tasks, 30):
            taken += 1
            yield job

    async def finish(done: Done) -> None:
        nonlocal finished
        finished += 1
        assert taken <= finished + 4

    run(Ray(), counted(), finish=finish)
    assert finished == 90


def test_a_run_of_no_jobs_ends_at_once_and_starts_nobody() -> None:
    ray = Ray()
    assert run(ray, []) == ([], None, [])
    assert ray.actors == []


def test_no_more_is_under_way_than_there_are_jobs_however_many_may_be() -> None:
    def counted() -> Iterator[Job]:
        for job in jobs(desk().tasks):
            assert len(asyncio.all_tasks()) < 100
            yield job

    finished, stop, _ = run(Ray(), counted(), concurrency=10_000)
    assert (stop, keys(finished)) == (None, all_keys(1))


def test_no_more_workers_are_started_than_there_are_jobs_or_processors() -> None:
    ray = Ray(processors=64)
    run(ray, jobs(desk().tasks[:2]), concurrency=16)
    assert len(ray.actors) <= 2
    ray = Ray(processors=2)
    run(ray, jobs(desk().tasks, 10), concurrency=16)
    assert len(ray.actors) == 2


def test_what_is_kept_for_a_worker_that_does_not_come_is_done_by_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_pool, "_SECONDS_TO_START", 0.05)
    monkeypatch.setattr(_pool, "_BETWEEN_LOOKS", 0.05)

    class NeverThere(Worker):
        async def open(self, *_: Any) -> Any:
            await asyncio.Event().wait()

    together = asyncio.Event()

    async def together_with_others(actor: Actor, task: Task) -> Any:
        if ray.under_way == 3:
            together.set()
        await together.wait()
        return await actor.worker.do(pack_task(task), 0)

    kinds = iter([Worker])
    ray = Ray(befalls=together_with_others, makes=lambda: next(kinds, NeverThere)())
    finished, stop, told = run(ray, jobs(desk().tasks[:3], 1), concurrency=3)
    assert (stop, told, keys(finished).total()) == (None, [], 3)
    assert len(ray.actors) == 3


def test_what_a_lost_worker_had_is_done_by_others_and_the_loss_is_kept_beside() -> None:
    once = iter([True])

    def befalls(actor: Actor, task: Task) -> Any:
        return loses(actor) if task.key == "wrong" and next(once, False) else None

    ray = Ray(befalls=befalls)
    finished, stop, told = run(ray, jobs(desk().tasks, 3))
    assert (stop, keys(finished)) == (None, all_keys(3))
    lost = [attempt for done in finished for attempt in done.earlier]
    assert {attempt.failure.charged_to for attempt in lost} == {"infrastructure"}
    assert "that did the rollout was lost: The actor died unexpectedly before finishing this task." in (
        lost[0].failure.sentence
    )
    assert len(told) == 1
    assert "was lost; its " in told[0]
    assert Counter(done.rollout.verdict.outcome for done in finished) == {
        Outcome.PASSED: 3,
        Outcome.FAILED: 3,
        Outcome.ERROR: 3,
    }


def test_a_rollout_over_which_every_worker_is_lost_is_an_error_of_the_infrastructure() -> None:
    ray = Ray(befalls=lambda actor, task: loses(actor) if task.key == "wrong" else None)
    finished, stop, _ = run(ray, jobs(desk().tasks), concurrency=1)
    assert (stop, keys(finished)) == (None, all_keys(1))
    assert Counter(ray.sent) == Counter({("solved", 0): 1, ("wrong", 0): LIVES, ("unsolved", 0): 1})
    (given_up,) = [done for done in finished if done.job.task.key == "wrong"]
    assert given_up.rollout.verdict.outcome is Outcome.ERROR
    failure = given_up.rollout.verdict.failure
    assert failure is not None and failure.charged_to == "infrastructure"
    assert given_up.rollout.trace.failure == failure
    assert len(given_up.earlier) == LIVES - 1


@pytest.mark.parametrize("line", [b"{", b"{}", b'{"trace": {}, "verdict": {}, "earlier": []}'])
def test_an_answer_that_is_no_rollout_is_an_error_of_the_infrastructure(line: bytes) -> None:
    async def garbled() -> Any:
        return line, None

    ray = Ray(befalls=lambda actor, task: garbled() if task.key == "wrong" else None)
    finished, stop, _ = run(ray, jobs(desk().tasks))
    assert (stop, keys(finished)) == (None, all_keys(1))
    outcomes = {done.job.task.key: done.rollout.verdict for done in finished}
    failure = outcomes["wrong"].failure
    assert failure is not None and failure.charged_to == "infrastructure"
    assert outcomes["solved"].outcome is Outcome.PASSED


def test_workers_of_another_version_end_the_run_before_it_began() -> None:
    ray = Ray()
    finished, stop, _ = run(ray, jobs(desk().tasks), version="0.0.1")
    assert finished == []
    assert ray.sent == []
    assert stop is not None and stop.cause == "infrastructure"
    assert "cannot do these rollouts: it has rollout 0.3.0, and not 0.0.1." in stop.sentence


def test_an_environment_that_arrives_otherwise_is_not_run() -> None:
    sent = pack(Recipe(desk(), "oracle"))
    changed = Parcel(sent.data.replace(b"Alice", b"Malice"), sent.private)
    finished, stop, _ = run(Ray(), jobs(desk().tasks), parcel=changed)
    assert finished == []
    assert stop is not None
    assert "what arrived there is not what was sent: the environment" in stop.sentence


def test_one_machine_that_cannot_work_is_told_of_and_the_others_do_its_part() -> None:
    class Refusing(Worker):
        async def open(self, *arguments: Any) -> dict[str, str]:
            # Before there is any worker, the refusal would be no more than a reason to look for one.
            while not ray.sent:
                await asyncio.sleep(0.001)
            return {"host": "node-7", "refused": "there is no sandbox"}

    kinds = iter([Worker, Refusing])
    ray = Ray(makes=lambda: next(kinds, Worker)(), processors=2)
    finished, stop, told = run(ray, jobs(desk().tasks, 10), concurrency=2)
    assert (stop, keys(finished)) == (None, all_keys(10))
    assert told == ["The worker on node-7 cannot do these rollouts: there is no sandbox."]


class NeverStarts(Worker):
    """A worker for which no processor becomes free."""

    async def open(self, *arguments: Any) -> dict[str, str]:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("processors", "sentence"),
    [
        (0, "No machine of the cluster that has processors is alive."),
        (
            2,
            "No worker could be started on the cluster within 0.01 seconds. No processor is free.",
        ),
    ],
)
def test_a_run_without_any_worker_ends_after_a_while(processors: int, sentence: str) -> None:
    ray = Ray(processors=processors, makes=NeverStarts)
    finished, stop, _ = run(ray, jobs(desk().tasks), patience=0.01)
    assert (finished, stop) == ([], Stop("infrastructure", sentence))


def test_a_cluster_that_is_lost_ends_the_run() -> None:
    class Headless(Ray):
        def nodes(self) -> list[Any]:
            raise RuntimeError("Failed to connect to GCS.")

    finished, stop, _ = run(Headless(), jobs(desk().tasks))
    assert finished == []
    assert stop == Stop("infrastructure", "The head of the cluster does not answer any more.")


def test_what_cannot_be_written_ends_the_run() -> None:
    async def full(done: Done) -> None:
        raise OSError(28, "No space left on device")

    ray = Ray()
    with pytest.raises(OSError, match="No space left"):
        run(ray, jobs(desk().tasks, 10), finish=full)
    assert all(actor.lost for actor in ray.actors)


def test_a_budget_that_is_spent_already_asks_nobody() -> None:
    ray = Ray()
    finished, stop, _ = run(ray, jobs(desk().tasks), budget=Budget(max_tokens=0))
    assert (finished, ray.sent) == ([], [])
    assert stop is not None and stop.cause == "budget"
