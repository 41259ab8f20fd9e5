"""Grading: scores, and graders that break, answer nonsense or take their time."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from rollout import family
from rollout.engine import Outcome, Tally, Trace, Verdict
from rollout.engine.judge import SECONDS, VerifierGrader
from rollout.environment import Environment, Task
from rollout.models import Usage
from rollout.verifiers import CannotJudgeError, Case, Judgement, UnscoredError

Judge = Callable[[Case, Any], Any]


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Verdict]]:
    samples: dict[str, str] = {}
    monkeypatch.setattr(family, "_entry_points", lambda package: samples)

    def grade(
        *judges: Judge,
        threshold: float = 1.0,
        weights: tuple[float, ...] = (),
        seconds: float = SECONDS,
        brought: bool = False,
        limits_itself: bool = False,
    ) -> Verdict:
        primitives = []
        for number, judge in enumerate(judges):
            module = ModuleType(f"rollout.verifiers.sample_{number}")
            module.judge = judge  # type: ignore[attr-defined]
            module.LIMITS_ITSELF = limits_itself  # type: ignore[attr-defined]
            if brought:
                module.__name__ = f"other_package.sample_{number}"
            samples[f"sample_{number}"] = f"rollout.verifiers.sample_{number}"
            monkeypatch.setitem(sys.modules, samples[f"sample_{number}"], module)
            weight = weights[number] if weights else 1
            primitives.append({"name": f"p{number}", "type": f"sample_{number}", "weight": weight})
        family.members.cache_clear()
        environment = Environment(
            "case", "Case", "workflow", verifier={"primitives": primitives, "passThreshold": threshold}
        )
        trace = Trace("case", "workflow", "t", "m", (), (), {}, {}, "", "answer", Usage())
        return asyncio.run(VerifierGrader(environment, seconds=seconds).grade(Task("Do it."), trace))

    yield grade
    family.members.cache_clear()


def value(number: float) -> Judge:
    return lambda case, options: Judgement(number, f"It is {number}.")


def test_the_score_is_the_weighted_mean(graded: Callable[..., Verdict]) -> None:
    verdict = graded(value(1), value(0.5), value(0), weights=(2, 1, 1))
    assert (verdict.score, verdict.outcome) == (0.625, Outcome.FAILED)
    assert (
        graded(value(1), value(0.5), value(0), weights=(2, 1, 1), threshold=0.625).outcome is Outcome.PASSED
    )


def test_a_threshold_is_reached_in_spite_of_rounding(graded: Callable[..., Verdict]) -> None:
    verdict = graded(value(1), value(1), value(0), weights=(0.1, 0.6, 0.3), threshold=0.7)
    assert verdict.outcome is Outcome.PASSED
    assert graded(value(1), value(0.999999), threshold=1.0).outcome is Outcome.FAILED


def test_a_weight_of_one_counts_beside_a_huge_one(graded: Callable[..., Verdict]) -> None:
    verdict = graded(value(1), value(0), weights=(1e9, 1))
    assert verdict.outcome is Outcome.FAILED
    assert verdict.score is not None
    assert verdict.score < 1
    assert graded(value(1), value(0), weights=(10**30, 1)).outcome is Outcome.FAILED


@pytest.mark.parametrize("weight", [10**400, 1e308])
def test_weights_of_any_size_are_weighed(graded: Callable[..., Verdict], weight: float) -> None:
    verdict = graded(value(1), value(0), weights=(weight, weight), threshold=0.5)
    assert (verdict.score, verdict.outcome) == (0.5, Outcome.PASSED)


def test_a_score_of_nothing_never_passes(graded: Callable[..., Verdict]) -> None:
    assert graded(value(0), threshold=1e-10).outcome is Outcome.FAILED


def _raise(error: Exception) -> Judge:
    def judge(case: Case, options: Any) -> Judgement:
        raise error

    return judge


@pytest.mark.parametrize(
    ("judge", "reason", "charged_to"),
    [
        (_raise(KeyError("page")), "“sample_1” broke down: KeyError: 'page'", "verifier"),
        (_raise(CannotJudgeError("No network.", charged_to="infrastructure")), "No network.", "infrastructure"),
        (value(float("nan")), "“sample_1” broke down: ValueError: nan is no value from 0 to 1.", "verifier"),
        (value(1.1), "“sample_1” broke down: ValueError: 1.1 is no value from 0 to 1.", "verifier"),
        (value(-0.1), "“sample_1” broke down: ValueError: -0.1 is no value from 0 to 1.", "verifier"),
        (lambda case, options: True, "“sample_1” broke down: TypeError: it gave True", "verifier"),
        (lambda case, options: None, "“sample_1” broke down: TypeError: it gave None", "verifier"),
        (value(True), "“sample_1” broke down: ValueError: True is no value from 0 to 1.", "verifier"),
    ],
)  # fmt: skip
def test_a_grader_that_breaks_is_an_error_and_the_others_still_speak(
    graded: Callable[..., Verdict], judge: Judge, reason: str, charged_to: str
) -> None:
    verdict = graded(value(1), judge, value(1))
    assert (verdict.outcome, verdict.score) == (Outcome.ERROR, None)
    assert verdict.failure is not None
    assert (verdict.failure.sentence, verdict.failure.charged_to) == (reason, charged_to)
    assert [mark.value for mark in verdict.marks] == [1, None, 1]


def test_a_primitive_may_be_async(graded: Callable[..., Verdict]) -> None:
    async def judge(case: Case, options: Any) -> Judgement:
        await asyncio.sleep(0)
        return Judgement(1, "In the end.")

    assert graded(judge).outcome is Outcome.PASSED


async def _endless(case: Case, options: Any) -> Judgement:
    await asyncio.Event().wait()
    raise AssertionError


def test_a_primitive_that_takes_too_long_is_an_error_charged_to_the_verifier(
    graded: Callable[..., Verdict],
) -> None:
    verdict = graded(_endless, value(1), seconds=0.05)
    assert verdict.outcome is Outcome.ERROR
    assert verdict.failure is not None
    assert verdict.failure.sentence == "“sample_0” took longer than 0.05 seconds to judge."
    assert verdict.failure.charged_to == "verifier"
    assert [mark.value for mark in verdict.marks] == [None, 1]


def test_a_plain_function_of_another_package_cannot_hold_up_the_rest(graded: Callable[..., Verdict]) -> None:
    held = threading.Event()

    def stuck(case: Case, options: Any) -> Judgement:
        held.wait(30)
        return Judgement(1, "At last.")

    try:
        verdict = graded(stuck, seconds=0.05, brought=True)
    finally:
        held.set()
    assert verdict.failure is not None
    assert "took longer than 0.05 seconds" in verdict.failure.sentence
    assert graded(value(1), brought=True).outcome is Outcome.PASSED
    assert graded(_raise(StopIteration("odd")), brought=True).outcome is Outcome.ERROR
    assert graded(_raise(UnscoredError("No.")), brought=True).outcome is Outcome.UNSCORED


def test_a_primitive_that_limits_itself_is_not_cut_off(graded: Callable[..., Verdict]) -> None:
    async def judge(case: Case, options: Any) -> Judgement:
        await asyncio.sleep(0.02)
        return Judgement(1, "In its own time.")

    assert graded(judge, seconds=0.001, limits_itself=True).outcome is Outcome.PASSED
    assert graded(judge, seconds=0.001).outcome is Outcome.ERROR


def test_a_timeout_of_the_primitives_own_is_told_as_such(graded: Callable[..., Verdict]) -> None:
    verdict = graded(_raise(TimeoutError("the line is dead")))
    assert verdict.failure is not None
    assert verdict.failure.sentence == "“sample_0” broke down: TimeoutError: the line is dead"


def test_a_judge_without_a_verdict_leaves_the_rollout_unscored(graded: Callable[..., Verdict]) -> None:
    verdict = graded(value(1), _raise(UnscoredError("No answer.", charged_to="model")), weights=(1, 0))
    assert (verdict.outcome, verdict.score) == (Outcome.UNSCORED, None)
    assert verdict.failure is not None
    assert (verdict.failure.sentence, verdict.failure.charged_to) == ("No answer.", "model")
    assert [(mark.value, mark.unscored) for mark in verdict.marks] == [(1, False), (None, True)]


def test_an_error_outweighs_what_is_unscored(graded: Callable[..., Verdict]) -> None:
    verdict = graded(_raise(UnscoredError("No answer.")), _raise(CannotJudgeError("No path.")))
    assert verdict.outcome is Outcome.ERROR
    assert verdict.failure is not None
    assert verdict.failure.sentence == "No path."


def test_rates_have_both_denominators() -> None:
    tally = Tally({Outcome.PASSED: 2, Outcome.FAILED: 1, Outcome.ERROR: 3, Outcome.UNSCORED: 1})
    assert (tally.passed, tally.graded, tally.all) == (2, 3, 7)
