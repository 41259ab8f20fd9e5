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
    messages = [
        {key: value for key, value in message.items() if key != "reasoning_content" and value is not None}
        for message in line["trace"]["messages"]
    ]
    while messages and messages[-1]["role"] != "assistant":
        messages.pop()
    if not messages:
        raise RecordError("The model said nothing in it.")
    row: dict[str, Any] = {"messages": messages}
    if tools:
        row["tools"] = [function(tool) for tool in tools]
    return row


def function(tool: Tool) -> dict[str, Any]:
    """A tool, as the chat-completions protocol has it."""
    told = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": told}


def jsonl(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """The rows as a file of JSON Lines."""
    text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    return text.encode("utf-8", "replace")


__all__ = ["RecordError", "function", "jsonl", "supervised"]
