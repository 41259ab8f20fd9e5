"""Grades a trace by an environment's verifier: every primitive is asked, and nothing unknown passes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from inspect import isawaitable
from types import ModuleType
from typing import Any

from rollout.engine import Failure, Mark, Outcome, Trace, Verdict
from rollout.environment import Environment, Task
from rollout.family import member
from rollout.source.contract import schema, templates
from rollout.verifiers import CannotJudgeError, Case, Judgement

FAMILY = "rollout.verifiers"

_DEFAULT: Mapping[str, Any] = {"primitives": [{"name": "ground_truth_match", "type": "ground_truth_match"}]}

# A score such as (0.3 + 0.4) / 1.0 must reach a threshold of 0.7.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class _Primitive:
    name: str
    type: str
    weight: float
    inverted: bool
    options: Mapping[str, Any]
    module: ModuleType | None
    fault: str | None


class VerifierGrader:
    """The grader of a declared environment. An environment without a verifier is judged by its template's own.

    A verifier that cannot judge is no exception here: every verdict it gives is an error, charged to it.
    """

    def __init__(self, environment: Environment) -> None:
        given = environment.verifier
        verifier = given if given is not None else _default_verifier(environment.template)
        primitives = verifier.get("primitives")
        threshold = verifier.get("passThreshold", 1.0)
        self.config: Mapping[str, Any] = environment.config or {}
        self.database = environment.database
        self.fault: str | None = None
        self.primitives: list[_Primitive] = []
        self.threshold = 1.0
        if not isinstance(primitives, list) or not primitives:
            self.fault = "The verifier has no primitives."
            return
        if not _is_number(threshold) or not 0 < threshold <= 1:
            self.fault = "The verifier's passThreshold is no number above 0 and up to 1."
            return
        self.threshold = float(threshold)
        self.primitives = [_read_primitive(number, written) for number, written in enumerate(primitives)]
        if not any(primitive.weight > 0 for primitive in self.primitives):
            self.fault = "No primitive of the verifier has a weight above 0, so nothing counts."

    async def grade(self, task: Task, trace: Trace) -> Verdict:
        """The verdict on one trace; an error as soon as one primitive cannot judge, whatever its weight."""
        if self.fault is not None:
            return Verdict(
                Outcome.ERROR, None, threshold=self.threshold, failure=Failure(self.fault, "verifier")
            )
        case = Case(
            task,
            trace.template,
            trace.initial_state,
            trace.final_state,
            trace.final_output,
            trace.calls,
            self.config,
            self.database,
        )
        marks = tuple([await _mark(primitive, case) for primitive in self.primitives])
        failure = next((mark.failure for mark in marks if mark.failure is not None), None)
        if failure is not None:
            return Verdict(Outcome.ERROR, None, marks, self.threshold, failure)
        total = math.fsum(mark.weight for mark in marks)
        score = math.fsum(mark.weight * (mark.value or 0.0) for mark in marks) / total
        outcome = Outcome.PASSED if score + _ROUNDING >= self.threshold else Outcome.FAILED
        return Verdict(outcome, score, marks, self.threshold)


async def _mark(primitive: _Primitive, case: Case) -> Mark:
    def failed(sentence: str, charged_to: Any = "verifier") -> Mark:
        return Mark(
            primitive.name, primitive.type, primitive.weight, None, sentence, Failure(sentence, charged_to)
        )

    if primitive.module is None or primitive.fault is not None:
        return failed(primitive.fault or f"The primitive “{primitive.type}” cannot judge here.")
    try:
        judgement = primitive.module.judge(case, primitive.options)
        if isawaitable(judgement):
            judgement = await judgement
        if not isinstance(judgement, Judgement):
            raise TypeError(f"it gave {judgement!r}")
    except CannotJudgeError as error:
        return failed(str(error), error.charged_to)
    except Exception as error:
        return failed(f"“{primitive.type}” broke down: {type(error).__name__}: {error}")
    value, reason = float(judgement.value), judgement.reason
    if primitive.inverted:
        value, reason = 1.0 - value, f"Turned around by “not”: {reason}"
    return Mark(primitive.name, primitive.type, primitive.weight, value, reason, evidence=judgement.evidence)


def _read_primitive(number: int, written: Any) -> _Primitive:
    if not isinstance(written, dict):
        return _Primitive(f"primitive {number + 1}", "?", 1.0, False, {}, None, "The primitive is no object.")
    kind, name, weight = written.get("type"), written.get("name"), written.get("weight", 1)
    inverted = written.get("not", False)
    module: ModuleType | None = None
    fault: str | None = None
    if not isinstance(kind, str):
        fault = "The primitive has no type."
    elif (module := member(FAMILY, kind)) is None:
        known = kind in schema("verifier")["$defs"]["primitive"]["properties"]["type"]["enum"]
        fault = (
            f"The primitive “{kind}” cannot judge here yet." if known else f"There is no primitive “{kind}”."
        )
    elif not _is_number(weight) or not math.isfinite(weight) or weight < 0:
        fault, weight = "The weight is no number of 0 or more.", 1
    elif not isinstance(inverted, bool):
        fault = "“not” is neither true nor false."
    else:
        fault = _contract_fault(kind, written)
    return _Primitive(
        name=str(name or kind or f"primitive {number + 1}"),
        type=str(kind),
        weight=float(weight) if _is_number(weight) else 1.0,
        inverted=inverted is True,
        options=written,
        module=module,
        fault=fault,
    )


def _default_verifier(template: str) -> Mapping[str, Any]:
    told: Mapping[str, Any] = schema(template) if template in templates() else {}
    default: Mapping[str, Any] = told.get("x-default-verifier", _DEFAULT)
    return default


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _contract_fault(kind: str, written: dict[str, Any]) -> str | None:
    validator = _contract(kind)
    if validator is None or validator.is_valid(written):
        return None
    error = next(iter(validator.iter_errors(written)))
    return f"The options of “{kind}” are not right: {error.message}."


@cache
def _contract(kind: str) -> Any:
    import jsonschema_rs

    definitions = schema("verifier")["$defs"]
    if kind not in definitions:
        return None
    return jsonschema_rs.validator_for({"$defs": definitions, "$ref": f"#/$defs/{kind}"}, offline=True)


__all__ = ["VerifierGrader"]
