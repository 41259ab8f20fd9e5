"""output_json: the agent's last message is JSON, and of the given shape or content where one is given.

The whole message has to be one JSON value; it may stand in one fenced block (```` ```json ````), with nothing but
white space around that. Words before or after it make it no JSON, and so do NaN, comments, a comma too many, or a key
that comes twice. ``schema`` is a JSON Schema (2020-12, or the draft that its ``$schema`` names) that it has to
satisfy. ``expected``, or what stands at ``groundTruth`` in the task's ground truth, is the value that it has to be,
compared by value and type; ``ignoreOrder``, ``tolerance`` and ``subset`` ease that. With none of them the message
only has to be JSON.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from rollout.language.canonical import dump
from rollout.language.compare import compare, show
from rollout.language.paths import MISSING, write
from rollout.language.user_schema import UserSchema, UserSchemaError, compile_schema
from rollout.verifiers import CannotJudgeError, Case, Judgement, failed, passed
from rollout.verifiers._expectation import expectation

_FENCE = re.compile(r"(`{3,}|~{3,})(?:json|JSON)?[ \t]*\n(?P<inside>.*)\n[ \t]*\1", re.DOTALL)


_DEEPEST = 100


class _NoJsonError(ValueError):
    """A text that is no JSON; its text is the end of a sentence."""


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the message is JSON as asked for, else 0 with what is wrong."""
    schema = _compiled(options["schema"]) if "schema" in options else None
    expected, _, _ = expectation(case, options)
    if not case.final_output.strip():
        return failed("There is no last message, where JSON was expected.")
    try:
        value = read_json(case.final_output)
    except _NoJsonError as error:
        return failed(f"The last message is no JSON: {error}.")
    if schema is not None and not schema.is_valid(value):
        faults = schema.faults(value)
        told = " ".join(f"{_name(fault.path)} {fault.words}." for fault in faults[:3])
        more = f" And {len(faults) - 3} more." if len(faults) > 3 else ""
        return failed(f"The last message does not satisfy the schema. {told}{more}")
    if expected is not MISSING:
        difference = compare(
            expected,
            value,
            ignore_order=options.get("ignoreOrder", False),
            tolerance=options.get("tolerance", 0),
            subset=options.get("subset", False),
        )
        if difference is not None:
            return failed(f"The last message is not the expected JSON. {difference.sentence()}")
        return passed("The last message is the expected JSON.")
    return passed("The last message is JSON" + (" that satisfies the schema." if schema is not None else "."))


def read_json(text: str) -> Any:
    """The JSON value that a message is. Raises _NoJsonError."""
    text = text.strip()
    if (fenced := _FENCE.fullmatch(text)) is not None:
        text = fenced["inside"]
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        at = f" (line {error.lineno}, column {error.colno})" if text.strip() else ""
        raise _NoJsonError(f"{error.msg}{at}") from None
    try:
        # orjson takes the last of two equal keys, and rounds whole numbers beyond 64 bits.
        value = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise _NoJsonError("it is nested too deeply") from None
    except _NoJsonError:
        raise
    except ValueError as error:
        raise _NoJsonError(str(error)) from None
    may_be_deep = text.count("[") + text.count("{") > _DEEPEST and isinstance(value, dict | list)
    if may_be_deep and _depth(value) > _DEEPEST:
        raise _NoJsonError("it is nested too deeply")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _NoJsonError(f"the key {show(counts.most_common(1)[0][0])} comes twice in one object")
    return found


def _depth(value: Any) -> int:
    deepest, pending = 0, [(value, 1)]
    while pending:
        inside, depth = pending.pop()
        deepest = max(deepest, depth)
        members = inside.values() if isinstance(inside, dict) else inside
        pending.extend((each, depth + 1) for each in members if isinstance(each, dict | list))
    return deepest


def _name(path: tuple[str | int, ...]) -> str:
    return f"“{write(path)}”" if path else "It"


def _compiled(schema: Any) -> UserSchema:
    try:
        return _compile(dump(schema))
    except UserSchemaError as error:
        raise CannotJudgeError(f"“schema” is no JSON Schema that can be used: {error.sentence}.") from None
    except ValueError as error:
        raise CannotJudgeError(f"“schema” is no JSON: {error}.") from None


@lru_cache(maxsize=64)
def _compile(schema: bytes) -> UserSchema:
    return compile_schema(json.loads(schema))


__all__ = ["judge"]
