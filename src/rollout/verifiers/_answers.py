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
from rollout.language.edges import composed, is_word, stands_alone
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
    r"\b(?:or|to|nor|thousand|million|billion|trillion|hundred|dozen|squared|cubed)\b", re.IGNORECASE
)
_HEDGED = re.compile(
    r"\b(?:not|no|nor|neither|never|cannot|or|either|maybe|perhaps|possibly|might|may|could|instead|rather|unsure"
    r"|unlikely|wrong|false|isn|aren|wasn|don|doesn)\b|n['’]t\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:[,;/&+]|\band|\bplus|\bthan|\bfrom)[\s\"'“‘„«`*_(]*$", re.IGNORECASE)
_FENCE = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*?)```", re.DOTALL)
_BOXED = re.compile(r"^\\boxed\{(.*)\}$", re.DOTALL)
_EDGES = " \t\r\n.,;:!?\"'“”‘’„«»`*_()[]{}"
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
            return _read(after.group()) if _is_meant(text, after.start(), after.end()) else None
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
    if _DENIED.search(text, 0, start) or text[end : end + 1].isnumeric():
        return False
    rest = _SENTENCE.split(text[end:], maxsplit=1)[0]
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
    inner = _LEAD.sub("", inner.strip(_EDGES)) if _LEAD.match(inner.strip(_EDGES)) else inner
    return inner.strip(_EDGES)


def same_text(expected: str, text: str, *, case_sensitive: bool = True) -> bool:
    """Whether a text is the expected one and nothing else but for what :func:`trimmed` takes off."""
    wanted, found = (expected, text) if case_sensitive else (expected.casefold(), text.casefold())
    if wanted.strip() == found.strip():
        return True
    return bool(trimmed(wanted)) and trimmed(wanted) == trimmed(found)


def says_text(expected: str, text: str, *, case_sensitive: bool = True) -> bool:
    """Whether a sentence of a text ends with the expected one, and neither denies it nor names others beside it.

    “Paris” is said by “It is Paris.”, but not by “Parisian”, “It is not Paris.”, “London or Paris” or “London, Paris”.
    """
    wanted, found = composed(expected).strip(), composed(text)
    if not case_sensitive:
        wanted, found = composed(wanted.casefold()), composed(found.casefold())
    at = found.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if (
            stands_alone(found, at, end)
            and not _is_hyphenated(found, at, end)
            and _ends_a_sentence(found, at, end)
        ):
            return True
        at = found.find(wanted, at + 1)
    return False


def _ends_a_sentence(text: str, start: int, end: int) -> bool:
    before = _SENTENCE.split(text[:start])[-1]
    after = _SENTENCE.split(text[end:], maxsplit=1)[0]
    opens = not before or before[-1].isspace() or before[-1] in _EDGES
    return opens and not after.strip(_EDGES) and not _HEDGED.search(before) and not _LISTED.search(before)


def _is_hyphenated(text: str, start: int, end: int) -> bool:
    # Paris-Orly is another place than Paris.
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    joined_before = len(before) == 2 and before[1] in "-–" and is_word(before[0]) and is_word(text[start])
    joined_after = len(after) == 2 and after[0] in "-–" and is_word(after[1]) and is_word(text[end - 1])
    return joined_before or joined_after


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
]
