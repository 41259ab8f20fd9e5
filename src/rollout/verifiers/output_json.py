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
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rollout.language.canonical import dump
from rollout.language.compare import compare, lacking
from rollout.language.paths import MISSING, write
from rollout.language.user_schema import UserSchema, UserSchemaError, compile_schema
from rollout.verifiers import CannotJudgeError, Case, Judgement, absent, failed, passed
from rollout.verifiers._expectation import expectation
from rollout.verifiers._json_message import NoJsonError, read_json

_FENCE = re.compile(r"(`{3,}|~{3,})(?:json|JSON)?[ \t]*\n(?P<inside>.*)\n[ \t]*\1", re.DOTALL)


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the message is JSON as asked for, else 0 with what is wrong."""
    schema = _compiled(options["schema"]) if "schema" in options else None
    expected, _, _ = expectation(case, options)
    if not case.final_output.strip():
        return absent("There is no last message, where JSON was expected.")
    try:
        value = read_json(_unfenced(case.final_output))
    except NoJsonError as error:
        return absent(f"The last message is no JSON: {error}.")
    if schema is not None and not schema.is_valid(value):
        faults = schema.faults(value)
        told = " ".join(f"{_name(fault.path)} {fault.words}." for fault in faults[:3])
        more = f" And {len(faults) - 3} more." if len(faults) > 3 else ""
        return failed(f"The last message does not satisfy the schema. {told}{more}")
    if expected is not MISSING:
        ignore_order = options.get("ignoreOrder", False)
        if (lack := lacking(expected, value, ignore_order=ignore_order)) is not None:
            return absent(f"The last message is not the expected JSON. {lack.sentence()}")
        difference = compare(
            expected,
            value,
            ignore_order=ignore_order,
            tolerance=options.get("tolerance", 0),
            subset=options.get("subset", False),
        )
        if difference is not None:
            return failed(f"The last message is not the expected JSON. {difference.sentence()}")
        return passed("The last message is the expected JSON.")
    return passed("The last message is JSON" + (" that satisfies the schema." if schema is not None else "."))


def _unfenced(message: str) -> str:
    """What stands in the one fenced block that a message is, else the message."""
    fenced = _FENCE.fullmatch(message.strip())
    return message.strip() if fenced is None else fenced["inside"]


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
