"""What a model is trained on: rollouts as rows of a provider's file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rollout.templates import Tool


class RecordError(ValueError):
    """A rollout that nothing can be learned from; its text is a sentence."""


def supervised(line: Mapping[str, Any], tools: Sequence[Tool]) -> dict[str, Any]:
    """A rollout as an example to follow: ``{"messages": […], "tools": […]}``, as OpenAI's chat format has it.

    ``line`` is one of a run's journal. What a model thought before it spoke is left out, since the format has no place
    for it, and so are answers to its last calls: a row ends with what the model did. Arguments of calls stay the text
    that the model wrote. See https://platform.openai.com/docs/guides/supervised-fine-tuning. Raises RecordError.
    """
    messages = _messages(line)
    if not messages:
        raise RecordError("The model said nothing in it.")
    return _with_tools(messages, tools)


def preference(
    passed: Mapping[str, Any], failed: Mapping[str, Any], tools: Sequence[Tool]
) -> dict[str, Any] | None:
    """Two rollouts of one task as a pair for DPO: what was done where they part, after what they have in common.

    ``{"input": {"messages": […], "tools": […]}, "preferred_output": […], "non_preferred_output": […]}``, each output
    one message of the assistant, as https://docs.together.ai/docs/fine-tuning/preference-tuning has it. None where they
    do not part by what the model did: it is the same, one of them ends, or a tool answered otherwise. Calls that say
    the same in other ids or white space are the same.
    """
    right, wrong = _messages(passed), _messages(failed)
    for at, (ours, theirs) in enumerate(zip(right, wrong, strict=False)):
        if _sense(ours, right[:at]) == _sense(theirs, wrong[:at]):
            continue
        if ours["role"] != "assistant" or theirs["role"] != "assistant" or at == 0:
            return None
        return {
            "input": _with_tools(right[:at], tools),
            "preferred_output": [ours],
            "non_preferred_output": [theirs],
        }
    return None


def _messages(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages = [
        {key: value for key, value in message.items() if key != "reasoning_content" and value is not None}
        for message in line["trace"]["messages"]
    ]
    while messages and messages[-1]["role"] != "assistant":
        messages.pop()
    return messages


def _with_tools(messages: list[dict[str, Any]], tools: Sequence[Tool]) -> dict[str, Any]:
    row: dict[str, Any] = {"messages": messages}
    if tools:
        row["tools"] = [function(tool) for tool in tools]
    return row


def _sense(message: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a message says, without the ids that calls happen to have."""
    said = dict(message)
    if "tool_call_id" in said:
        ids = [call["id"] for each in before for call in each.get("tool_calls", ())]
        said["tool_call_id"] = ids.index(said["tool_call_id"]) if said["tool_call_id"] in ids else None
    if "tool_calls" in said:
        said["tool_calls"] = [
            (call["function"]["name"], _value(call["function"]["arguments"])) for call in said["tool_calls"]
        ]
    return said


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def function(tool: Tool) -> dict[str, Any]:
    """A tool, as the chat-completions protocol has it."""
    told = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": told}


def jsonl(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """The rows as a file of JSON Lines."""
    text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    return text.encode("utf-8", "replace")


__all__ = ["RecordError", "function", "jsonl", "preference", "supervised"]
