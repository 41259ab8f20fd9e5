"""One rollout in a declared environment: the model is asked, its calls are answered in order, until it is done."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from json import dumps
from time import perf_counter
from typing import Any

from rollout.engine import Ending, Failure, Trace
from rollout.engine.toolbox import BadCallError, Toolbox
from rollout.environment import Environment, Task
from rollout.models import (
    AnyModel,
    Blame,
    Call,
    Conversation,
    Exchange,
    Message,
    ModelError,
    Request,
    RolloutKey,
    Sampling,
    Turn,
    Usage,
    ask,
)
from rollout.sandbox import SandboxError
from rollout.templates import Result, Script, Stage, TemplateError, World, prepare
from rollout.verifiers import ToolCall

MOST_TOOL_CALLS = 20
"""How many tool calls a rollout may make, unless told otherwise."""

LONGEST_TURN = 1_000_000
"""How many characters a turn of a model may have: its words, its thoughts, and its calls with their arguments."""

MOST_CALLS_IN_A_TURN = 1_000
"""How many calls a turn of a model may have. Each is answered, those past the limit of the rollout with an error."""


class EnvironmentWorkflow:
    """The workflow of a declared environment: its tools, its world, and a model that acts in it.

    Made once an environment; serves any number of rollouts at once. Raises TemplateError when it cannot be run.
    """

    def __init__(
        self,
        environment: Environment,
        *,
        max_tool_calls: int = MOST_TOOL_CALLS,
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> None:
        """``seconds`` is how long a rollout may take; None is as long as it takes."""
        self.environment = environment
        self.stage: Stage = prepare(environment)
        self.toolbox = Toolbox(self.stage.tools)
        self.max_tool_calls = max_tool_calls
        self.sampling = sampling or Sampling()
        self.seconds = seconds

    async def run(self, task: Task, model: AnyModel, *, trial: int = 0) -> Trace:
        """One rollout of ``task``. Whatever goes wrong is on the trace, charged to whom it is owed."""
        started = perf_counter()
        run = _Run(self, task, model, RolloutKey(self.environment.slug, task.key, trial))
        late = asyncio.timeout(self.seconds)
        try:
            async with late:
                await run.through()
        except ModelError as error:
            run.give_up(error)
        except Exception as error:
            if late.expired():
                run.fail(*run.lateness(self.seconds))
            else:
                run.fail(f"“{model.id}” broke down: {_words(error)}", "infrastructure")
        finally:
            # A world is closed even when the whole run is given up.
            await run.end()
        return Trace(
            environment=self.environment.slug,
            template=self.environment.template,
            task=run.key.task,
            trial=trial,
            model=model.id,
            messages=tuple(run.messages),
            calls=tuple(run.calls),
            initial_state=run.initial_state,
            final_state=run.final_state,
            final_output=run.final_output,
            ending=run.ending,
            usage=run.usage,
            sampling=self.sampling,
            exchanges=tuple(run.exchanges),
            failure=run.failure,
            seconds=perf_counter() - started,
        )

    def solve(self, task: Task) -> Script | None:
        """The task's solution as written, or the one that its template can work out."""
        return task.solution if task.solution is not None else self.stage.solve(task)


def opening(stage: Stage, task: Task) -> list[Message]:
    """The messages a rollout starts with: what the world says of itself, then the instruction and its input."""
    messages: list[Message] = []
    if stage.notes:
        messages.append({"role": "system", "content": stage.notes})
    content = task.instruction
    if task.input:
        content += f"\n\nInput:\n{dumps(task.input, ensure_ascii=False, indent=2)}"
    messages.append({"role": "user", "content": content})
    return messages


@dataclass(slots=True)
class _Run:
    workflow: EnvironmentWorkflow
    task: Task
    model: AnyModel
    key: RolloutKey
    messages: Conversation = field(default_factory=Conversation)
    exchanges: list[Exchange] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    world: World | None = None
    initial_state: dict[str, Any] = field(default_factory=dict)
    final_state: dict[str, Any] = field(default_factory=dict)
    final_output: str = ""
    ending: Ending = "failure"
    failure: Failure | None = None
    in_tool: str | None = None

    def lateness(self, seconds: float | None) -> tuple[str, Blame]:
        """What to say when the time is over, and whom that is charged to: whoever was waited for."""
        over = f"The {seconds:g} seconds for a rollout are over"
        if self.in_tool is not None:
            return f"{over}; its tool “{self.in_tool}” had not answered.", "environment"
        return f"{over}; “{self.model.id}” had not answered.", "infrastructure"

    def fail(self, sentence: str, charged_to: Any) -> None:
        self.failure = self.failure or Failure(sentence, charged_to)
        self.ending = "failure"

    def give_up(self, error: ModelError) -> None:
        """Fails for want of a turn; what was used on the way to it counts."""
        if error.exchange is not None:
            self.usage += error.exchange.usage
            self.exchanges.append(error.exchange)
        self.fail(f"{error} {error.hint}" if error.hint else str(error), error.charged_to)

    async def through(self) -> None:
        workflow = self.workflow
        self.messages = Conversation(opening(workflow.stage, self.task))
        try:
            self.world = workflow.stage.open(self.task)
            self.initial_state = self.world.state()
        except TemplateError as error:
            return self.fail(str(error), "environment")
        except Exception as error:
            return self.fail(f"The world cannot be opened: {_words(error)}", "environment")
        solve = cache(lambda: workflow.solve(self.task))
        while True:
            request = Request(self.messages, workflow.toolbox.tools, workflow.sampling, self.key)
            turn = await ask(self.model, request, task=self.task, solve=solve)
            self.usage += turn.usage
            if turn.exchange is not None:
                self.exchanges.append(turn.exchange)
            _refuse_overlong(turn, self.model.id)
            calls = _with_ids(turn.calls, len(self.calls))
            self.messages = self.messages.then(_assistant_message(turn, calls))
            if not calls:
                self.final_output = turn.text
                self.ending = "answer" if turn.text.strip() else "silence"
                return None
            if await self._answer(calls):
                return None

    async def _answer(self, calls: Sequence[Call]) -> bool:
        """Answers the calls of one turn, each exactly once and in order; whether the rollout is over."""
        submitted: str | None = None
        over = False
        for call in calls:
            args: dict[str, Any] | None = None
            ran = False
            if submitted is not None:
                result = Result.failed("The answer has been handed in; this call was not made.")
            elif len(self.calls) >= self.workflow.max_tool_calls:
                over, self.ending = True, "tool_limit"
                result = Result.failed(f"The limit of {self.workflow.max_tool_calls} tool calls is reached.")
            else:
                try:
                    args = self.workflow.toolbox.read(call)
                    ran = True
                except BadCallError as error:
                    args, result = error.arguments, Result.failed(str(error))
                if ran and args is not None:
                    try:
                        assert self.world is not None
                        self.in_tool = call.tool
                        result = await self.world.call(call.tool, args)
                        self.in_tool = None
                    except SandboxError as error:
                        self.fail(str(error), "infrastructure")
                        over, result = True, Result.failed("The tool could not be run.")
                    except TemplateError as error:
                        self.fail(str(error), "environment")
                        over, result = True, Result.failed("The tool broke down.")
                    except Exception as error:
                        self.fail(f"Tool “{call.tool}” broke down: {_words(error)}", "environment")
                        over, result = True, Result.failed("The tool broke down.")
            self.calls.append(
                ToolCall(call.id, call.tool, call.arguments, args, result.content, result.error, ran)
            )
            answer = {"role": "tool", "tool_call_id": call.id, "content": result.content}
            self.messages = self.messages.then(answer)
            if result.answer is not None:
                submitted, self.final_output, self.ending = result.answer, result.answer, "submitted"
            if self.failure is not None:
                break
        return over or submitted is not None

    async def end(self) -> None:
        if self.world is None:
            return
        try:
            self.final_state = self.world.state()
            await self.world.close()
        except Exception as error:
            self.fail(f"The world cannot be closed: {_words(error)}", "environment")


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _refuse_overlong(turn: Turn, model_id: str) -> None:
    """Raises ModelError for a turn that is beyond all honest use: it is kept and sent several times over."""
    if len(turn.calls) > MOST_CALLS_IN_A_TURN:
        raise ModelError(
            f"“{model_id}” made {len(turn.calls):,} calls in one turn; there may be {MOST_CALLS_IN_A_TURN:,}."
        )
    said = len(turn.text) + len(turn.reasoning)
    said += sum(len(call.id) + len(call.tool) + len(call.arguments) for call in turn.calls)
    if said > LONGEST_TURN:
        raise ModelError(
            f"A turn of “{model_id}” has {said:,} characters; there may be {LONGEST_TURN:,}, arguments included."
        )


def _with_ids(calls: Sequence[Call], before: int) -> list[Call]:
    seen: set[str] = set()
    named: list[Call] = []
    for number, call in enumerate(calls, start=before + 1):
        call_id = call.id
        if not call_id or call_id in seen:
            # Two answers to one id are refused by every provider.
            call_id = f"call_{number}"
        seen.add(call_id)
        named.append(Call(call_id, call.tool, call.arguments))
    return named


def _assistant_message(turn: Turn, calls: Sequence[Call]) -> Message:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if calls:
        message["content"] = turn.text or None
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.tool, "arguments": call.arguments},
            }
            for call in calls
        ]
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    return message


__all__ = ["LONGEST_TURN", "MOST_CALLS_IN_A_TURN", "MOST_TOOL_CALLS", "EnvironmentWorkflow", "opening"]
