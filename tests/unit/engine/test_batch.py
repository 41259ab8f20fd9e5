"""Many rollouts at once: none stops another, all are handed on, and the same happens at any concurrency."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rollout.check import check
from rollout.engine import Outcome, Trace, Verdict
from rollout.engine.batch import Batch, Done, Job, Stop, jobs
from rollout.engine.budget import Budget
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.environment import Environment, Task
from rollout.models import Call, ModelError, Request, Turn, Usage, connect
from rollout.source import read

CASES = Path(__file__).parents[2] / "cases" / "models"


def desk() -> Environment:
    (document,) = read(CASES / "desk")
    return check(document).environment()


class Scripted:
    """A model whose turn is what ``answer`` gives or raises for the number of the request and the request itself."""

    id = "scripted"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked = 0
        self.at_once = 0
        self.most_at_once = 0

    async def respond(self, request: Request) -> Turn:
        self.asked += 1
        number = self.asked
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            for _ in range(3):
                await asyncio.sleep(0)
            turn = self.answer(number, request)
        finally:
            self.at_once -= 1
        if isinstance(turn, Exception):
            raise turn
        return turn

    async def close(self) -> None: ...


def run(
    model: Any, to_do: Any, *, grader: Any = None, workflow: Any = None, **options: Any
) -> tuple[list[Done], Stop | None]:
    environment = desk()
    finished: list[Done] = []

    async def finish(done: Done) -> None:
        finished.append(done)

    async def whole() -> Stop | None:
        batch = Batch(
            workflow or EnvironmentWorkflow(environment),
            grader or VerifierGrader(environment),
            model,
            **options,
        )
        return await batch.run(to_do, finish)

    stop = asyncio.run(whole())
    return finished, stop


TASKS = [Task(f"Do {number}.", {"refunds": []}, id=f"t{number}") for number in range(6)]


def by_key(finished: list[Done]) -> dict[tuple[str, int], tuple[Trace, Verdict]]:
    found = {(done.job.task.key, done.job.trial): done for done in finished}
    assert len(found) == len(finished)
    return {key: (done.rollout.trace, done.rollout.verdict) for key, done in found.items()}


@pytest.mark.parametrize("model", ["oracle", "noop", "random:7"])
def test_the_same_happens_at_any_concurrency(model: str) -> None:
    results = []
    for concurrency in (1, 3, 32):
        finished, stop = run(connect(model), jobs(desk().tasks, 4), concurrency=concurrency)
        assert stop is None
        results.append(by_key(finished))
    assert len(results[0]) == 12
    assert results[0] == results[1] == results[2]


def test_each_trial_comes_after_all_tasks_had_the_one_before() -> None:
    assert [(job.task.key, job.trial) for job in jobs(TASKS[:2], 2)] == [
        ("t0", 0),
        ("t1", 0),
        ("t0", 1),
        ("t1", 1),
    ]


def test_no_more_go_on_at_once_than_asked_for_and_none_is_looked_at_before_its_turn() -> None:
    taken = 0

    def taking() -> Iterator[Job]:
        nonlocal taken
        for task in TASKS * 10:
            taken += 1
            yield Job(task, taken)

    def answer(number: int, request: Request) -> Turn:
        assert taken <= number + 4
        return Turn("Done.")

    model = Scripted(answer)
    finished, _ = run(model, taking(), concurrency=4)
    assert (len(finished), model.most_at_once) == (60, 4)


def test_there_are_no_more_workers_than_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = 0
    work = Batch._work

    def counted(self: Batch, remaining: Iterator[Job], finish: Any) -> Any:
        nonlocal begun
        begun += 1
        assert begun <= len(TASKS)
        return work(self, remaining, finish)

    monkeypatch.setattr(Batch, "_work", counted)
    finished, stop = run(Scripted(lambda number, request: Turn("Done.")), jobs(TASKS), concurrency=10**8)
    assert (len(finished), stop, begun) == (len(TASKS), None, len(TASKS))


def test_what_breaks_is_data_and_stops_no_other() -> None:
    def answer(number: int, request: Request) -> Turn | Exception:
        return {
            "t0": Turn("Done."),
            "t1": ModelError("It refuses."),
            "t2": RuntimeError("boom"),
            "t3": Turn(calls=(Call("a", "nothing", "{"),)) if number < 40 else Turn("Done."),
        }.get(request.key.task, Turn("Done."))

    class Grader:
        async def grade(self, task: Task, trace: Trace) -> Verdict:
            if task.key == "t4":
                raise ZeroDivisionError
            return Verdict(Outcome.PASSED, 1.0)

    finished, stop = run(Scripted(answer), jobs(TASKS), grader=Grader(), concurrency=2)
    outcomes = {key: verdict for (key, _), (_, verdict) in by_key(finished).items()}
    assert stop is None
    assert {key: str(verdict.outcome) for key, verdict in outcomes.items()} == {
        "t0": "passed",
        "t1": "error",
        "t2": "error",
        "t3": "passed",
        "t4": "error",
        "t5": "passed",
    }
    charged = {key: verdict.failure.charged_to for key, verdict in outcomes.items() if verdict.failure}
    assert charged == {"t1": "model", "t2": "infrastructure", "t4": "verifier"}


def test_a_workflow_that_raises_is_an_error_of_the_environment() -> None:
    class Workflow:
        async def run(self, task: Task, model: Any, *, trial: int = 0) -> Trace:
            raise LookupError("no such world")

    finished, _ = run(connect("noop"), jobs(TASKS[:2]), workflow=Workflow())
    assert len(finished) == 2
    failure = finished[0].rollout.verdict.failure
    assert failure is not None
    assert (failure.charged_to, failure.sentence) == (
        "environment",
        "The workflow broke down: LookupError: no such world",
    )


def test_what_infrastructure_broke_is_tried_again_within_a_bound_and_the_attempts_are_kept() -> None:
    tries: dict[str, int] = {}

    def answer(number: int, request: Request) -> Turn | Exception:
        tries[request.key.task] = tries.get(request.key.task, 0) + 1
        if request.key.task == "t0" and tries["t0"] == 1:
            return ModelError("No route.", charged_to="infrastructure")
        if request.key.task == "t1":
            return ModelError("No route.", charged_to="infrastructure")
        if request.key.task == "t2":
            return ModelError("It refuses.", charged_to="model")
        return Turn("Done.", usage=Usage(10, 1))

    finished, _ = run(Scripted(answer), jobs(TASKS[:4]), attempts=3)
    attempts = {done.job.task.key: [each.failure.sentence for each in done.earlier] for done in finished}
    assert attempts == {"t0": ["No route."], "t1": ["No route."] * 2, "t2": [], "t3": []}
    assert tries == {"t0": 2, "t1": 3, "t2": 1, "t3": 1}


def test_a_judge_that_infrastructure_broke_judges_the_same_trace_again() -> None:
    from rollout.engine import Failure

    class Grader:
        judged = 0

        async def grade(self, task: Task, trace: Trace) -> Verdict:
            self.judged += 1
            if self.judged == 1:
                return Verdict(Outcome.UNSCORED, None, failure=Failure("No route.", "infrastructure"))
            return Verdict(Outcome.PASSED, 1.0)

    model = Scripted(lambda number, request: Turn("Done."))
    (done,), _ = run(model, jobs(TASKS[:1]), grader=Grader())
    assert (done.rollout.verdict.outcome, len(done.earlier), model.asked) == (Outcome.PASSED, 1, 1)


def test_an_error_that_all_would_meet_ends_the_run_without_asking_on() -> None:
    error = ModelError("The key is wrong.", charged_to="infrastructure", hint="Set it.", hopeless=True)
    model = Scripted(lambda number, request: error)
    finished, stop = run(model, jobs(TASKS * 5), concurrency=2)
    assert stop == Stop("hopeless", "The key is wrong.", "Set it.")
    # The first tells it. The other that was under way is given up, and left to be done.
    assert (len(finished), model.asked) == (1, 2)


def test_a_spent_budget_ends_the_run_and_drops_what_is_under_way() -> None:
    def answer(number: int, request: Request) -> Turn:
        asked_before = any(message["role"] == "assistant" for message in request.messages)
        return (
            Turn("Done.", usage=Usage(60, 10))
            if asked_before
            else Turn(calls=(Call("a", "get_order", '{"order_id":"O-1"}'),), usage=Usage(30, 0))
        )

    budget = Budget(max_tokens=250)
    finished, stop = run(Scripted(answer), jobs(TASKS), concurrency=1, budget=budget)
    assert stop is not None and stop.cause == "budget"
    assert "The limit of 250 tokens is reached" in stop.sentence
    # Two rollouts of 100, and a third that was begun with 30 and ended at 300.
    assert (len(finished), budget.used.tokens) == (3, 300)


def test_the_time_for_a_rollout_is_kept_and_charged_to_whom_was_waited_for() -> None:
    async def never(request: Request) -> Turn:
        await asyncio.Event().wait()
        raise AssertionError

    model = Scripted(None)
    model.respond = never  # type: ignore[method-assign]
    workflow = EnvironmentWorkflow(desk(), seconds=0.01)
    (done,), _ = run(model, jobs(TASKS[:1]), workflow=workflow)
    failure = done.rollout.trace.failure
    assert failure is not None
    assert (failure.charged_to, failure.sentence, done.earlier) == (
        "infrastructure",
        "The 0.01 seconds for a rollout are over; “scripted” had not answered.",
        (),
    )


def test_a_tool_that_does_not_answer_in_time_is_charged_to_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[str] = []

    class World:
        async def call(self, name: str, args: Any) -> Any:
            await asyncio.Event().wait()

        def state(self) -> dict[str, Any]:
            return {}

        async def close(self) -> None:
            closed.append("closed")

    workflow = EnvironmentWorkflow(desk(), seconds=0.01)
    monkeypatch.setattr(workflow.stage, "open", lambda task: World())
    model = Scripted(lambda number, request: Turn(calls=(Call("a", "get_order", '{"order_id":"O-1"}'),)))
    (done,), _ = run(model, jobs(TASKS[:1]), workflow=workflow)
    failure = done.rollout.trace.failure
    assert failure is not None and failure.charged_to == "environment"
    assert "“get_order” had not answered" in failure.sentence
    assert closed == ["closed"]


def test_a_run_that_is_cancelled_closes_its_worlds_and_keeps_what_was_handed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment = desk()
    workflow = EnvironmentWorkflow(environment)
    opened: list[Any] = []
    open_world = workflow.stage.open

    def opening(task: Task) -> Any:
        world = open_world(task)
        opened.append(world)
        world.close = closing(world)  # type: ignore[method-assign]
        return world

    def closing(world: Any) -> Any:
        async def close() -> None:
            opened.remove(world)

        return close

    monkeypatch.setattr(workflow.stage, "open", opening)
    finished: list[Done] = []

    async def finish(done: Done) -> None:
        finished.append(done)

    async def whole() -> None:
        hung = asyncio.Event()

        class Model(Scripted):
            async def respond(self, request: Request) -> Turn:
                if request.key.task in ("t0", "t1"):
                    return Turn("Done.")
                hung.set()
                await asyncio.Event().wait()
                raise AssertionError

        batch = Batch(workflow, VerifierGrader(environment), Model(None), concurrency=3)
        running = asyncio.create_task(batch.run(jobs(TASKS), finish))
        await hung.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(whole())
    assert {done.job.task.key for done in finished} == {"t0", "t1"}
    assert opened == []


def test_what_takes_finished_rollouts_may_end_the_run() -> None:
    async def finish(done: Done) -> None:
        raise OSError(28, "No space left on device")

    environment = desk()
    batch = Batch(EnvironmentWorkflow(environment), VerifierGrader(environment), connect("noop"))
    with pytest.raises(OSError, match="No space"):
        asyncio.run(batch.run(jobs(TASKS), finish))


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"attempts": 0}])
def test_bounds_below_one_are_refused(options: dict[str, int]) -> None:
    environment = desk()
    with pytest.raises(ValueError, match="At least one"):
        Batch(EnvironmentWorkflow(environment), VerifierGrader(environment), connect("noop"), **options)
