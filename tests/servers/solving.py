"""A model over a real socket that plays the solutions of tasks, a step a turn, whoever asks and in which order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from servers.chat import Act, Connection, call, completion, http


def solves(tasks: Sequence[Mapping[str, Any]]) -> Act:
    """Answers with the next step of the solution of the task whose instruction the first message of the user has."""

    def answer(connection: Connection) -> None:
        body = [asked for asked in connection.server.asked if asked.connection == connection.number][-1].body
        instruction = next(message["content"] for message in body["messages"] if message["role"] == "user")
        task = next(each for each in tasks if instruction.startswith(each["instruction"]))
        said = sum(message["role"] == "assistant" for message in body["messages"])
        step = task["solution"][said]
        usage = {"prompt_tokens": 800, "completion_tokens": 40}
        if "tool" in step:
            made = [call(step["tool"], json.dumps(step.get("args", {})), f"call_{said}")]
            told = completion(calls=made, finish="tool_calls", usage=usage)
        else:
            told = completion(step["answer"], usage=usage)
        http(200, told)(connection)

    return answer


__all__ = ["solves"]
