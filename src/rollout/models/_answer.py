"""Reads a chat completion as servers really send it: odd forms are mended where the meaning is certain, else refused.

The protocol: https://platform.openai.com/docs/api-reference/chat/object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import orjson

from rollout.language import exact_json
from rollout.language.canonical import dump
from rollout.models import Blame, Call, Usage
from rollout.models._redaction import hide

NAMELESS = "no-name-given"
"""What a call is of whose name a model left out: no tool's, so that it is told which there are."""


class MalformedAnswerError(ValueError):
    """An answer that is no chat completion; its text is a clause that says why. ``usage`` is what it used.

    It is charged to the model, which wrote it, unless it is no JSON at all, which is the server's doing.
    """

    def __init__(self, why: str, usage: Usage | None = None, *, charged_to: Blame = "model") -> None:
        super().__init__(why)
        self.charged_to = charged_to
        self.usage = usage or Usage()


class ErrorAnswerError(ValueError):
    """An error where a chat completion should be, sent with a status that says that all is well."""

    def __init__(self, error: Any) -> None:
        super().__init__("an error in an answer of status 200")
        self.error = error


@dataclass(frozen=True, slots=True)
class Answer:
    """A chat completion: what was said, and a remark for each oddity that was mended."""

    text: str
    calls: tuple[Call, ...]
    reasoning: str
    finish: str | None
    served_by: str | None
    usage: Usage
    remarks: tuple[str, ...] = ()


def read_answer(body: bytes) -> Answer:
    """The first choice of a chat completion, with the usage without its cost.

    Raises MalformedAnswerError, and ErrorAnswerError where the body says that it is one.
    """
    remarks: list[str] = []
    value = load(body, remarks)
    if not isinstance(value, dict):
        raise MalformedAnswerError("it is JSON, but no object")
    choices = value.get("choices")
    if value.get("error") and not choices:
        raise ErrorAnswerError(value["error"])
    usage = _usage(value.get("usage"))
    if not isinstance(choices, list) or not choices:
        raise MalformedAnswerError("it has no choices", usage)
    choice = choices[0]
    if not isinstance(choice, dict) or not isinstance(message := choice.get("message"), dict):
        raise MalformedAnswerError("its choice has no message", usage)
    try:
        finish = choice.get("finish_reason")
        served_by = value.get("model")
        return Answer(
            text=_text(message, remarks),
            calls=_calls(message, remarks),
            reasoning=_reasoning(message),
            finish=finish if isinstance(finish, str) else None,
            served_by=served_by if isinstance(served_by, str) else None,
            usage=usage,
            remarks=tuple(remarks),
        )
    except MalformedAnswerError as error:
        error.usage = usage
        raise


def without_secrets(answer: Answer, secrets: Sequence[str]) -> Answer:
    """The answer without the keys that it was asked with, which a server may say back and a trace must not keep."""
    said = "\n".join(
        (answer.text, answer.reasoning, *(f"{call.id}{call.tool}{call.arguments}" for call in answer.calls))
    )
    if not any(secret in said for secret in secrets):
        return answer

    def hidden(text: str) -> str:
        return hide(text, secrets)

    return replace(
        answer,
        text=hidden(answer.text),
        reasoning=hidden(answer.reasoning),
        calls=tuple(
            Call(hidden(call.id), hidden(call.tool), hidden(call.arguments)) for call in answer.calls
        ),
        remarks=(*answer.remarks, "A key stood in it, and is hidden."),
    )


def load(body: bytes, remarks: list[str]) -> Any:
    """The JSON of an answer. Raises MalformedAnswerError when it is none."""
    try:
        return exact_json.load(body)
    except orjson.JSONDecodeError as error:
        if not body.strip():
            raise _no_json("it is empty") from None
        if body.lstrip().startswith(b"<"):
            raise _no_json("it is a page, not JSON") from None
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError as wrong:
            raise _no_json(f"it is not UTF-8 from byte {wrong.start + 1} on") from None
        try:
            # The one thing that is no JSON to orjson and yet sent: half of a character, where a text was cut.
            value = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise _no_json(f"it is not JSON from byte {error.pos + 1} on") from None
        remarks.append("Characters in it were cut in half.")
        return _mended(value)


def _no_json(why: str) -> MalformedAnswerError:
    return MalformedAnswerError(why, charged_to="infrastructure")


def _refuse(word: str) -> Any:
    raise ValueError(word)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(each) for each in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(each) for key, each in value.items()}
    return value


def _text(message: Mapping[str, Any], remarks: list[str]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        text = content
    elif content is None:
        text = ""
    elif isinstance(content, list):
        text = "".join(_part(part) for part in content)
        remarks.append("Its content is a list of parts; their texts were joined.")
    else:
        raise MalformedAnswerError("its content is no text")
    if not text and isinstance(refusal := message.get("refusal"), str) and refusal:
        remarks.append("The model refused; its words for it stand in for the content.")
        return refusal
    return text


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        if part.get("type") in ("thinking", "reasoning"):
            return ""
        for key in ("text", "refusal"):
            if isinstance(part.get(key), str):
                return str(part[key])
    raise MalformedAnswerError("a part of its content is no text")


def _reasoning(message: Mapping[str, Any]) -> str:
    for key in ("reasoning_content", "reasoning"):
        if isinstance(found := message.get(key), str) and found:
            return found
    return ""


def _calls(message: Mapping[str, Any], remarks: list[str]) -> tuple[Call, ...]:
    written = message.get("tool_calls")
    if not written:
        legacy = message.get("function_call")
        if isinstance(legacy, dict) and legacy:
            remarks.append("Its call is a function_call, as of old.")
            return (_call({"function": legacy}, remarks),)
        return ()
    if not isinstance(written, list):
        raise MalformedAnswerError("its tool_calls are no list")
    calls = tuple([_call(each, remarks) for each in written])
    ids = [call.id for call in calls]
    if len(set(ids)) < len(ids):
        remarks.append("Some of its calls have the same id, or none; they were given others.")
    return calls


def _call(written: Any, remarks: list[str]) -> Call:
    if not isinstance(written, dict):
        raise MalformedAnswerError("a tool call is no object")
    function = written.get("function")
    arguments: Any
    if isinstance(function, dict):
        name, arguments = function.get("name"), function.get("arguments")
    elif isinstance(custom := written.get("custom"), dict):
        name, arguments = custom.get("name"), custom.get("input")
    else:
        raise MalformedAnswerError("a tool call has no function")
    if not isinstance(name, str) or not name.strip():
        # It is answered as a call of a tool that there is not, and its siblings are made.
        name = NAMELESS
        remarks.append(f"A call has no name; it stands here as “{NAMELESS}”.")
    if not isinstance(arguments, str):
        if arguments is None:
            arguments = ""
        else:
            arguments = dump(arguments).decode()
            remarks.append(f"The arguments of “{name}” are JSON, not a text of it.")
    call_id = written.get("id")
    if _is_count(call_id):
        call_id = str(call_id)
        remarks.append(f"The id of the call of “{name}” is a number.")
    if not isinstance(call_id, str) or not call_id:
        call_id = ""
        remarks.append(f"The call of “{name}” has no id; it was given one.")
    return Call(call_id, name, arguments)


def _usage(written: Any) -> Usage:
    if not isinstance(written, dict):
        return Usage(unmetered=1)
    input_tokens, output_tokens = written.get("prompt_tokens"), written.get("completion_tokens")
    if not (_is_count(input_tokens) and _is_count(output_tokens)):
        return Usage(unmetered=1)
    cached = _detail(written, "prompt_tokens_details", "cached_tokens")
    reasoning = _detail(written, "completion_tokens_details", "reasoning_tokens")
    if reasoning and written.get("total_tokens") == input_tokens + output_tokens + reasoning:
        # Some providers count thoughts apart from the completion, and bill them like it.
        output_tokens += reasoning
    return Usage(input_tokens, output_tokens, None, min(cached, input_tokens), reasoning)


def _detail(written: Mapping[str, Any], group: str, key: str) -> int:
    details = written.get(group)
    found = details.get(key) if isinstance(details, dict) else None
    return found if _is_count(found) else 0


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


__all__ = [
    "NAMELESS",
    "Answer",
    "ErrorAnswerError",
    "MalformedAnswerError",
    "load",
    "read_answer",
    "without_secrets",
]
