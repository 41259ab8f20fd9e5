"""Reads an answer: the number or the text that it says, or the rows that it is.

A number is found at its edges: ``(42).`` is 42, ``1,234.50`` is 1234.5, but neither ``42abc`` nor ``O-42`` is a number,
and 711 is not 11. Where a text says several numbers, the one that is called the answer counts, or nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rollout.database.rows import Row
from rollout.language.edges import composed
from rollout.language.exact_json import load

_NUMBER = re.compile(
    r"""(?<![\w.])(?<![\w][-–])(?<!\d,)      # not inside a word, an identifier such as O-10, or another number
        [-−+]?(?:\d{1,3}(?:,\d{3})+(?![\d])|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?
        (?![\w])(?!-\d)(?![.,]\d)""",
    re.VERBOSE | re.ASCII,
)
_SAID = re.compile(
    r"""(?:\b(?:final\s+answer|answer|result|total)\b\s*(?:is|are|:|=)+\s*|\#{4}\s*|\\boxed\{)[:=\s*_$€£(\[]*""",
    re.IGNORECASE | re.VERBOSE,
)
_LEAD = re.compile(
    r"^(?:(?:so|thus|hence|therefore|and)?,?\s*the\s+|my\s+)?(?:final\s+)?(?:answer|result)\s*(?:is|:|=)+\s*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?](?=\s|$)|\n")
_CLAUSE = re.compile(r"[,;]\s+(?!(?:or|and|to)\b|[-−+$€£]?\d)|\s*\(|\s[-–—]\s(?!\d)")
_DENIED = re.compile(r"(?:\bnot|n['’]t|\bnever|\bneither|\bnor)\s+(?:be\s+)?$", re.IGNORECASE)
_OTHERWISE = re.compile(
    r"""\b(?:or|to|nor|thousand|million|billion|trillion|hundred|dozen|squared|cubed|half|quarter)s?\b
        |^\s*(?:(?:(?-i:[kKM])|mn|bn|mln|bln|lakh|crore|percent|per\s+cent)\b|[%‰])""",
    re.IGNORECASE | re.VERBOSE,
)
_SHIFTED = re.compile(
    r"""(?:[<>≤≥≠!√^/]=?|\b(?:minus|negative|than|over|under|below|above|least|most|step|page|line|row|section
        |option|item|version|figure|chapter))[\s*_`(\[]*$""",
    re.IGNORECASE | re.VERBOSE,
)
_UNSURE_WORDS = (
    r"or|either|maybe|perhaps|possibly|probably|might|may|could|would|unsure|unclear|unknown|undecided|unlikely"
    r"|hardly|doubt\w*|if|unless|whether|cannot|guess|impossible"
)
_UNSURE = re.compile(rf"\b(?:{_UNSURE_WORDS})\b|\?\W*$", re.IGNORECASE)
_HEDGED = re.compile(
    rf"""\b(?:{_UNSURE_WORDS}|not|no|nor|neither|never|nothing|instead|rather|wrong|incorrect|false|isn|aren|wasn|don
    |doesn|but|except|without|reject\w*|exclud\w*|opposite|option|candidate|example|another)\b|n['’]t\b""",
    re.IGNORECASE | re.VERBOSE,
)
_CALLED = re.compile(
    r"(?:\b(?:answer|result)\b[*_]*\s*(?:(?:is|are)\b\s*:?|[:=])|\#{4}|\\boxed(?=\{))", re.IGNORECASE
)
_IS = re.compile(r"(?:\b(?:is|are|was|were)|\w['’]s)(?:\s+(?:the|an?|called|named))?\s*:?$", re.IGNORECASE)
_VERDICT = re.compile(r"(yes|no|true|false)\b(?=\s*(?:[.,;:!\n]|[-–—]\s|$))", re.IGNORECASE)
_FENCE = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*?)```", re.DOTALL)
_BOXED = re.compile(r"^\\boxed\{(.*)\}$", re.DOTALL)
_OPENING = " \t\r\n\"'“”‘’„«»`*_([{"
_CLOSING = " \t\r\n.,;:!\"'“”‘’„«»`*_)]}"
_LONGEST = 400
_DEEPEST = 8


def number_in(text: str) -> int | float | None:
    """The one number that a text says; None where it says none, or several and none is called the answer."""
    found = _numbers(text)
    if len(found) == 1:
        [first, *_] = _NUMBER.finditer(text)
        return found[0] if _is_meant(text, first.start(), first.end()) else None
    for said in reversed(list(_SAID.finditer(text))):
        if after := _NUMBER.match(text, said.end()):
            alone = len(_numbers(text[said.end() :])) == 1
            return _read(after.group()) if alone and _is_meant(text, after.start(), after.end()) else None
    lines = [line for line in text.splitlines() if line.strip()]
    last = _numbers(lines[-1]) if lines else []
    return last[0] if len(last) == 1 and _is_bare(lines[-1]) else None


def numbers_in(text: str) -> list[int | float]:
    """All different numbers that a text says, in order."""
    return _numbers(text)


def _numbers(text: str) -> list[int | float]:
    found: list[int | float] = []
    for match in _NUMBER.finditer(text):
        number = _read(match.group())
        if number is not None and number not in found:
            found.append(number)
    return found


def _is_meant(text: str, start: int, end: int) -> bool:
    """Whether a number is said as it is: not denied, not one of several, and nothing that makes another of it."""
    before = _SENTENCE.split(text[:start])[-1]
    if _DENIED.search(before) or _SHIFTED.search(before) or text[end : end + 1].isnumeric():
        return False
    ending = _SENTENCE.search(text, end)
    rest = text[end : ending.start() if ending else len(text)]
    if _HEDGED.search(before) or _HEDGED.search(rest) or (ending and ending.group() == "?"):
        return False
    clause = _CLAUSE.split(rest, maxsplit=1)[0]
    return not (
        _NUMBER.search(clause) or re.match(r"\s*(?:[/^+=×]|\*+\s*\d)", clause) or _OTHERWISE.search(clause)
    )


def _is_bare(line: str) -> bool:
    return not re.search(r"\w", _NUMBER.sub("", line))


def _read(digits: str) -> int | float | None:
    plain = digits.replace(",", "").replace("−", "-")
    if len(plain) > _LONGEST:
        return None
    if re.fullmatch(r"[-+]?\d+", plain):
        return int(plain)
    value = float(plain)
    return value if value not in (float("inf"), float("-inf")) else None


def trimmed(text: str) -> str:
    """A text without what may stand around an answer: white space, quotes, brackets, a full stop, “The answer is”."""
    inner = text.strip()
    if boxed := _BOXED.match(inner):
        inner = boxed[1]
    return _bare(_LEAD.sub("", _bare(inner)))


def _bare(text: str) -> str:
    return text.lstrip(_OPENING).rstrip(_CLOSING)


def same_text(expected: str, text: str, *, case_sensitive: bool = True) -> bool:
    """Whether a text is the expected one and nothing else but for what :func:`trimmed` takes off."""
    wanted, found = (expected, text) if case_sensitive else (expected.casefold(), text.casefold())
    if wanted.strip() == found.strip():
        return True
    return bool(trimmed(wanted)) and trimmed(wanted) == trimmed(found)


def says_text(expected: str, text: str, *, case_sensitive: bool = True) -> bool:
    """Whether a text calls the expected one its answer at its end, or ends by saying that something is it.

    “Paris” is said by “The answer is Paris.” and “The capital is Paris.”, but not by “It is not Paris.”, “Rome or
    Paris”, “New Paris”, “Is it Paris?”, nor where the last that is called the answer is another.
    """
    wanted, found = composed(expected), composed(text)
    if not case_sensitive:
        wanted, found = composed(wanted.casefold()), composed(found.casefold())
    wanted, found = _bare(wanted), _bare(found)
    if not wanted:
        return False
    if called := list(_CALLED.finditer(found)):
        before = _SENTENCE.split(found[: called[-1].start()])[-1]
        return not _HEDGED.search(before) and _bare(found[called[-1].end() :]) == wanted
    if not found.endswith(wanted) or found[: -len(wanted)].rstrip(_OPENING) == found[: -len(wanted)]:
        return False
    before = _SENTENCE.split(found[: -len(wanted)].rstrip(_OPENING))[-1]
    return bool(_IS.search(before)) and not _HEDGED.search(before)


def verdict_in(text: str) -> bool | None:
    """The yes or no that a text opens with, or says at its end; None where it says neither, or is unsure."""
    if _UNSURE.search(text):
        return None
    if opening := _VERDICT.match(trimmed(text)):
        return opening[1].casefold() in ("yes", "true")
    for word, verdict in (("yes", True), ("true", True), ("no", False), ("false", False)):
        if says_text(word, text, case_sensitive=False):
            return verdict
    return None


def json_in(text: str) -> Any:
    """The JSON value that a text is, or that its one fenced block is. Raises ValueError when it is none."""
    for candidate in (text.strip(), *(_FENCE.findall(text) if text.count("```") == 2 else ())):
        try:
            return load(candidate)
        except ValueError:
            continue
    raise ValueError("it is no JSON")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as rows: each way in which it can be read as rows, with the names of the columns where it has them.

    ``text`` is the answer as it was given.
    """

    text: str
    readings: tuple[tuple[Row, ...], ...]
    columns: tuple[str, ...] | None = None


def read_answer(text: str) -> Answer:
    """Reads an answer as rows. A text that is no JSON has no readings.

    ``[[1, "a"], …]`` and ``{"columns": […], "rows": [[…], …]}`` are rows; so are ``[{"n": 1, "name": "a"}, …]``, by
    position. ``[1, 2]`` is a column or a row, a single value one row.
    """
    try:
        value = json_in(text)
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


def listed(text: str) -> Sequence[str] | None:
    """The items of a list that is written as lines or with commas; None for a text that is no list."""
    lines = [re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", line).strip() for line in text.strip().splitlines()]
    lines = [line for line in lines if line]
    if len(lines) > 1:
        return lines
    if lines and "," in lines[0]:
        return [part.strip() for part in lines[0].split(",")]
    return lines or None


__all__ = [
    "Answer",
    "json_in",
    "listed",
    "number_in",
    "numbers_in",
    "read_answer",
    "same_text",
    "says_text",
    "trimmed",
    "verdict_in",
]
