"""Reads an answer: the number, the text or the verdict that it says, or the list or the rows that it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from rollout.database.rows import Row
from rollout.language.edges import composed
from rollout.verifiers._number_phrases import number_said, numbers_besides
from rollout.verifiers._passages import find_passage, json_said
from rollout.verifiers._phrase_tokens import Unread
from rollout.verifiers._text_phrases import bare, is_text, says_text, subject_and_predicate
from rollout.verifiers._verdict_phrases import verdict_said
from rollout.verifiers._wording import Question, words_of

_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_PERCENT = re.compile(r"\d\s*(?:%|per\s?cent\b)", re.IGNORECASE)
_CALLS_IT_ANSWER = re.compile(r"\b(?:answer|result)\s+(?:is|are)\b", re.IGNORECASE)


class Said(NamedTuple):
    """What an answer was read as, and from which place."""

    value: Any
    place: str


def said_number(text: str, question: Question, *, roughly: bool = False) -> Said | Unread:
    """The number that a text gives as its answer; ``roughly`` lets it be “about 15”."""
    passage = find_passage(text, question)
    if isinstance(passage, Unread):
        return passage
    number = number_said(passage.text, question, roughly=roughly)
    if isinstance(number, Unread):
        return number._replace(phrase=passage.text)
    has_words = len(words_of(passage.text)) > 2
    if passage.kind == "sentence" or (passage.kind == "line" and has_words):
        others = numbers_besides(number, passage.message, passage.text, question)
        if others and not _CALLS_IT_ANSWER.search(passage.text):
            listed = ", ".join(map(str, others[:5]))
            return Unread(
                f"other numbers are said, too ({listed}), and none is called the answer", passage.text
            )
    is_share = _PERCENT.search(passage.text) is not None and not question.in_percent
    return Said(
        number, f"{passage.place}, as the task does not ask for percent" if is_share else passage.place
    )


def said_text(expected: str, text: str, question: Question, *, fold: bool = False) -> Said | Unread:
    """The text that an answer gives: the expected one where it gives that, else what was read in its place."""
    wanted, given = composed(expected), composed(text)
    if fold:
        wanted, given = wanted.casefold(), given.casefold()
    if is_text(wanted, given):
        return Said(expected, "the whole message")
    passage = find_passage(given, question)
    if isinstance(passage, Unread):
        return passage
    if passage.kind != "sentence" and is_text(wanted, passage.text):
        return Said(expected, passage.place)
    if passage.kind != "value" and says_text(wanted, passage.text, question):
        return Said(expected, passage.place)
    subject, predicate = (
        ("", bare(passage.text)) if passage.kind == "value" else subject_and_predicate(passage.text)
    )
    if is_text(wanted, predicate):
        odd = question.odd_word(words_of(subject)) or subject.strip()
        why = f"“{odd}” says more than an answer" if odd else "it follows other words in its line"
        return Unread(why, passage.text)
    return Said(predicate, passage.place)


def said_verdict(text: str, question: Question) -> Said | Unread:
    """The yes or no that a text gives: what it opens with, or what it says at its end."""
    passage = find_passage(text, question)
    if isinstance(passage, Unread):
        return passage
    opening = verdict_said(passage.message, question)
    if passage.kind != "value" and not isinstance(opening, Unread):
        return Said(opening, "the whole message")
    verdict = verdict_said(passage.text, question)
    if isinstance(verdict, Unread):
        return verdict._replace(phrase=passage.text)
    return Said(verdict, passage.place)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as rows: each way in which it can be read as rows, with the names of the columns where it has them.

    ``text`` is the answer as it was given.
    """

    text: str
    readings: tuple[tuple[Row, ...], ...]
    columns: tuple[str, ...] | None = None


def read_answer(text: str, question: Question) -> Answer:
    """Reads an answer as rows. A text that is no JSON has no readings.

    ``[[1, "a"], …]`` and ``{"columns": […], "rows": [[…], …]}`` are rows; so are ``[{"n": 1, "name": "a"}, …]``, by
    position. ``[1, 2]`` is a column or a row, a single value one row.
    """
    try:
        value = json_said(text, question)
    except ValueError:
        return Answer(text, ())
    columns: tuple[str, ...] | None = None
    if isinstance(value, dict) and isinstance(value.get("rows"), list):
        named = value.get("columns")
        columns = tuple(map(str, named)) if isinstance(named, list) else None
        value = value["rows"]
    elif isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return Answer(text, (((value,),),))
    if not value:
        return Answer(text, ((),), columns)
    if all(isinstance(row, list) for row in value):
        return Answer(text, (tuple(tuple(row) for row in value),), columns)
    if all(isinstance(row, dict) for row in value):
        names = tuple(value[0])
        if all(tuple(row) == names for row in value):
            return Answer(text, (tuple(tuple(row.values()) for row in value),), names)
        if all(row.keys() == value[0].keys() for row in value):
            return Answer(text, (tuple(tuple(row[name] for name in names) for row in value),), names)
        return Answer(text, ())
    if any(isinstance(cell, list | dict) for cell in value):
        return Answer(text, ())
    return Answer(text, (tuple((cell,) for cell in value), (tuple(value),)))


def lists_in(text: str, question: Question) -> list[list[str]]:
    """Each way in which a text is a list: its lines, or what its sentence names with commas and “and”."""
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    if (
        len(lines) > 1
        and lines[0].rstrip("*_ ").endswith(":")
        and question.odd_word(words_of(lines[0])) is None
    ):
        lines = lines[1:]
        if len(lines) == 1:
            return [*_split(_ITEM.sub("", lines[0]))]
        return [[bare(_ITEM.sub("", line)) for line in lines]]
    if len(lines) > 1 and all(_ITEM.match(line) for line in lines):
        return [[bare(_ITEM.sub("", line)) for line in lines]]
    passage = find_passage(text, question)
    if isinstance(passage, Unread):
        return []
    if passage.kind == "value":
        return _split(passage.text)
    if len(lines) > 1 and passage.kind == "sentence":
        return [[bare(line) for line in lines]]
    subject, predicate = subject_and_predicate(passage.text)
    if subject and question.odd_word(words_of(subject)) is None:
        return _split(predicate)
    return _split(passage.text)


def _split(text: str) -> list[list[str]]:
    commas = [bare(part) for part in text.split(",")]
    words = [bare(part) for part in re.split(r",\s*and\s+|,|\s+and\s+", text)]
    return [commas] if words == commas else [commas, words]


__all__ = [
    "Answer",
    "Said",
    "lists_in",
    "read_answer",
    "said_number",
    "said_text",
    "said_verdict",
]
