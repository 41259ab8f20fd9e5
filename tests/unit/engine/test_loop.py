"""One rollout: how it ends, how calls are answered, and whom what breaks is charged to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from rollout.engine import Outcome, Trace, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.environment import Environment, Task
from rollout.models import Call, ModelError, Request, Sampling, Turn, Usage
from rollout.templates import Result, TemplateError, prepare

ENVIRONMENT = Environment(
    slug="desk",
    name="Desk",
    template="workflow",
    config={
        "description": "You run a desk.",
        "tools": [
            {"name": "refund", "kind": "action", "appendTo": "refunds", "value": "${args.id}"},
            {"name": "ping", "kind": "mock", "response": "pong"},
        ],
        "initialMutableState": {"refunds": []},
    },
    tasks=[Task("Refund O-1.", {"refunds": ["O-1"]}, {"customer": "Zoë"})],
)


class Playing:
    """Gives the turns it was made with, then repeats the last; remembers what it was asked."""

    id = "playing"

    def __init__(self, *turns: Turn | Exception) -> None:
        self.turns = turns
        self.requests: list[Request] = []

    async def respond(self, request: Request) -> Turn:
        self.requests.append(request)
        turn = self.turns[min(len(self.requests), len(self.turns)) - 1]
        if isinstance(turn, Exception):
            raise turn
        return turn

    async def close(self) -> None: ...


def calls(*names_and_arguments: tuple[str, str], ids: tuple[str, ...] = ()) -> Turn:
    return Turn(
        calls=tuple(
            Call(ids[number] if ids else f"id_{number}", tool, arguments)
            for number, (tool, arguments) in enumerate(names_and_arguments)
        )
    )


def play(*turns: Turn | Exception, max_tool_calls: int = 20) -> tuple[Trace, Playing]:
    model = Playing(*turns)
    workflow = EnvironmentWorkflow(
        ENVIRONMENT, max_tool_calls=max_tool_calls, sampling=Sampling(temperature=0.5)
    )
    return asyncio.run(workflow.run(ENVIRONMENT.tasks[0], model)), model


REFUND = ("refund", '{"id": "O-1"}')


def test_a_model_is_shown_the_notes_the_instruction_and_the_input_but_not_the_truth() -> None:
    trace, model = play(Turn("Done."))
    assert trace.messages == (
        {"role": "system", "content": "You run a desk."},
        {"role": "user", "content": 'Refund O-1.\n\nInput:\n{\n  "customer": "Zoë"\n}'},
        {"role": "assistant", "content": "Done."},
    )
    (request,) = model.requests
    assert [tool.name for tool in request.tools] == ["refund", "ping"]
    assert request.sampling.temperature == 0.5


def test_a_turn_without_calls_ends_the_rollout_with_its_text() -> None:
    trace, model = play(calls(REFUND), Turn("Refunded."), Turn("never asked"))
    assert (trace.ending, trace.final_output, len(model.requests)) == ("answer", "Refunded.", 2)
    assert trace.final_state == {"refunds": ["O-1"]}
    assert trace.initial_state == {"refunds": []}


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_turn_ends_the_rollout_in_silence(text: str) -> None:
    trace, model = play(Turn(text))
    assert (trace.ending, len(model.requests), trace.failure) == ("silence", 1, None)


def test_each_call_is_answered_once_and_in_order_and_a_broken_one_stops_no_other() -> None:
    trace, _ = play(calls(("ping", "{}"), ("refund", "{"), ("nope", "{}"), REFUND), Turn("Done."))
    answers = [(m["tool_call_id"], m["content"]) for m in trace.messages if m["role"] == "tool"]
    assert [answer[0] for answer in answers] == ["id_0", "id_1", "id_2", "id_3"]
    assert ['"error"' in answer[1] for answer in answers] == [False, True, True, False]
    assert [(call.ran, call.args) for call in trace.calls] == [
        (True, {}),
        (False, None),
        (False, {}),
        (True, {"id": "O-1"}),
    ]
    assert trace.calls[1].arguments == "{"
    assert trace.final_state == {"refunds": ["O-1"]}


def test_calls_without_an_id_of_their_own_are_given_one() -> None:
    trace, _ = play(calls(("ping", ""), ("ping", ""), ("ping", ""), ids=("a", "a", "")), Turn("Done."))
    asked = [call["id"] for message in trace.messages for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in trace.messages if message["role"] == "tool"]
    assert asked == answered == ["a", "call_2", "call_3"]


def test_calls_past_the_limit_are_answered_but_not_made_and_end_the_rollout() -> None:
    trace, model = play(calls(("ping", "{}"), REFUND), max_tool_calls=3)
    assert (trace.ending, len(model.requests)) == ("tool_limit", 2)
    assert [call.error for call in trace.calls] == [None, None, None, "The limit of 3 tool calls is reached."]
    assert trace.final_state == {"refunds": ["O-1"]}
    assert trace.final_output == ""


def test_after_the_last_call_allowed_the_model_may_still_answer() -> None:
    trace, _ = play(calls(REFUND), Turn("Refunded."), max_tool_calls=1)
    assert (trace.ending, trace.final_output) == ("answer", "Refunded.")


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (
            calls(*[("ping", "{}")] * 1_001),
            "“playing” made 1,001 calls in one turn; there may be 1,000.",
        ),
        (
            calls(("refund", json.dumps({"id": "x" * 1_000_000}))),
            "A turn of “playing” has 1,000,020 characters; there may be 1,000,000, arguments included.",
        ),
        (
            Turn("x" * 500_000, reasoning="y" * 500_001),
            "A turn of “playing” has 1,000,001 characters; there may be 1,000,000, arguments included.",
        ),
    ],
)
def test_a_turn_beyond_all_measure_is_charged_to_the_model_and_not_kept(turn: Turn, words: str) -> None:
    trace, _ = play(replace(turn, usage=Usage(10, 5)))
    assert trace.failure is not None
    assert (trace.failure.sentence, trace.failure.charged_to) == (words, "model")
    assert [message["role"] for message in trace.messages] == ["system", "user"]
    assert trace.usage.tokens == 15


def test_a_long_turn_within_measure_is_answered() -> None:
    trace, _ = play(calls(*[("ping", "{}")] * 1_000), Turn("Done."), max_tool_calls=2_000)
    assert trace.failure is None
    assert len(trace.calls) == 1_000


def test_usage_is_added_up_over_the_turns() -> None:
    trace, _ = play(
        Turn(calls=calls(REFUND).calls, usage=Usage(10, 2)), Turn("Refunded.", usage=Usage(20, 3))
    )
    assert trace.usage == Usage(30, 5)


@pytest.mark.parametrize(
    ("error", "charged_to", "words"),
    [
        (ModelError("It refuses to answer."), "model", "It refuses to answer."),
        (ModelError("No route.", charged_to="infrastructure"), "infrastructure", "No route."),
        (RuntimeError("boom"), "infrastructure", "“playing” broke down: RuntimeError: boom"),
    ],
)
def test_a_model_that_breaks_leaves_a_trace_that_says_whose_fault_it_is(
    error: Exception, charged_to: str, words: str
) -> None:
    trace, _ = play(calls(REFUND), error)
    assert trace.failure is not None
    assert (trace.failure.charged_to, trace.failure.sentence, trace.ending) == (charged_to, words, "failure")
    assert trace.final_state == {"refunds": ["O-1"]}


def test_a_rollout_that_broke_is_an_error_and_is_not_graded() -> None:
    workflow, grader = EnvironmentWorkflow(ENVIRONMENT), VerifierGrader(ENVIRONMENT)
    model = Playing(calls(REFUND), ModelError("It refuses to answer."))
    rollout = asyncio.run(roll_out(workflow, grader, ENVIRONMENT.tasks[0], model))
    assert (rollout.verdict.outcome, rollout.verdict.score) == (Outcome.ERROR, None)


class Submitting:
    """A world whose one tool hands in the answer, and whose other tool breaks."""

    def __init__(self) -> None:
        self.closed = 0

    async def call(self, name: str, args: Mapping[str, Any]) -> Result:
        if name == "refund":
            raise ZeroDivisionError
        return Result("ok", answer="42")

    def state(self) -> dict[str, Any]:
        return {}

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def submitting(monkeypatch: pytest.MonkeyPatch) -> tuple[EnvironmentWorkflow, Submitting]:
    workflow, world = EnvironmentWorkflow(ENVIRONMENT), Submitting()
    monkeypatch.setattr(workflow.stage, "open", lambda task: world)
    return workflow, world


def test_after_the_answer_is_handed_in_no_call_is_made_and_no_model_asked(
    submitting: tuple[EnvironmentWorkflow, Submitting],
) -> None:
    workflow, world = submitting
    model = Playing(calls(("ping", "{}"), REFUND))
    trace = asyncio.run(workflow.run(ENVIRONMENT.tasks[0], model))
    assert (trace.ending, trace.final_output, len(model.requests), world.closed) == ("submitted", "42", 1, 1)
    assert json.loads(trace.messages[-1]["content"])["error"].startswith("The answer has been handed in")
    assert trace.failure is None


def test_a_tool_that_breaks_down_is_charged_to_the_environment(
    submitting: tuple[EnvironmentWorkflow, Submitting],
) -> None:
    workflow, world = submitting
    trace = asyncio.run(workflow.run(ENVIRONMENT.tasks[0], Playing(calls(REFUND, ("ping", "{}")))))
    assert trace.failure is not None and trace.failure.charged_to == "environment"
    assert trace.failure.sentence == "Tool “refund” broke down: ZeroDivisionError"
    assert world.closed == 1


def test_the_trace_of_a_rollout_is_not_changed_by_the_next() -> None:
    workflow, model = EnvironmentWorkflow(ENVIRONMENT), Playing(calls(REFUND), Turn("Refunded."))
    first = asyncio.run(workflow.run(ENVIRONMENT.tasks[0], model))
    before = repr(first)
    model.requests.clear()
    assert asyncio.run(workflow.run(ENVIRONMENT.tasks[0], model)) == first
    assert repr(first) == before


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"tools": [{"name": "a", "kind": "lookup", "fixturePath": "a..b"}]}, "“a” cannot work. A key is missing"),
        ({"tools": [{"name": "a", "kind": "mock", "response": "${"}]}, "“a” cannot work. This “${” is not closed"),
        ({"tools": [{"name": "a", "kind": "lookup", "fromArray": "x", "matchField": "id"}]}, "“x” is nothing"),
        ({"tools": [{"name": "a", "kind": "lookup"}]}, "neither fixturePath nor fromArray"),
        ({"tools": [{"name": "a", "kind": "action"}]}, "neither stateArray nor appendTo"),
        ({"tools": [{"name": "a", "kind": "magic"}]}, "neither a lookup nor an action nor a mock"),
        ({"tools": [{"kind": "mock"}]}, "A tool has no name"),
        ({"tools": [{"name": "a", "kind": "mock"}, {"name": "a", "kind": "mock"}]}, "Two tools are called “a”"),
        ({"tools": [], "initialMutableState": []}, "“initialMutableState” is not an object"),
    ],
)  # fmt: skip
def test_a_config_that_cannot_work_is_refused_before_any_rollout(config: dict[str, Any], words: str) -> None:
    with pytest.raises(TemplateError) as caught:
        prepare(Environment("broken", "Broken", "workflow", config=config))
    assert words in str(caught.value)


def test_a_template_without_a_world_is_refused_with_a_sentence() -> None:
    with pytest.raises(TemplateError, match="“spreadsheet” cannot be run here yet"):
        prepare(Environment("sheet", "Sheet", "spreadsheet", config={}))  # type: ignore[arg-type]
