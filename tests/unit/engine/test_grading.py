"""Grading: scores, and graders that break, answer nonsense or take their time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from rollout.engine import Outcome, Tally, Trace, Verdict
from rollout.engine.judge import VerifierGrader
from rollout.environment import Environment, Task
from rollout.models import Usage
from rollout.verifiers import CannotJudgeError, Case, Judgement

Judge = Callable[[Case, Any], Any]


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Verdict]:
    def grade(*judges: Judge, threshold: float = 1.0, weights: tuple[float, ...] = ()) -> Verdict:
        primitives = []
        for number, judge in enumerate(judges):
            module = ModuleType(f"rollout.verifiers.sample_{number}")
            module.judge = judge  # type: ignore[attr-defined]
            monkeypatch.setitem(sys.modules, module.__name__, module)
            weight = weights[number] if weights else 1
            primitives.append({"name": f"p{number}", "type": f"sample_{number}", "weight": weight})
        environment = Environment(
            "case", "Case", "workflow", verifier={"primitives": primitives, "passThreshold": threshold}
        )
        trace = Trace("case", "workflow", "t", "m", (), (), {}, {}, "", "answer", Usage())
        return asyncio.run(VerifierGrader(environment).grade(Task("Do it."), trace))

    return grade


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


def test_rates_have_both_denominators() -> None:
    tally = Tally({Outcome.PASSED: 2, Outcome.FAILED: 1, Outcome.ERROR: 3, Outcome.UNSCORED: 1})
    assert (tally.passed, tally.graded, tally.all) == (2, 3, 7)
