"""human: you. What a model would read is shown, and what you type is what the model does: a call, or the last words.

One person acts in one rollout at a time. They see the conversation and the tools, and not the ground truth.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rollout.models import Call, ConnectError, Message, ModelError, Request, Setup, Turn
from rollout.models._completing import complete, parameters
from rollout.models._seat import Completion, NotUtf8Error, Seat, TakenBack
from rollout.models._typed import (
    BrokenOffError,
    UnreadableError,
    here_text,
    parameter,
    read_arguments,
    tool_in,
)
from rollout.templates import Tool

MOST_SHOWN = 20_000
"""How many characters of a result are shown at once; “more” shows the rest."""

_MOST_TOOLS = 12
_COMMANDS = {
    "answer": ("answer TEXT", "end with your last words; “answer <<END” takes the lines up to END"),
    "done": ("done", "end without a word"),
    "tools": ("tools [TOOL]", "the tools, or all that is said of one"),
    "task": ("task", "what is asked, once more"),
    "more": ("more", "the rest of a long result"),
    "undo": ("undo", "take the last call back: all before it is done again in a new world"),
    "state": ("state", "the state of the world as it is, which an agent does not see"),
    "help": ("help", "this"),
    "quit": ("quit", "give up; there is no verdict"),
}


def connect(model_id: str, setup: Setup) -> Human:
    """The person at this terminal. Raises ConnectError where there is none, such as for a judge."""
    if model_id != "human":
        raise ConnectError(f"“{model_id}” is nobody.", "The model is called human.")
    if setup.seat is None:
        raise ConnectError(
            "Nobody can be asked here.", "“human” is for “rollout play” and “rollout test --model human”."
        )
    return Human(model_id, setup.seat)


class Human:
    """Asks the person for each turn. What they typed in this rollout is kept, to be done again after an undo."""

    most_at_once: Literal[1] = 1

    def __init__(self, model_id: str, seat: Seat) -> None:
        self.id = model_id
        self.seat = seat
        self._turns: list[Turn] = []
        self._again = False
        self._rest = ""

    async def respond(self, request: Request) -> Turn:
        """What the person does next.

        Raises ModelError when nothing more will be typed, KeyboardInterrupt when they give up, and TakenBack.
        """
        number: int = sum(message["role"] == "assistant" for message in request.messages)
        if number == 0 and not self._again:
            self._turns.clear()
        if number < len(self._turns):
            return self._turns[number]
        if self._again:
            self._again = False
        elif number == 0:
            self._open(request)
        else:
            self._show_results(request.messages)
        turn = self._ask(request, number)
        self._turns.append(turn)
        # The person may have thought for long: whoever set a time for the rollout is heard first, which takes the
        # event loop two turns, one to see that the time is over and one to say so.
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return turn

    async def close(self) -> None:
        """There is nothing to give back."""

    def _ask(self, request: Request, number: int) -> Turn:
        while True:
            try:
                line = self.seat.ask("> ", lambda line: self._complete(line, request))
                if line is None:
                    raise ModelError(
                        "The input ended before the rollout did.",
                        hint="Its last line is to be “answer TEXT” or “done”.",
                        hopeless=True,
                    )
                turn = self._read(line.strip(), request, number)
            except (UnreadableError, NotUtf8Error) as error:
                self.seat.show(str(error), "error")
            except BrokenOffError:
                self.seat.show("Broken off; nothing was called.", "quiet")
            else:
                if turn is not None:
                    return turn

    def _read(self, line: str, request: Request, number: int) -> Turn | None:
        """What a line says: a turn, or something to be done here. Raises UnreadableError, BrokenOffError."""
        if not line:
            return None
        tool = tool_in(line, request.tools)
        if tool is not None:
            arguments = read_arguments(tool, line[len(tool.name) :], self._more)
            return Turn(calls=(Call(f"human_{number + 1}", tool.name, arguments),))
        first, _, rest = line.partition(" ")
        command = first.removeprefix("/")
        if command == "state" and self._hides_state():
            raise UnreadableError("“state” shows the state of the world only with --show-state.")
        if command not in self._commands():
            raise UnreadableError(self._unknown(first, request.tools))
        return self._obey(command, rest.strip(), request)

    def _obey(self, command: str, rest: str, request: Request) -> Turn | None:
        match command:
            case "answer":
                text = here_text(rest, self._more)
                text = rest if text is None else text.removesuffix("\n")
                if not text.strip():
                    raise UnreadableError("Say what the answer is: answer TEXT. “done” ends without a word.")
                return Turn(text)
            case "done":
                return Turn()
            case "quit":
                raise KeyboardInterrupt
            case "undo":
                self._take_back()
            case "task":
                self._show_opening(request.messages)
            case "tools" | "help" if rest:
                named = tool_in(rest, request.tools)
                if named is None:
                    raise UnreadableError(self._unknown(rest, request.tools))
                self._explain(named)
            case "tools":
                self._list(request.tools)
            case "state":
                self.seat.show(json.dumps(self.seat.state(), ensure_ascii=False, indent=2))
            case "more":
                if not self._rest:
                    raise UnreadableError("There is no more of the last result.")
                self._show_result(self._rest)
            case _:
                self._help()
        return None

    def _more(self) -> str | None:
        try:
            return self.seat.ask("… ")
        except KeyboardInterrupt:
            # What is given up is this call, not the rollout.
            return None

    def _commands(self) -> list[str]:
        hidden = set()
        if not self.seat.takes_back:
            hidden.add("undo")
        if self.seat.state() is None:
            hidden.add("state")
        return [command for command in _COMMANDS if command not in hidden]

    def _hides_state(self) -> bool:
        """Whether the state could be seen, had it been asked for: a run has no option for it."""
        return self.seat.takes_back and self.seat.state() is None

    def _complete(self, line: str, request: Request) -> Completion:
        return complete(line, request.tools, self._commands(), request.messages)

    def _unknown(self, word: str, tools: Sequence[Tool]) -> str:
        from rollout.check.wording import closest

        close = closest(word[:200], [*(tool.name for tool in tools), *self._commands()])
        meant = "" if close is None else f" Did you mean “{close}”?"
        return f"“{word}” is neither a tool nor a command.{meant} “help” says what can be typed."

    def _take_back(self) -> None:
        if not self._turns:
            raise UnreadableError("There is nothing to take back.")
        call = self._turns.pop().calls[0]
        self.seat.show(f"Taken back: {call.tool} {call.arguments}", "quiet")
        self._again = True
        raise TakenBack

    # What is shown

    def _open(self, request: Request) -> None:
        key = request.key
        trial = f", trial {key.trial}" if key.trial else ""
        self.seat.show(f"{key.task} ({key.environment}{trial})\n", "title")
        self._show_opening(request.messages)
        self._list(request.tools)
        self.seat.show("Type a call, “answer TEXT” to end, or “help”.", "quiet")

    def _show_opening(self, messages: Sequence[Message]) -> None:
        for message in messages:
            if message["role"] == "assistant":
                break
            content = str(message.get("content") or "").rstrip("\r\n")
            self.seat.show(content, "quiet" if message["role"] == "system" else "plain")
            self.seat.show("")

    def _show_results(self, messages: Sequence[Message]) -> None:
        last = max(index for index, message in enumerate(messages) if message["role"] == "assistant")
        for message in messages[last + 1 :]:
            self._show_result(str(message.get("content") or ""))

    def _show_result(self, content: str) -> None:
        shown, self._rest = content[:MOST_SHOWN], content[MOST_SHOWN:]
        self.seat.show(shown)
        if self._rest:
            left = len(self._rest)
            characters = "1 more character" if left == 1 else f"{left:,} more characters"
            self.seat.show(f"… {characters}: “more” shows the rest.", "quiet")

    def _list(self, tools: Sequence[Tool]) -> None:
        if not tools:
            self.seat.show("There are no tools here.", "quiet")
        for tool in tools:
            brief = len(tools) > _MOST_TOOLS
            self.seat.show(f"  {tool.name}" if brief else f"  {_usage(tool)}", "title")
            if tool.description and not brief:
                self.seat.show(f"      {tool.description.strip().splitlines()[0]}", "quiet")
        if len(tools) > _MOST_TOOLS:
            self.seat.show("“tools TOOL” says how one is called.", "quiet")

    def _explain(self, tool: Tool) -> None:
        self.seat.show(_usage(tool), "title")
        self.seat.show(tool.description.strip() or "Nothing is said of it.")
        self.seat.show(json.dumps(tool.parameters, ensure_ascii=False, indent=2), "quiet")

    def _help(self) -> None:
        rows = [
            ("TOOL name=value …", 'call a tool; quotes hold blanks: name="two words"'),
            ("TOOL name=<<END", "the same, with the lines up to END as the value"),
            ("TOOL name=<FILE", "the same, with the text of a file"),
            ('TOOL {"name": …}', "the same with JSON, which may go over several lines"),
            *(_COMMANDS[command] for command in self._commands()),
            *([("state", "the state of the world, only with --show-state")] if self._hides_state() else []),
        ]
        width = max(len(form) for form, _ in rows)
        for form, words in rows:
            self.seat.show(f"  {form:<{width}}  {words}")
        self.seat.show("A command may begin with a slash (/task), which no tool does.", "quiet")


def _usage(tool: Tool) -> str:
    """How a tool is called: ``refund order_id=TEXT amount=NUMBER [reason=TEXT]``."""
    wanted = tool.parameters.get("required")
    needed = wanted if isinstance(wanted, list) else []
    forms = []
    for name in parameters(tool):
        form = f"{name}={_kind(parameter(tool, name))}"
        forms.append(form if name in needed else f"[{form}]")
    return " ".join([tool.name, *forms])


_KINDS: Mapping[str, str] = {
    "string": "TEXT",
    "number": "NUMBER",
    "integer": "NUMBER",
    "boolean": "true|false",
    "array": "[…]",
    "object": "{…}",
    "null": "null",
}


def _kind(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "…"
    enum = schema.get("enum")
    if isinstance(enum, list) and enum and len(enum) <= 8:
        return "|".join(str(value) if isinstance(value, str) else json.dumps(value) for value in enum)
    kinds = schema.get("type")
    named = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    return "|".join(_KINDS.get(str(kind), "…") for kind in named) or "…"


__all__ = ["MOST_SHOWN", "Human", "connect"]
