"""The ground truth already holds at the start, so an agent that does nothing passes.

Such a task does not tell a good agent from one that never moves, and its passing rollouts teach a model to do
nothing. Found are tasks whose ground truth is the start state (of a coding task its files, of a site its state and
first page) or, under `not: true`, is not, and verifiers whose checks hold before the first step, such as an
`element_value` of `false` for a box that is not ticked. Where doing nothing is right (the request must be refused), ask
for what a good agent does besides: the answer it gives, with `contains_terms`, or the look-up it has to make first,
with `tool_was_called`.

Before:

    initialMutableState: {refunds: []}
    tasks:
      - instruction: Refund order O-9, which does not exist.
        hidden_ground_truth: {refunds: []}

After:

    tasks:
      - instruction: Refund order O-9, which does not exist.
        hidden_ground_truth: {refunds: []}
    verifier:
      primitives:
        - {name: no_refund, type: ground_truth_match}
        - {name: looked, type: tool_was_called, tool: lookup_order}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.grading import judging
from rollout.check.start import idle_score, matches_start, truth_holds
from rollout.check.subject import Subject
from rollout.check.wording import listed
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL610"
SEVERITY = Severity.ERROR

_TURNED_WAY_OUT = "Take “not: true” away, or ask as well for what a right rollout does."
_WAY_OUT = (
    "Ask for a change; where none is right, ask for what a good agent says or looks up, with "
    "contains_terms or tool_was_called."
)


def check(subject: Subject) -> Iterator[Finding]:
    score = idle_score(subject)
    if score is not None and subject.verifier is not None and score.passes():
        yield Finding(
            ("verifier", "primitives"),
            f"An agent that does nothing passes every task: {listed(score.names)} "
            f"{'holds' if len(score.names) == 1 else 'hold'} without a call or a word.",
            _WAY_OUT,
            at="key",
        )


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if not subject.is_stateful:
        holds = truth_holds(subject)
        if holds is None:
            return None
        tell = (
            _turned_finding if any(each.value.get("not") is True for each in judging(subject)) else _finding
        )
        return lambda record: [tell(record)] if holds(record.ground_truth) else None
    score = idle_score(subject)
    if score is None or score.passes():
        return None
    state = subject.initial_state
    if score.turned:
        return lambda record: (
            [_turned_finding(record)]
            if record.ground_truth and score.passes_by_difference(record.ground_truth, state)
            else None
        )
    if not score.passes(with_ground_truth=True):
        return None
    exact = not any(any(options.values()) for options in score.comparisons)

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        value = record.value
        truth = value.get("hidden_ground_truth") or value.get("hiddenGroundTruth")
        if not truth:
            return None
        for name in truth:
            # What Python finds unequal is unequal by our terms too, where none of them is loosened.
            if name not in state or (exact and state[name] != truth[name]):
                return None
        if not all(matches_start(truth, state, options) for options in score.comparisons):
            return None
        return (_finding(record),)

    return judge


def _finding(record: TaskRecord) -> Finding:
    return Finding(
        ("tasks", record.index, record.truth_key),
        "The ground truth already holds at the start, so an agent that does nothing passes.",
        _WAY_OUT,
    )


def _turned_finding(record: TaskRecord) -> Finding:
    return Finding(
        ("tasks", record.index, record.truth_key),
        "The final state must not match the ground truth, and at the start it does not, so an agent that does "
        "nothing passes.",
        _TURNED_WAY_OUT,
    )
