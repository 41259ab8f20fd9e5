"""answer_match: the submitted answer, or the last message where nothing was submitted, is the expected one.

What is expected is ``expected``, what stands at ``groundTruth`` in the task's ground truth, or else its ``answer``.
What is said is read like this; what cannot be read is no answer, and the reason says why.

1. The answer is the last thing said: `{"answer": …}`, `\\boxed{…}`, what follows “Answer:” or “####”, a last line that
   is nothing else, or else the last sentence. “Let me know if you need anything else!” is not counted. JSON may stand
   in one fenced block that nothing before or after it takes back; an object that has a key twice is none.
2. Different answers that are each marked, or called the answer, are none; nor is a question, nor what follows “I do
   not know” without a mark.
3. Around it may stand markdown, quotes, brackets and a full stop; around a number its sign, currency or unit. 1,234 is
   1234, “2 million” 2000000, and “15%” 15 where the task asks for percent, else 0.15.
4. In a sentence, every other word has to be one of the task, or one of the few that carry an answer (“the”, “there
   are”, “is”, “total”, …) or name what is counted. So “about 42”, “not 42” and “42 or 43” are none.
5. Numbers that the task names are context; one other has to remain, in all of the message unless the answer is marked
   or has a line of its own. A text is all that stands on one side of “is”.
6. Yes and no are read as true and false. A list is JSON, lines, or words with commas and “and”; an object is JSON.

``tolerance``, ``caseSensitive`` and ``ignoreOrder`` ease the comparison; with a tolerance, “about 42” is 42.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.database.rows import equal
from rollout.language.compare import compare, lacking, show
from rollout.language.paths import MISSING, PathError, get, parse
from rollout.verifiers import CannotJudgeError, Case, Judgement, absent, failed, passed
from rollout.verifiers._answers import (
    Said,
    lists_in,
    read_answer,
    said_number,
    said_text,
    said_verdict,
)
from rollout.verifiers._number_phrases import number_said
from rollout.verifiers._passages import given_value, json_said
from rollout.verifiers._phrase_tokens import Unread
from rollout.verifiers._wording import Question, question_of, words_of


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the answer is the expected one, else 0 with what it was read as."""
    expected = _expected(case, options)
    if not case.final_output.strip():
        return absent(f"There is no answer; {show(expected)} was expected.")
    question = question_of(case.task.instruction, case.task.input)
    tolerance = options.get("tolerance", 0)
    if isinstance(expected, list | dict):
        return _structure(expected, case.final_output, question, options)
    answer: Any = _alone(case.final_output, question)
    if isinstance(answer, str):
        fold = not options.get("caseSensitive", True)
        if isinstance(expected, bool):
            return _judged(said_verdict(answer, question), expected, 0)
        if isinstance(expected, str):
            return _judged(said_text(expected, answer, question, fold=fold), expected, 0, fold=fold)
        return _judged(said_number(answer, question, roughly=tolerance > 0), expected, tolerance)
    return _judged(Said(answer, "what was given"), expected, tolerance)


def _judged(said: Said | Unread, expected: Any, tolerance: float, *, fold: bool = False) -> Judgement:
    if isinstance(said, Unread):
        return absent(f"{said.sentence()}; {show(expected)} was expected.")
    reading = f"The answer was read as {show(said.value)}, from {said.place}"
    if equal(_folded(expected, fold), _folded(said.value, fold), tolerance):
        return passed(f"{reading}.")
    return failed(f"{reading}; {show(expected)} was expected.")


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


def _alone(answer: str, question: Question) -> Any:
    """The answer without what it was handed over in: the value of ``{"answer": …}``, or of rows of one cell."""
    try:
        return given_value(answer, question)
    except KeyError:
        pass
    read = read_answer(answer, question)
    if answer.strip()[:1] in ("{", "[") and read.readings and [len(row) for row in read.readings[0]] == [1]:
        # A column that the task does not name, as in {"guess": 42}, is another.
        is_named = '"rows"' not in answer and read.columns is not None
        if not is_named or question.odd_word(words_of(" ".join(read.columns or ()))) is None:
            return read.readings[0][0][0]
    return answer


def _structure(expected: Any, answer: str, question: Question, options: Mapping[str, Any]) -> Judgement:
    ignore_order, tolerance = options.get("ignoreOrder", False), options.get("tolerance", 0)
    fold = not options.get("caseSensitive", True)
    judgements = []
    for found in _structures(expected, answer, question):
        wanted, said = _folded(expected, fold), _folded(found, fold)
        difference = compare(wanted, said, ignore_order=ignore_order, tolerance=tolerance)
        if difference is None:
            return passed(f"The answer was read as {show(found)}.")
        lack = lacking(wanted, said, ignore_order=ignore_order)
        sentence = f"The answer was read as {show(found)}. {(lack or difference).sentence()}"
        judgements.append(failed(sentence) if lack is None else absent(sentence))
    return judgements[0] if judgements else absent(f"The answer is no JSON: {show(answer)}.")


def _structures(expected: Any, answer: str, question: Question) -> list[Any]:
    """Each way in which an answer can be read as a list or an object, the likeliest first."""
    try:
        return [given_value(answer, question)]
    except KeyError:
        try:
            found = json_said(answer, question)
        except ValueError:
            if not isinstance(expected, list) or any(isinstance(each, list | dict) for each in expected):
                return []
            return [
                [_item(each, expected, question) for each in items] for items in lists_in(answer, question)
            ]
    if isinstance(expected, list):
        readings = read_answer(answer, question).readings
        if readings and readings[0] and all(len(row) == 1 for row in readings[0]):
            return [[row[0] for row in readings[0]]]
    return [found]


def _item(text: str, expected: list[Any], question: Question) -> Any:
    """An item of a written list: the number that it says where numbers are expected."""
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in expected):
        number = number_said(text, question)
        return text if isinstance(number, Unread) else number
    return text


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
