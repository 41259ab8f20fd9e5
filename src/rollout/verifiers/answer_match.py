"""answer_match: the submitted answer, or the last message where nothing was submitted, is the expected one.

What is expected is ``expected``, what stands at ``groundTruth`` in the task's ground truth, or else its ``answer``. A
number is compared as a number: “The answer is (42).” is 42 and 42.0, 711 is not 11, and a text that says several
numbers, none of which it calls the answer, says none, and so does “not 42” or “42 million”. A text has to be the whole
answer; a last message may also end with “The answer is …” or “… is …”, and then nothing but the text. A list or an
object has to be given as JSON; a list of plain values may be written as lines or with commas. ``tolerance``,
``caseSensitive`` and ``ignoreOrder`` ease the comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.database.rows import equal
from rollout.language.compare import compare, show
from rollout.language.paths import MISSING, PathError, get, parse
from rollout.verifiers import CannotJudgeError, Case, Judgement, failed, passed
from rollout.verifiers._answers import (
    json_in,
    listed,
    number_in,
    numbers_in,
    read_answer,
    same_text,
    says_text,
    trimmed,
    verdict_in,
)

_YES = {"true", "yes"}
_NO = {"false", "no"}


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the answer is the expected one, else 0 with what it says instead."""
    expected = _expected(case, options)
    answer = case.final_output
    if not answer.strip():
        return failed(f"There is no answer; {show(expected)} was expected.")
    if isinstance(expected, bool):
        return _boolean(expected, answer)
    if isinstance(expected, int | float):
        return _number(expected, _alone(answer), options.get("tolerance", 0))
    if isinstance(expected, str):
        return _text(expected, _alone(answer), _was_submitted(case), options.get("caseSensitive", True))
    return _structure(expected, answer, options)


def _expected(case: Case, options: Mapping[str, Any]) -> Any:
    if "expected" in options:
        expected = options["expected"]
        home = "“expected”"
    else:
        path = options.get("groundTruth", "answer")
        try:
            expected = get(case.ground_truth, parse(path).steps)
        except PathError as error:
            raise CannotJudgeError(f"“{path}” is no path. {error}") from None
        home = f"“{path}” in the task's ground truth"
        if expected is MISSING:
            raise CannotJudgeError(f"There is no {home}.", charged_to="environment")
    if expected is None or (isinstance(expected, str) and not expected.strip()):
        charged_to: Any = "verifier" if "expected" in options else "environment"
        raise CannotJudgeError(
            f"{home} is empty, so no answer could be the expected one.", charged_to=charged_to
        )
    return expected


def _was_submitted(case: Case) -> bool:
    return any(call.tool == "submit_answer" and call.ran and call.error is None for call in case.calls)


def _alone(answer: str) -> str:
    """The answer of one cell as a text; a query that was submitted comes as rows."""
    readings = read_answer(answer).readings
    if readings and len(readings[0]) == 1 and len(readings[0][0]) == 1:
        value = readings[0][0][0]
        if isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return repr(value)
    return answer


def _boolean(expected: bool, answer: str) -> Judgement:
    words = set(trimmed(answer.casefold()).replace(",", " ").replace(".", " ").split())
    denied = any(word in ("not", "never") or word.endswith(("n't", "n\u2019t")) for word in words)
    says = (bool(words & _YES), bool(words & _NO) or denied)
    if says == (expected, not expected) and verdict_in(answer) is expected:
        return passed(f"The answer is {show(expected)}.")
    return failed(f"The answer is {show(answer)}; {show(expected)} was expected.")


def _number(expected: int | float, answer: str, tolerance: float) -> Judgement:
    found = number_in(answer)
    if found is None:
        several = numbers_in(answer)
        if len(several) > 1:
            said = ", ".join(show(each) for each in several[:6]) + (", …" if len(several) > 6 else "")
            return failed(f"The answer says several numbers ({said}) and calls none the answer.")
        if several:
            return failed(f"The answer does not just say {show(several[0])}: {show(answer)}.")
        return failed(f"The answer says no number: {show(answer)}. {show(expected)} was expected.")
    if equal(expected, found, tolerance):
        return passed(f"The answer is {show(found)}.")
    return failed(f"The answer is {show(found)}; {show(expected)} was expected.")


def _text(expected: str, answer: str, submitted: bool, case_sensitive: bool) -> Judgement:
    if same_text(expected, answer, case_sensitive=case_sensitive):
        return passed(f"The answer is {show(expected)}.")
    if not submitted and says_text(expected, answer, case_sensitive=case_sensitive):
        return passed(f"The last message says {show(expected)}.")
    return failed(f"The answer is {show(answer)}; {show(expected)} was expected.")


def _structure(expected: Any, answer: str, options: Mapping[str, Any]) -> Judgement:
    terms = {"ignore_order": options.get("ignoreOrder", False), "tolerance": options.get("tolerance", 0)}
    fold = not options.get("caseSensitive", True)
    try:
        found = json_in(answer)
    except ValueError:
        if not isinstance(expected, list) or any(isinstance(each, list | dict) for each in expected):
            return failed(f"The answer is no JSON: {show(answer)}.")
        found = [_as(each, expected) for each in listed(answer) or ()]
    if isinstance(expected, list):
        readings = read_answer(answer).readings
        if readings and readings[0] and all(len(row) == 1 for row in readings[0]):
            found = [row[0] for row in readings[0]]
    difference = compare(_folded(expected, fold), _folded(found, fold), **terms)
    if difference is None:
        return passed(f"The answer is {show(expected)}.")
    return failed(f"The answer differs. {difference.sentence()}")


def _as(text: str, expected: list[Any]) -> Any:
    """An item of a written list: the number that it says where numbers are expected."""
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in expected):
        number = number_in(text)
        return text if number is None else number
    return trimmed(text)


def _folded(value: Any, fold: bool) -> Any:
    if not fold:
        return value
    if isinstance(value, str):
        return value.casefold()
    if isinstance(value, list):
        return [_folded(each, fold) for each in value]
    if isinstance(value, dict):
        return {key: _folded(each, fold) for key, each in value.items()}
    return value


__all__ = ["judge"]
