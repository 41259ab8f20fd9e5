"""Grades a trace by an environment's verifier: every primitive is asked, and nothing unknown passes."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from inspect import isawaitable
from threading import Thread
from types import ModuleType
from typing import Any

from rollout.engine import Failure, Mark, Outcome, Trace, Verdict
from rollout.environment import Environment, Task
from rollout.family import member
from rollout.language.score import as_float, exact, mean, reaches
from rollout.models import AnyModel, Setup, connect
from rollout.source.contract import schema, templates
from rollout.verifiers import CannotJudgeError, Case, Judgement, UnscoredError

FAMILY = "rollout.verifiers"

SECONDS = 300.0
"""How long a primitive may take to judge one rollout, unless it keeps a limit of its own (``LIMITS_ITSELF``)."""

_DEFAULT: Mapping[str, Any] = {"primitives": [{"name": "ground_truth_match", "type": "ground_truth_match"}]}


@dataclass(frozen=True, slots=True)
class _Primitive:
    name: str
    type: str
    exact_weight: Fraction
    inverted: bool
    options: Mapping[str, Any]
    module: ModuleType | None
    fault: str | None

    @property
    def weight(self) -> float:
        """The weight as a mark shows it."""
        largest = sys.float_info.max
        return largest if self.exact_weight >= largest else float(self.exact_weight)


class VerifierGrader:
    """The grader of a declared environment. An environment without a verifier is judged by its template's own.

    A verifier that cannot judge is no exception here: every verdict it gives is an error, charged to it. With ``setup``
    models may be asked to judge; they are connected when they are first needed, and :meth:`close` gives them back.
    Without, what only a model can judge stays unscored. ``seconds`` is how long a primitive may take.
    """

    def __init__(
        self, environment: Environment, *, setup: Setup | None = None, seconds: float = SECONDS
    ) -> None:
        given = environment.verifier
        verifier = given if given is not None else _default_verifier(environment.template)
        primitives = verifier.get("primitives")
        threshold = verifier.get("passThreshold", 1.0)
        self.config: Mapping[str, Any] = environment.config or {}
        self.database = environment.database
        self.folder = environment.folder
        self.seconds = seconds
        self._setup = setup
        self._judges: dict[str, AnyModel] = {}
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
        if not any(primitive.exact_weight > 0 for primitive in self.primitives):
            self.fault = "No primitive of the verifier has a weight above 0, so nothing counts."

    async def grade(self, task: Task, trace: Trace) -> Verdict:
        """The verdict on one trace; an error as soon as one primitive cannot judge, whatever its weight.

        Without an error it is unscored as soon as one primitive got no verdict from its judge.
        """
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
            self.folder,
            trace.messages,
            self._connect if self._setup is not None else None,
        )
        marks = tuple([await _mark(primitive, case, self.seconds) for primitive in self.primitives])
        failed = [mark for mark in marks if mark.failure is not None]
        if failed:
            broken = next((mark for mark in failed if not mark.unscored), None)
            outcome = Outcome.UNSCORED if broken is None else Outcome.ERROR
            return Verdict(outcome, None, marks, self.threshold, (broken or failed[0]).failure)
        weighed = [
            (each.exact_weight, mark.value or 0.0) for each, mark in zip(self.primitives, marks, strict=True)
        ]
        score = mean(weighed)
        outcome = Outcome.PASSED if reaches(score, self.threshold) else Outcome.FAILED
        return Verdict(outcome, as_float(score), marks, self.threshold)

    def _connect(self, model_id: str) -> AnyModel:
        if model_id not in self._judges:
            self._judges[model_id] = connect(model_id, self._setup)
        return self._judges[model_id]

    async def close(self) -> None:
        """Gives back the connections to models that judged; call it in the event loop that used them."""
        judges, self._judges = list(self._judges.values()), {}
        for judge in judges:
            await judge.close()


async def _mark(primitive: _Primitive, case: Case, seconds: float) -> Mark:
    def failed(sentence: str, cause: CannotJudgeError | None = None) -> Mark:
        failure = Failure(sentence, "verifier" if cause is None else cause.charged_to)
        mark = Mark(primitive.name, primitive.type, primitive.weight, None, sentence, failure)
        if cause is None:
            return mark
        unscored = isinstance(cause, UnscoredError)
        return replace(mark, evidence=cause.evidence, unscored=unscored, usage=cause.usage)

    if primitive.module is None or primitive.fault is not None:
        return failed(primitive.fault or f"The primitive “{primitive.type}” cannot judge here.")
    try:
        judgement = await _judged(primitive.module, case, primitive.options, seconds)
        if not isinstance(judgement, Judgement):
            raise TypeError(f"it gave {judgement!r}")
    except CannotJudgeError as error:
        return failed(str(error), error)
    except _LateError:
        return failed(f"“{primitive.type}” took longer than {seconds:g} seconds to judge.")
    except Exception as error:
        return failed(f"“{primitive.type}” broke down: {type(error).__name__}: {error}")
    value, reason = float(judgement.value), judgement.reason
    if primitive.inverted and judgement.absent:
        value, reason = 0.0, f"“not” makes no pass of what is not there: {reason}"
    elif primitive.inverted:
        value, reason = 1.0 - value, f"Turned around by “not”: {reason}"
    return Mark(
        primitive.name,
        primitive.type,
        primitive.weight,
        value,
        reason,
        evidence=judgement.evidence,
        usage=judgement.usage,
    )


class _LateError(Exception):
    """The time for a judgement is over."""


async def _judged(module: ModuleType, case: Case, options: Mapping[str, Any], seconds: float) -> Any:
    if _is_brought(module):
        # A plain function of somebody else's may take its time, and must not hold up all other rollouts.
        judgement: Any = await _in_time(_in_thread(lambda: module.judge(case, options)), seconds)
    else:
        judgement = module.judge(case, options)
    if not isawaitable(judgement):
        return judgement
    if getattr(module, "LIMITS_ITSELF", False) is True:
        return await judgement
    return await _in_time(judgement, seconds)


async def _in_time(work: Awaitable[Any], seconds: float) -> Any:
    late = asyncio.timeout(seconds)
    try:
        async with late:
            return await work
    except TimeoutError:
        # It may be one of the primitive's own.
        if late.expired():
            raise _LateError from None
        raise


async def _in_thread(work: Callable[[], Any]) -> Any:
    """What ``work`` gives, from a thread that is left behind when nobody waits any more."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(value)

    def run() -> None:
        value: Any = None
        failure: Exception | None = None
        try:
            value = work()
        except Exception as error:
            # A future takes no StopIteration.
            failure = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
        except BaseException as error:
            failure = RuntimeError(f"it ended with {type(error).__name__}")
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, value, failure)

    Thread(target=run, name="rollout-verifier", daemon=True).start()
    return await done


def _is_brought(module: ModuleType) -> bool:
    return module.__name__.rpartition(".")[0] != FAMILY


def _read_primitive(number: int, written: Any) -> _Primitive:
    if not isinstance(written, dict):
        return _Primitive(
            f"primitive {number + 1}", "?", Fraction(1), False, {}, None, "The primitive is no object."
        )
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
    elif not _is_number(weight) or (isinstance(weight, float) and not math.isfinite(weight)) or weight < 0:
        fault, weight = "The weight is no number of 0 or more.", 1
    elif not isinstance(inverted, bool):
        fault = "“not” is neither true nor false."
    else:
        fault = _contract_fault(kind, written)
    return _Primitive(
        name=str(name or kind or f"primitive {number + 1}"),
        type=str(kind),
        exact_weight=exact(weight) if fault is None else Fraction(1),
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


__all__ = ["SECONDS", "VerifierGrader"]
