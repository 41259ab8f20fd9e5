"""What holds for every comparison: pairs, what is left out, and that nothing is more certain than it can be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.analysis.compare import Comparison, Direction, Graded, Side
from rollout.analysis.compare.comparing import compare, other_version
from rollout.analysis.compare.gate import regressions
from rollout.analysis.compare.groups import grouped
from rollout.engine import Outcome

Results = dict[str, list[float | None]]
"""By task the scores of its trials, 1 for passed; None for what has no grade."""

results = st.dictionaries(
    st.sampled_from("abcdefghij"),
    st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=1, max_size=4),
    min_size=1,
)


def side(tasks: Results, *, splits: dict[str, str] | None = None, template: str = "workflow") -> Side:
    rollouts = [
        Graded(
            f"content of {task}",
            task,
            Outcome.ERROR if score is None else Outcome.PASSED if score == 1 else Outcome.FAILED,
            score,
            (splits or {}).get(task, "dev"),
            template,
            "infrastructure" if score is None else None,
        )
        for task, scores in tasks.items()
        for score in scores
    ]
    return Side("runs/some", "openai/gpt-4o-mini", "desk", "sha256:d", rollouts)


def many(tasks: int, score: float, *, trials: int = 1) -> Results:
    return {f"t{number}": [score] * trials for number in range(tasks)}


def graded(tasks: Results) -> Results:
    return {task: [score for score in scores if score is not None] for task, scores in tasks.items()}


@given(results, results)
@settings(max_examples=80)
def test_the_other_way_round_all_differences_have_the_other_sign(before: Results, after: Results) -> None:
    there, back = compare(side(before), side(after)), compare(side(after), side(before))
    assert {pair.name for pair in there.pairs} == {pair.name for pair in back.pairs}
    if there.pass_rate is None or back.pass_rate is None:
        assert not there.pairs and there.pass_rate is back.pass_rate
        return
    assert there.pass_rate.p == back.pass_rate.p
    assert there.pass_rate.difference.value == pytest.approx(-back.pass_rate.difference.value)
    assert there.pass_rate.difference.interval.low == pytest.approx(
        -back.pass_rate.difference.interval.high, abs=1e-5
    )


@given(results, results)
@settings(max_examples=80)
def test_what_has_no_grade_changes_no_number(before: Results, after: Results) -> None:
    with_errors = compare(side(before), side(after))
    without = compare(side(graded(before)), side(graded(after)))
    assert with_errors.pass_rate == without.pass_rate
    assert with_errors.score == without.score
    assert [(pair.name, pair.difference, pair.interval) for pair in with_errors.pairs] == [
        (pair.name, pair.difference, pair.interval) for pair in without.pairs
    ]


@given(results, results)
@settings(max_examples=80)
def test_every_task_is_paired_or_said_to_be_left_out_once(before: Results, after: Results) -> None:
    found = compare(side(before), side(after))
    told = [
        *(pair.name for pair in found.pairs),
        *found.lost,
        *found.ungraded,
        *found.only_baseline,
        *found.only_trained,
    ]
    assert sorted(told) == sorted({*before, *after})


@given(results)
@settings(max_examples=60)
def test_a_run_against_itself_shows_nothing_and_is_never_certain(tasks: Results) -> None:
    found = compare(side(tasks), side(tasks))
    assert found.direction is Direction.UNDECIDED
    if found.pass_rate is not None:
        assert found.pass_rate.p == 1
        interval = found.pass_rate.difference.interval
        assert interval.low < 0 < interval.high
    assert list(regressions(found)) == (
        [] if found.pairs else ["No task has a grade in both runs, so a regression cannot be told."]
    )


@given(results, results)
@settings(max_examples=60)
def test_regressions_come_first(before: Results, after: Results) -> None:
    differences = [pair.difference for pair in compare(side(before), side(after)).pairs]
    assert differences == sorted(differences)


@pytest.mark.parametrize("tasks", range(1, 6))
def test_fewer_than_six_tasks_decide_nothing_however_many_trials_they_have(tasks: int) -> None:
    found = compare(side(many(tasks, 0.0, trials=50)), side(many(tasks, 1.0, trials=50)))
    assert found.direction is Direction.UNDECIDED
    assert found.power is not None and found.power.detectable is None and found.power.tasks == 6


def test_a_task_counts_once_however_many_trials_it_has() -> None:
    before = {"often": [0.0] * 8, "once": [1.0]}
    found = compare(side(before), side({"often": [1.0], "once": [1.0] * 8}))
    assert found.pass_rate is not None
    assert found.pass_rate.baseline.value == 0.5
    assert found.pass_rate.difference.value == 0.5


def test_tasks_are_paired_by_what_they_ask_and_not_by_what_they_are_called() -> None:
    before = side(many(8, 0.0))
    renamed = [each._replace(task=f"new-{each.task}") for each in side(many(8, 1.0)).rollouts]
    found = compare(before, replace(before, rollouts=renamed))
    assert len(found.pairs) == 8 and found.direction is Direction.BETTER
    changed = [each._replace(content=f"other {each.content}") for each in renamed]
    found = compare(before, replace(before, rollouts=changed))
    assert found.pass_rate is None and len(found.only_baseline) == len(found.only_trained) == 8


def test_the_test_is_mcnemars_with_one_trial_a_task_and_a_permutation_with_more() -> None:
    def test(before: Results, after: Results) -> str:
        found = compare(side(before), side(after)).pass_rate
        assert found is not None
        return found.test

    assert test(many(6, 0.0), many(6, 1.0)) == "exact McNemar"
    assert test(many(6, 0.0), {**many(6, 1.0), "t0": [1.0, 1.0]}) == "paired permutation"
    assert test(many(6, 0.0), {**many(6, 1.0), "t0": [1.0, None]}) == "exact McNemar"
    assert test(many(17, 0.0, trials=2), many(17, 1.0, trials=2)).endswith("20,000 drawn from seed 0")


def test_of_slices_those_that_are_worse_come_first_and_their_p_values_know_of_each_other() -> None:
    splits = {f"t{number}": "dev" if number < 8 else "test" for number in range(16)}
    before = {f"t{number}": [0.0 if number < 8 else 1.0] for number in range(16)}
    after = {f"t{number}": [1.0 if number < 8 else 0.0] for number in range(16)}
    found = compare(side(before, splits=splits), side(after, splits=splits))
    assert found.direction is Direction.UNDECIDED
    assert [(each.name, each.contrast.direction) for each in found.slices] == [
        ("test", Direction.WORSE),
        ("dev", Direction.BETTER),
    ]
    assert [each.contrast.adjusted for each in found.slices] == [2 * 2 / 2**8] * 2
    assert list(regressions(found)) == ["The pass rate is lower in the split “test” (p = 0.016, Holm)."]


def test_runs_of_several_templates_have_a_slice_for_each() -> None:
    before, after = side({"a": [1.0]}), side({"a": [1.0]})
    other = side({"b": [1.0]}, template="sql").rollouts
    found = compare(
        replace(before, rollouts=[*before.rollouts, *other]),
        replace(after, rollouts=[*after.rollouts, *other]),
    )
    assert [(each.by, each.name) for each in found.slices] == [("template", "sql"), ("template", "workflow")]


def gate(before: Results, after: Results, *, margin: float | None = None) -> list[str]:
    return list(regressions(compare(side(before), side(after), margin=margin)))


def test_without_a_margin_only_what_is_shown_to_be_worse_fails() -> None:
    assert gate(many(5, 1.0), many(5, 0.0)) == []
    assert gate(many(6, 1.0), many(6, 0.0)) == ["The pass rate is lower."]


def test_a_score_that_is_shown_to_be_lower_fails_and_names_its_tasks() -> None:
    before, after = many(8, 0.7), {**many(8, 0.1), "t3": [0.7]}
    found = compare(side(before), side(after))
    assert found.pass_rate is not None and found.score is not None
    assert (found.pass_rate.direction, found.direction) == (Direction.UNDECIDED, Direction.WORSE)
    assert grouped(found.pairs).same == [pair for pair in found.pairs if pair.name == "t3"]
    assert gate(before, after) == [
        "The score is lower (p = 0.031, Holm): in 7 of 8 tasks, “t0”, “t1”, “t2”, “t4”, “t5” and 2 more tasks."
    ]
    assert gate(after, before) == []
    [sentence] = gate(before, after, margin=0.1)
    assert sentence.startswith("Not shown that the pass rate is not lower by 10 points or more")
    assert "Not shown that the score is not lower by 0.1 or more: it may be −0." in sentence


def test_pass_rate_and_score_are_one_question_where_they_say_the_same_and_two_where_not() -> None:
    one = compare(side(many(8, 0.0)), side(many(8, 1.0)))
    assert one.score is not None and one.score.adjusted is None and one.questions == (one.pass_rate,)
    two = compare(side(many(8, 0.5)), side({**many(8, 1.0), "t0": [0.0]}))
    assert two.pass_rate is not None and two.score is not None
    assert sorted((two.pass_rate.p, two.score.p)) == [two.pass_rate.p, two.score.p]
    assert two.pass_rate.adjusted == 2 * two.pass_rate.p


def test_higher_in_one_and_lower_in_the_other_is_neither_better_nor_let_through() -> None:
    before = many(20, 0.9)
    after = {**many(20, 0.0), **many(7, 1.0)}
    assert compare(side(before), side(after)).direction is Direction.MIXED
    assert len(gate(before, after)) == 1


def test_with_a_margin_whatever_is_not_shown_to_be_no_worse_fails() -> None:
    assert len(gate(many(20, 1.0), many(20, 1.0), margin=0.05)) == 1
    assert gate(many(200, 1.0), many(200, 1.0), margin=0.05) == []
    assert gate(many(20, 0.0), many(20, 1.0), margin=0.05) == []


def test_a_margin_lets_through_what_is_worse_by_less() -> None:
    before, after = many(1000, 1.0), {**many(1000, 1.0), **many(10, 0.0)}
    assert gate(before, after) == ["The pass rate is lower."]
    assert gate(before, after, margin=0.03) == []
    assert len(gate(before, after, margin=0.01)) == 1


@pytest.mark.parametrize("margin", [None, 0.5])
def test_what_has_no_grade_any_more_fails(margin: float | None) -> None:
    before = many(40, 1.0)
    assert gate(before, {**before, "t3": [None]}, margin=margin) == ["The trained run has no grade of “t3”."]
    assert gate({**before, "t3": [None]}, before, margin=margin) == []
    assert gate({"a": [1.0]}, {"b": [1.0]}, margin=margin)


@pytest.mark.parametrize("margin", [None, 0.5])
def test_a_run_that_has_not_done_what_the_baseline_has_fails(margin: float | None) -> None:
    before = many(40, 1.0)
    after = dict(list(before.items())[:38])
    assert gate(before, after, margin=margin) == ["The trained run has no grade of “t38”, “t39”."]
    assert gate({**before, "t38": [None], "t39": [None]}, after, margin=margin) == []
    assert gate(after, before, margin=margin) == []


def test_what_was_not_done_is_taken_at_its_worst_too() -> None:
    before = many(400, 1.0, trials=2)
    sentence, _ = gate(before, dict(list(before.items())[:390]), margin=0.01)
    assert sentence.endswith(", if what has no grade had failed.")


def test_of_other_tasks_only_those_that_both_versions_have_count() -> None:
    def of(scores: Results, digest: str, **parts: str) -> Side:
        return replace(side(scores), digest=digest, parts=parts)

    before, after = many(8, 1.0), many(6, 1.0)
    other = compare(of(before, "1", tasks="a"), of(after, "2", tasks="b"))
    assert (other.undone, other.only_baseline) == ([], ["t6", "t7"])
    assert list(regressions(other)) == []
    judged = compare(of(before, "1", tasks="a", verifier="c"), of(after, "2", tasks="a", verifier="d"))
    assert list(regressions(judged)) == ["The trained run has no grade of “t6”, “t7”."]
    unknown = compare(of(before, "1"), of(after, "2"))
    assert list(regressions(unknown)) == []


def test_a_model_that_breaks_where_it_would_have_failed_is_not_let_through() -> None:
    before = {f"t{number}": [1.0, 0.0, 0.0] for number in range(10)}
    breaking = {task: [1.0, None, None] for task in before}
    assert compare(side(before), side(breaking)).direction is Direction.BETTER
    [without] = gate(before, breaking)
    assert without.startswith(
        "Of the rollouts of a task, 66.7 % have no grade in the trained run, and 0 % in"
    )
    assert gate(breaking, before) == ["The pass rate is lower."]


def test_with_a_margin_what_has_no_grade_is_taken_at_its_worst() -> None:
    before = many(400, 1.0, trials=2)
    few, more = dict(before), dict(before)
    few["t0"] = [1.0, None]
    more |= {f"t{number}": [1.0, None] for number in range(5)}
    assert gate(before, few, margin=0.02) == []
    assert gate(before, more) == []
    [sentence] = gate(before, more, margin=0.01)
    assert sentence.endswith(", if what has no grade had failed.")
    assert gate(before, before, margin=0.01) == []


def test_more_trials_of_the_same_tasks_settle_it_where_tasks_differ_alike() -> None:
    before = {f"t{number}": [1.0, 1.0, 0.0, 0.0] for number in range(40)}
    after = {f"t{number}": [1.0, 1.0, 1.0 if number % 8 == 0 else 0.0, 0.0] for number in range(40)}
    found = compare(side(before), side(after))
    assert found.direction is Direction.UNDECIDED and found.power is not None
    assert found.power.tasks is not None and found.power.tasks > 40
    assert found.power.trials is not None and found.power.trials > 4
    once = compare(side({task: scores[:1] for task, scores in before.items()}), side(after))
    assert once.power is not None and once.power.trials is None


def test_another_version_is_told_by_its_parts_and_other_names_are_none() -> None:
    def of(digest: str, **parts: str) -> Side:
        return replace(side({"a": [1.0]}), digest=digest, parts=parts)

    assert other_version(of("1", tasks="a"), of("1", tasks="b")) == []
    assert other_version(of("1", verifier="a"), of("1", verifier="b")) == ["verifier"]
    assert other_version(of("1", tasks="a", environment="c"), of("2", tasks="b", environment="c")) == [
        "tasks"
    ]
    assert other_version(of("1"), of("2")) == ["environment"]


def test_a_comparison_is_the_same_whatever_the_order_of_the_rollouts() -> None:
    def told(found: Comparison) -> object:
        return replace(found, merged=[])

    before, after = side(many(20, 0.0)), side({**many(20, 1.0), "t1": [0.0]})
    turned = replace(after, rollouts=list(reversed(after.rollouts)))
    assert told(compare(before, after)) == told(compare(before, turned))
