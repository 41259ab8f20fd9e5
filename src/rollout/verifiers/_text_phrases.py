"""Whether a phrase is a text and nothing else, or a sentence says that the text is what is asked for."""

from __future__ import annotations

import re
from typing import Final

from rollout.verifiers._phrase_tokens import DASHES, ENDING, QUIET, asked_numbers, tokens_of
from rollout.verifiers._wording import JOINING, SAYING, Question, is_denial

_PREPOSITIONS: Final = frozenset(("in", "on", "at", "of", "by", "from", "for"))
_MOST_WORDS: Final = 80
_IS: Final = re.compile(
    r"(?:(?<!\S)(?:is|are|was|were)(?=\s)|(?<=\w)['’]s(?=\s)|(?<=\S):(?=\s)|(?<=\s)=(?=\s))"
)
_FILLER: Final = re.compile(r"(?:\s*:)?\s+(?:(?:the|an?|called|named)\s+)?", re.IGNORECASE)
_OPENING: Final = " \t\r\n\"'“”‘’„«»`*_([{"
_CLOSING: Final = " \t\r\n.,;:!\"'“”‘’„«»`*_)]}"
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = rf"(?P<month>(?:{'|'.join(_MONTHS)})[a-z]*)\.?"
_DATES: Final = (
    re.compile(rf"{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})", re.IGNORECASE),
    re.compile(
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+(?P<year>\d{{4}})", re.IGNORECASE
    ),
    re.compile(r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})"),
)
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def bare(text: str) -> str:
    """A text without white space, quotes, brackets and emphasis around it, nor the full stop that ends it."""
    return text.lstrip(_OPENING).rstrip(_CLOSING)


def is_text(expected: str, phrase: str) -> bool:
    """Whether a phrase is the expected text and nothing else; both as they are, or both :func:`bare`."""
    if expected.strip() == phrase.strip():
        return True
    if _ISO_DATE.fullmatch(expected.strip()):
        return bare(_iso(phrase)) == expected.strip()
    return bool(bare(expected)) and bare(expected) == bare(phrase)


def _iso(phrase: str) -> str:
    """A phrase that is a date, as ISO 8601 writes it; “3/5/2024” may be either of two, and stays."""
    plain = bare(phrase)
    for form in _DATES:
        if match := form.fullmatch(plain):
            month = match["month"]
            number = int(month) if month.isdigit() else _MONTHS.index(month[:3].casefold()) + 1
            return f"{match['year']}-{number:02}-{int(match['day']):02}"
    return phrase


def says_text(expected: str, sentence: str, question: Question) -> bool:
    """Whether a sentence says that what is asked for is the expected text, or that the text is what is asked for.

    “Paris” is said by “It is Paris.”, “The capital of France is Paris.” and “Paris is the capital of France.” where the
    question is what the capital of France is; not by “London was Paris”, “New Paris” or “It is Paris, I guess”. What
    Ada did borrow is also said by “Ada borrowed Solaris.”, and who wrote it by “Lem wrote it.”
    """
    if sentence.rstrip(" \"'“”*_)`").endswith("?"):
        return False
    inner = sentence.strip().rstrip(ENDING)
    words = inner.split()
    if len(words) > _MOST_WORDS + len(expected.split()):
        return False
    for joint in _IS.finditer(inner):
        before, after = inner[: joint.start()], inner[joint.end() :]
        filler = _FILLER.match(after)
        predicates = {after.strip(), after[filler.end() :] if filler else after.strip()}
        if any(is_text(expected, each) for each in predicates) and _is_accounted(before, question):
            return True
        is_verb = joint.group() not in (":", "=")
        if is_verb and is_text(expected, before) and _is_accounted(after, question, denied=True):
            return True
    for place in range(1, len(words)):
        before, after = " ".join(words[:place]), " ".join(words[place:])
        leads = words[place - 1] in _PREPOSITIONS or question.inflects(words[place - 1])
        if leads and is_text(expected, after) and _is_accounted(before, question):
            return True
        follows = words[place].islower() and words[place] in question.words - SAYING - JOINING
        if follows and is_text(expected, before) and _is_accounted(after, question, denied=True):
            return True
    return False


def _is_accounted(text: str, question: Question, *, denied: bool = False) -> bool:
    """Whether a text is words of the question and words that carry an answer, and nothing but.

    ``denied`` lets the question's own denials be among them.
    """
    tokens = tokens_of(text)
    if not denied and any(is_denial(token.text) for token in tokens):
        return False
    asked = asked_numbers(question.text)
    if not any(token.kind == "word" for token in tokens):
        return False
    return (
        question.odd_word([token.text for token in tokens if token.kind == "word"]) is None
        and all(token.text in QUIET | DASHES for token in tokens if token.kind == "mark")
        and all(token.value in asked for token in tokens if token.kind == "number")
    )


def subject_and_predicate(sentence: str) -> tuple[str, str]:
    """What stands before and after the last “is” of a sentence; nothing and the sentence where it has none."""
    joints = list(_IS.finditer(sentence))
    if not joints:
        return "", bare(sentence)
    return sentence[: joints[-1].start()], bare(sentence[joints[-1].end() :])


__all__ = ["bare", "is_text", "says_text", "subject_and_predicate"]
