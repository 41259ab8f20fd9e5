"""The person as a model: what they are shown, and how the time for a rollout counts for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from rollout.engine.loop import EnvironmentWorkflow
from rollout.environment import Environment, Task
from rollout.models import ModelError, Request, RolloutKey, Sampling, Setup, Turn, connect
from rollout.models._seat import Completer, Manner, TakenBack
from rollout.templates import Tool


class Chair:
    """A seat where the person types what was written down before, each line after ``seconds``."""

    takes_back = False

    def __init__(self, *lines: str, seconds: float = 0.0) -> None:
        self.lines = list(lines)
        self.seconds = seconds
        self.shown: list[str] = []

    def show(self, text: str, manner: Manner = "plain") -> None:
        self.shown += text.split("\n")

    def ask(self, prompt: str, complete: Completer | None = None) -> str | None:
        time.sleep(self.seconds)
        self.shown.append(f"{prompt}{self.lines[0] if self.lines else ''}")
        return self.lines.pop(0) if self.lines else None

    def state(self) -> Mapping[str, Any] | None:
        return None


def respond(chair: Chair, *said: Mapping[str, Any], tools: Sequence[Tool] = (Tool("look"),)) -> Turn:
    messages = [{"role": "user", "content": "Do it."}, *said]
    request = Request(messages, tools, Sampling(), RolloutKey("desk", "t"))
    return asyncio.run(connect("human", Setup(seat=chair)).respond(request))  # type: ignore[arg-type]


def test_a_line_with_a_tool_s_name_is_a_call_and_an_answer_ends() -> None:
    call = respond(Chair("", "lok", "look")).calls[0]
    assert (call.tool, call.arguments) == ("look", "{}")
    assert respond(Chair("answer", "answer  All done. ")) == Turn("All done.")
    assert respond(Chair("answer <<END", "One.", "", "Two.", "END")) == Turn("One.\n\nTwo.")
    assert respond(Chair("done")) == Turn()


def test_a_tool_named_like_a_command_is_the_tool_and_the_slash_the_command() -> None:
    tools = (Tool("answer"), Tool("help"))
    assert respond(Chair("answer"), tools=tools).calls[0].tool == "answer"
    chair = Chair("/help", "/answer Yes.")
    assert respond(chair, tools=tools) == Turn("Yes.")
    assert any(line.startswith("  quit") for line in chair.shown)


def test_an_undo_goes_past_whoever_catches_a_model_s_faults() -> None:
    desk = Environment("desk", "Desk", "custom", config={"tools": [{"name": "look", "response": 1}]})
    chair = Chair("look", "undo", "done")
    chair.takes_back = True
    with pytest.raises(TakenBack):
        asyncio.run(EnvironmentWorkflow(desk).run(Task("Do it."), connect("human", Setup(seat=chair))))
    assert chair.lines == ["done"]


def test_each_turn_shows_what_is_new() -> None:
    said = [
        {"role": "assistant", "content": None},
        {"role": "tool", "content": "first"},
        {"role": "assistant", "content": None},
        {"role": "tool", "content": "second"},
    ]
    chair = Chair("done")
    respond(chair, *said)
    assert chair.shown == ["second", "> done"]


def test_a_long_result_is_shown_bit_by_bit() -> None:
    said = [
        {"role": "assistant", "content": None},
        {"role": "tool", "content": "a" * 20_000 + "b" * 20_000 + "c"},
    ]
    chair = Chair("more", "more", "more", "done")
    respond(chair, *said)
    assert chair.shown == [
        "a" * 20_000,
        "… 20,001 more characters: “more” shows the rest.",
        "> more",
        "b" * 20_000,
        "… 1 more character: “more” shows the rest.",
        "> more",
        "c",
        "> more",
        "There is no more of the last result.",
        "> done",
    ]


def test_of_many_tools_the_names_are_listed_and_without_any_that_is_said() -> None:
    many = [Tool(f"tool_{number}", "Long words.") for number in range(13)]
    chair = Chair("tools tool_7", "done")
    respond(chair, tools=many)
    assert chair.shown[4:20] == [
        *(f"  {tool.name}" for tool in many),
        "“tools TOOL” says how one is called.",
        "Type a call, “answer TEXT” to end, or “help”.",
        "> tools tool_7",
    ]
    assert chair.shown[20:22] == ["tool_7", "Long words."]
    chair = Chair("done")
    respond(chair, tools=())
    assert "There are no tools here." in chair.shown


def test_a_schema_that_says_little_is_shown_all_the_same() -> None:
    odd = Tool(
        "odd", parameters={"properties": {"a": True, "b": {"type": ["string", "null"]}, "c": {"enum": []}}}
    )
    chair = Chair("tools", "done")
    respond(chair, tools=(odd,))
    assert "  odd [a=…] [b=TEXT|null] [c=…]" in chair.shown


def test_an_input_that_ends_is_charged_to_whoever_typed_it() -> None:
    with pytest.raises(ModelError, match="The input ended before the rollout did") as caught:
        respond(Chair("look <<END"))
    assert (caught.value.charged_to, caught.value.hopeless) == ("model", True)


def test_the_time_for_a_rollout_is_over_at_the_first_line_after_it() -> None:
    desk = Environment("desk", "Desk", "custom", config={"tools": [{"name": "look", "response": 1}]})
    chair = Chair("look", "look", "done", seconds=0.05)
    workflow = EnvironmentWorkflow(desk, seconds=0.01)
    trace = asyncio.run(workflow.run(Task("Do it."), connect("human", Setup(seat=chair))))
    assert trace.failure is not None
    assert trace.failure.sentence == "The 0.01 seconds for a rollout are over; “human” had not answered."
    assert (trace.calls, chair.lines) == ((), ["look", "done"])
