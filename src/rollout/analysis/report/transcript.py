"""One rollout as the page shows it: its row in the table, and its transcript, as JSON of nothing but shown texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from json import dumps
from typing import Any

import orjson

from rollout.analysis.report.changes import changes
from rollout.analysis.report.texts import Content, Texts
from rollout.analysis.summary import Brief
from rollout.analysis.words import number, short
from rollout.engine import Failure, Mark, Rollout, Trace
from rollout.models import Exchange, Message, Usage
from rollout.verifiers import ToolCall

_ENDINGS = {
    "answer": "It ended with an answer.",
    "submitted": "It ended when the answer was handed in.",
    "silence": "It ended with a turn that said nothing.",
    "tool_limit": "It was ended at the limit of tool calls.",
    "failure": "It was ended by a failure.",
}


def row(brief: Brief, rollout: Rollout, texts: Texts) -> dict[str, Any]:
    """What the table shows and filters by."""
    trace = rollout.trace
    return {
        "task": texts.line(brief.task),
        "trial": brief.trial,
        "outcome": str(brief.outcome),
        "charged": brief.charged_to,
        "score": brief.score,
        "calls": len(trace.calls),
        "failed": sum(call.error is not None for call in trace.calls),
        "tokens": brief.usage.tokens,
        "seconds": round(brief.seconds, 3),
        "asked": texts.line(" ".join(_asked(trace.messages).split()), 160),
        "why": texts.line(" ".join(brief.reason.split()), 240),
        "marks": [(texts.line(mark.name, 80), _sign(mark)) for mark in rollout.verdict.marks],
    }


def transcript(
    rollout: Rollout, earlier: Iterable[Mapping[str, Any]], texts: Texts, page: str | None = None
) -> dict[str, Any]:
    """All that is shown of a rollout when it is opened. ``page`` is HTML of its final state, to be shown in a frame."""
    trace, verdict = rollout.trace, rollout.verdict
    return {
        "ending": _ENDINGS[trace.ending],
        "model": texts.line(trace.model),
        "score": None if verdict.score is None else number(verdict.score),
        "threshold": number(verdict.threshold),
        "failure": _failure(verdict.failure, texts),
        "usage": used(trace.usage),
        "steps": list(_steps(trace, texts)),
        "marks": [_mark(mark, texts) for mark in verdict.marks],
        "changes": changes(trace.initial_state, trace.final_state, texts),
        "state": texts.json(trace.final_state),
        "earlier": [
            {
                "failure": _failure(Failure(**attempt["failure"]), texts),
                "seconds": round(attempt["seconds"], 3),
            }
            for attempt in earlier
        ],
        "page": None if page is None else texts.markup(page),
    }


def used(usage: Usage) -> str:
    """Tokens and cost in words; empty when nothing was used."""
    if usage.is_nothing:
        return ""
    parts = [f"{short(usage.input_tokens)} in", f"{short(usage.output_tokens)} out"]
    if usage.cached_tokens:
        parts.append(f"{short(usage.cached_tokens)} from the cache")
    if usage.reasoning_tokens:
        parts.append(f"{short(usage.reasoning_tokens)} of reasoning")
    if usage.unmetered:
        parts.append(f"{usage.unmetered} answer{'s' * (usage.unmetered != 1)} not metered")
    if usage.cost is not None:
        parts.append(f"${usage.cost:,.4f}")
    return ", ".join(parts)


def _asked(messages: Sequence[Message]) -> str:
    content = next((each.get("content") for each in messages if each.get("role") == "user"), None)
    return content if isinstance(content, str) else ""


def _steps(trace: Trace, texts: Texts) -> Iterator[dict[str, Any]]:
    """The conversation: a step for each message, with the calls that it made and what they gave."""
    made, exchanges = iter(trace.calls), iter(trace.exchanges)
    for message in trace.messages:
        role = message.get("role")
        if role == "tool":
            # It stands with the call that it answers.
            continue
        step: dict[str, Any] = {
            "role": texts.line(role, 40),
            "text": texts.block(message.get("content") or ""),
        }
        if message.get("reasoning_content"):
            step["reasoning"] = texts.block(message["reasoning_content"])
        if role == "assistant":
            step["notes"] = list(_notes(next(exchanges, None), texts))
            step["calls"] = [_call(call, next(made, None), texts) for call in message.get("tool_calls") or ()]
        yield step
    for exchange in exchanges:
        # The turn that never came about.
        yield {"role": "no answer", "text": "", "notes": list(_notes(exchange, texts))}


def _call(asked: Mapping[str, Any], made: ToolCall | None, texts: Texts) -> dict[str, Any]:
    if made is None:
        # The rollout broke before its turn came.
        function = asked.get("function") or {}
        return {
            "tool": texts.line(function.get("name", "")),
            "arguments": _content(function.get("arguments", ""), texts),
            "result": None,
            "state": "not made",
        }
    return {
        "tool": texts.line(made.tool),
        "arguments": _content(made.arguments, texts),
        "result": _content(made.content, texts),
        "state": "fine" if made.error is None else "failed" if made.ran else "refused",
    }


def _content(text: str, texts: Texts) -> Content:
    """JSON of objects and lists so that it can be read; any other text as it came."""
    value = _read(text)
    return texts.block(text) if value is None else texts.content(value)


def _read(text: str) -> Any:
    """What JSON of an object or a list says; None for any other, and where something of it would be lost."""
    if text[:1] not in ("{", "["):
        return None
    try:
        value = orjson.loads(text)
        # A key that is there twice, a number of thirty digits, 1e3 for 1000.
        same = orjson.dumps(value).decode() == text or dumps(value, ensure_ascii=False) == text
    except ValueError:
        return None
    return value if same else None


def _notes(exchange: Exchange | None, texts: Texts) -> Iterator[str]:
    if exchange is None:
        return
    if words := used(exchange.usage):
        yield words
    if exchange.served_by:
        yield f"by {texts.line(exchange.served_by, 80)}"
    if exchange.finish and exchange.finish not in ("stop", "tool_calls"):
        yield f"ended by “{texts.line(exchange.finish, 80)}”"
    for each in exchange.retries:
        yield f"asked again: {texts.line(each)}"
    for each in exchange.remarks:
        yield texts.line(each)


def _mark(mark: Mark, texts: Texts) -> dict[str, Any]:
    return {
        "name": texts.line(mark.name),
        "type": texts.line(mark.type, 80),
        "weight": number(mark.weight),
        "value": None if mark.value is None else number(mark.value),
        "sign": _sign(mark),
        "reason": texts.block(mark.reason),
        "failure": _failure(mark.failure, texts),
        "evidence": texts.content(dict(mark.evidence)) if mark.evidence else None,
        "usage": "" if mark.usage is None else used(mark.usage),
    }


def _sign(mark: Mark) -> str:
    """How a primitive came out: ``passed``, ``partly``, ``failed``, ``unscored`` or ``error``."""
    if mark.value is None:
        return "unscored" if mark.unscored else "error"
    return "passed" if mark.value >= 1 else "failed" if mark.value <= 0 else "partly"


def _failure(failure: Failure | None, texts: Texts) -> dict[str, Any] | None:
    if failure is None:
        return None
    return {"sentence": texts.block(failure.sentence), "charged": failure.charged_to}


__all__ = ["row", "transcript", "used"]
