"""Rollouts in the forms of others: plain chat messages, and the Agent Trajectory Interchange Format.

Both take a line of a run's journal, and give one JSON object a rollout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

import rollout

ATIF = "ATIF-v1.7"
"""The version that is written; all that is written exists in it."""

FORMATS = ("openai", "atif")


def openai(line: Mapping[str, Any], tools: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """A rollout as ``{"messages": […], "tools": […], "metadata": {…}}``, as OpenAI's chat completions take them.

    ``tools`` are those that the model was shown, in the protocol's form; None where nobody knows them. What a model
    thought before it spoke is left out, since the protocol has no place for it.
    """
    trace = line["trace"]
    messages = [
        {key: value for key, value in message.items() if key != "reasoning_content"}
        for message in trace["messages"]
    ]
    known = {} if tools is None else {"tools": tools}
    return {"messages": messages, **known, "metadata": _metadata(line)}


def atif(
    line: Mapping[str, Any], tools: Sequence[Mapping[str, Any]] | None = None, *, run: str
) -> dict[str, Any]:
    """A rollout as a trajectory of ATIF: a step for each message, results of calls beside the calls they answer.

    The format is described by RFC 0001 of Harbor (https://www.harborframework.com/docs/agents/trajectory-format) and by
    the models in its package, ``harbor.models.trajectories``. Arguments that are no JSON object have no place in it: of
    such a call they are empty, and what the model wrote is in ``extra``. ``tools`` are as in :func:`openai`.
    ``run`` tells rollouts of one task and trial apart that are of different runs.
    """
    trace = line["trace"]
    identity = f"{run}/{trace['environment']}/{trace['task']}/{trace['trial']}"
    steps = list(_steps(trace))
    agent: dict[str, Any] = {
        "name": "rollout",
        "version": rollout.__version__,
        "model_name": trace["model"],
    }
    if tools is not None:
        agent["tool_definitions"] = tools
    return {
        "schema_version": ATIF,
        "session_id": identity,
        "trajectory_id": identity,
        "agent": agent,
        "steps": steps,
        "final_metrics": {**_totals(trace["usage"]), "total_steps": len(steps)},
        "extra": _metadata(line),
    }


def _steps(trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    made = {call["id"]: call for call in trace["calls"]}
    exchanges = iter(trace.get("exchanges") or ())
    messages = trace["messages"]
    number = 0
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            # It stands with the call that it answers.
            continue
        number += 1
        is_agent = message["role"] == "assistant"
        step: dict[str, Any] = {
            "step_id": number,
            "source": "agent" if is_agent else message["role"],
            "message": message.get("content") or "",
        }
        if is_agent:
            step |= _said(message, made, _answers(messages, index), next(exchanges, None))
        yield step


def _said(
    message: Mapping[str, Any],
    made: Mapping[str, Any],
    answers: list[Mapping[str, Any]],
    exchange: Mapping[str, Any] | None,
) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if message.get("reasoning_content"):
        said["reasoning_content"] = message["reasoning_content"]
    if calls := message.get("tool_calls"):
        said["tool_calls"] = [_call(call, made.get(call["id"])) for call in calls]
    if answers:
        results = [{"source_call_id": each["tool_call_id"], "content": each["content"]} for each in answers]
        said["observation"] = {"results": results}
    if exchange is None:
        return said
    usage = exchange["usage"]
    if not usage.get("unmetered"):
        said["metrics"] = {
            "prompt_tokens": usage["input_tokens"],
            "completion_tokens": usage["output_tokens"],
            "cached_tokens": usage["cached_tokens"],
            **({} if usage["cost"] is None else {"cost_usd": usage["cost"]}),
        }
    # Attempts that failed are no inferences.
    said["llm_call_count"] = 1
    if exchange.get("served_by"):
        said["model_name"] = exchange["served_by"]
    return said


def _call(call: Mapping[str, Any], made: Mapping[str, Any] | None) -> dict[str, Any]:
    written = call["function"]["arguments"]
    args = made["args"] if made is not None else _object(written)
    told: dict[str, Any] = {
        "tool_call_id": call["id"],
        "function_name": call["function"]["name"],
        "arguments": args if isinstance(args, dict) else {},
    }
    if not isinstance(args, dict):
        told["extra"] = {"arguments": written}
    return told


def _object(written: str) -> Any:
    try:
        return orjson.loads(written)
    except orjson.JSONDecodeError:
        return None


def _answers(messages: list[Mapping[str, Any]], index: int) -> list[Mapping[str, Any]]:
    end = index + 1
    while end < len(messages) and messages[end]["role"] == "tool":
        end += 1
    return messages[index + 1 : end]


def _totals(usage: Mapping[str, Any]) -> dict[str, Any]:
    totals = {
        "total_prompt_tokens": usage["input_tokens"],
        "total_completion_tokens": usage["output_tokens"],
        "total_cached_tokens": usage["cached_tokens"],
    }
    if usage["cost"] is not None:
        totals["total_cost_usd"] = usage["cost"]
    return totals


def _metadata(line: Mapping[str, Any]) -> dict[str, Any]:
    trace, verdict = line["trace"], line["verdict"]
    return {
        "environment": trace["environment"],
        "task": trace["task"],
        "trial": trace["trial"],
        "model": trace["model"],
        "ending": trace["ending"],
        "outcome": verdict["outcome"],
        "score": verdict["score"],
    }


__all__ = ["ATIF", "FORMATS", "atif", "openai"]
