"""The figures of a report are honest: both denominators, intervals, and bars that add up."""

from __future__ import annotations

import pytest

from rollout.analysis.report.figures import MOST_PRIMITIVES, Figures, Histogram, outcome_parts, task_rates
from rollout.analysis.report.texts import Texts
from rollout.analysis.summary import Brief, Summary
from rollout.engine import Outcome


def brief(task: str, outcome: Outcome, score: float | None = None, seconds: float = 1.0) -> Brief:
    return Brief(task, 0, outcome, score, seconds=seconds)


def drawn(*counted: tuple[Brief, int]) -> dict[str, Histogram]:
    figures = Figures()
    for each, calls in counted:
        figures.add(each, calls, ())
    return {each.title: each for each in figures.histograms()}


def test_a_full_score_and_none_have_bars_of_their_own() -> None:
    scores = [0.0, 0.0001, 0.1, 0.55, 0.9999, 1.0]
    plot = drawn(*((brief("t", Outcome.FAILED, score), 0) for score in scores))["Scores"]
    assert plot.described == "0: 1; 0 to 0.1: 1; 0.1 to 0.2: 1; 0.5 to 0.6: 1; 0.9 to 1: 1; 1: 1"


def test_what_was_not_graded_has_no_score_but_has_calls_and_time() -> None:
    plots = drawn((brief("t", Outcome.ERROR), 3))
    assert set(plots) == {"Tool calls", "Time"}
    assert plots["Tool calls"].described == "3: 1"


def test_many_calls_are_put_together_in_bars_of_equal_width() -> None:
    plot = drawn((brief("t", Outcome.PASSED, 1.0), 0), (brief("t", Outcome.FAILED, 0.0), 250))["Tool calls"]
    assert plot.described == "0 to 10: 1; 242 to 252: 1"
    assert sum(bar.width for bar in plot.bars) == pytest.approx(100)


def test_times_stand_in_bars_of_one_two_five() -> None:
    times = [0.0, 0.0005, 0.3, 1.0, 119.0, 999_999.0]
    plot = drawn(*((brief("t", Outcome.PASSED, 1.0, seconds), 0) for seconds in times))["Time"]
    assert plot.described == (
        "under 1 ms: 2; 200 ms to 500 ms: 1; 1 s to 2 s: 1; 1.67 min to 3.33 min: 1; over 833 min: 1"
    )


def test_the_parts_of_a_bar_add_up_to_its_height() -> None:
    passed, failed = brief("t", Outcome.PASSED, 1.0), brief("t", Outcome.FAILED, 1.0)
    [bar] = [
        bar for bar in drawn((passed, 1), (failed, 1), (passed, 0))["Tool calls"].bars if bar.amount == 2
    ]
    assert [(str(part.outcome), part.start, part.size) for part in bar.parts] == [
        ("passed", 0.0, 50.0),
        ("failed", 50.0, 50.0),
    ]


def test_tasks_that_pass_least_come_first_and_ungraded_ones_last() -> None:
    summary = Summary()
    for each in (
        *[brief("good", Outcome.PASSED, 1.0)] * 4,
        *[brief("bad", Outcome.FAILED, 0.0)] * 4,
        brief("once bad", Outcome.FAILED, 0.0),
        brief("broken", Outcome.ERROR),
        brief("good", Outcome.ERROR),
    ):
        summary.add(each)
    rates = task_rates(summary, Texts())
    assert [(each.task, each.passed, each.graded, each.all) for each in rates] == [
        ("bad", 0, 4, 4),
        ("once bad", 0, 1, 1),
        ("good", 4, 4, 5),
        ("broken", 0, 0, 1),
    ]
    assert [each.words for each in rates] == [
        "0 %, 95 % interval 0 % to 49 %",
        "0 %, 95 % interval 0 % to 79.3 %",
        "100 %, 95 % interval 51 % to 100 %",
        "not graded",
    ]


def test_means_are_over_all_rollouts() -> None:
    figures = Figures()
    assert figures.means() is None
    figures.add(brief("t", Outcome.PASSED, 1.0, 0.5), 3, ())
    figures.add(brief("t", Outcome.ERROR, None, 120.0), 0, ())
    assert figures.means() == ("1.5", "1 min")


def test_all_outcomes_make_one_bar() -> None:
    summary = Summary()
    for outcome in (Outcome.ERROR, Outcome.PASSED, Outcome.UNSCORED, Outcome.FAILED):
        summary.add(brief("t", outcome, 1.0 if outcome is Outcome.PASSED else None))
    parts = outcome_parts(summary)
    assert [(str(part.outcome), part.start) for part in parts] == [
        ("passed", 0.0),
        ("failed", 25.0),
        ("unscored", 50.0),
        ("error", 75.0),
    ]


def test_primitives_are_counted_by_how_they_came_out_within_a_bound() -> None:
    figures = Figures()
    figures.add(brief("t", Outcome.PASSED, 1.0), 0, [("a", "passed"), ("b", "partly")])
    figures.add(brief("t", Outcome.FAILED, 0.0), 0, [("a", "failed"), ("b", "error")])
    figures.add(brief("t", Outcome.FAILED, 0.0), 0, [(f"n{n}", "failed") for n in range(1_000)])
    told = figures.primitives()
    assert told[0].parts == [("passed", 1, 0.0, 50.0), ("failed", 1, 50.0, 50.0)]
    assert dict(told[1].amounts) == {"partly": 1, "error": 1}
    assert len(told) == MOST_PRIMITIVES
