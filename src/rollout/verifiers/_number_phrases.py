"""What number a phrase says: its one number, all else in it accounted for.

Everything in a phrase has to be accounted for: the number with its unit, the words of the question, the few words that
carry an answer, and the punctuation of a sentence. The first thing that is none of these makes it no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from rollout.language.compare import show
from rollout.language.edges import composed
from rollout.verifiers._phrase_tokens import (
    DASHES,
    ENDING,
    QUIET,
    Number,
    Token,
    Unread,
    asked_numbers,
    more_than_an_answer,
    numbers_of,
    tokens_of,
)
from rollout.verifiers._wording import (
    JOINING,
    MOVING,
    ROUGHLY,
    SCALES,
    Question,
    is_counted,
    is_denial,
    stem,
    unit_of,
)

_MOST_ASIDE: Final = 6
_NEARLY: Final = frozenset("~≈")
_OPERATORS: Final = frozenset("+-−–×*/÷%()")
_ASIDE: Final = re.compile(
    r"[,(]?\s{1,9}\(?(?:not\s+(?:counting|including)|excluding|including|leaving\s+out)\b(?P<rest>[^.;!?\n]*)[.!)\s]*$",
    re.IGNORECASE,
)
_EQUALS: Final = re.compile(r"(?<![!<>≤≥~≈=:])=(?!=)")
_PER_CENT: Final = re.compile(r"\bper\s+cent\b", re.IGNORECASE)


def number_said(phrase: str, question: Question, *, roughly: bool = False) -> Number | Unread:
    """The one number that a phrase says, all else in it accounted for.

    Numbers that the question names are context, where there is another. “15%” is 15 where the question asks for percent
    and 0.15 where it does not; “2 million” is 2000000 unless the question asks how many million. ``roughly`` lets it be
    “about 15”.
    """
    phrase = composed(phrase).rstrip(ENDING)
    phrase = _PER_CENT.sub("percent", phrase)
    if "?" in phrase:
        return Unread("it is a question")
    if (aside := _ASIDE.search(phrase)) and _is_aside(aside["rest"]):
        phrase = phrase[: aside.start()].rstrip(ENDING + "(,")
    if equals := list(_EQUALS.finditer(phrase)):
        added, phrase = phrase[: equals[-1].start()], phrase[equals[-1].end() :]
        if (odd := _odd_sum(tokens_of(added), question)) is not None:
            return more_than_an_answer(odd)
    tokens = tokens_of(phrase)
    asked = asked_numbers(question.text)
    said = numbers_of(tokens)
    own = [number for number in said if number not in asked] or said
    if not own:
        return Unread("it says no number")
    if len(own) > 1:
        listed = ", ".join(show(each) for each in own[:6]) + (", …" if len(own) > 6 else "")
        return Unread(f"it says several numbers ({listed})")
    value: Number = own[0]
    words: list[str] = []
    for index, token in enumerate(tokens):
        before, after = _beside(tokens, index, -1), _beside(tokens, index, 1)
        if token.kind == "mark":
            if roughly and token.text in _NEARLY and after.kind == "number":
                continue
            joins = token.text in DASHES and "number" not in (before.kind, after.kind)
            ends = token.text in QUIET and (token.text != "!" or before.kind != "mark")
            if not joins and not ends:
                return more_than_an_answer(token.text)
        elif token.kind == "word":
            if before.kind == "number" and before.value == own[0] and _is_unit(token.text, question):
                continue
            if is_denial(token.text) and own[0] in numbers_of(tokens[index:]):
                return more_than_an_answer(token.text)
            words.append(token.text)
        elif token.value == own[0]:
            reading = _value(token, before, after, question)
            if isinstance(reading, Unread):
                return reading
            value = reading
    odd_word = question.odd_word(words, besides=ROUGHLY if roughly else frozenset())
    return value if odd_word is None else more_than_an_answer(odd_word)


def numbers_besides(number: Number, message: str, phrase: str, question: Question) -> list[Number]:
    """The numbers that a message says outside a phrase, neither ``number`` nor one that the question names."""
    known = [number, *numbers_of(tokens_of(phrase)), *asked_numbers(question.text)]
    return [each for each in numbers_of(tokens_of(message)) if each not in known]


def _is_aside(rest: str) -> bool:
    """Whether what “not counting” is followed by leaves the number as it is."""
    tokens = tokens_of(rest)
    words = [token.text for token in tokens if token.kind == "word"]
    return (
        0 < len(words) <= _MOST_ASIDE
        and not numbers_of(tokens)
        and Question.doubt_in(words) is None
        and not any(word.casefold() in SCALES for word in words)
    )


def _is_unit(word: str, question: Question) -> bool:
    """Whether a word after a number says of what it is the number."""
    if stem(word) == "percent" or word.casefold() in SCALES:
        return True
    unit = unit_of(word)
    return is_counted(word) if unit is None else question.asks_in(unit)


def _value(token: Token, before: Token, after: Token, question: Question) -> Number | Unread:
    """What a number comes to with what stands beside it."""
    if token.unit is not None and not question.asks_in(token.unit):
        return Unread(f"“{token.text}” is not in the unit that is asked for")
    if before.kind == "word" and before.text.casefold() in MOVING:
        return more_than_an_answer(before.text)
    if after.kind != "word":
        return _shifted(token.value, -2) if token.is_percent and not question.in_percent else token.value
    word = after.text.casefold()
    if word in JOINING and stem(word) not in question.stems - {stem("or"), stem("to"), stem("and")}:
        return more_than_an_answer(after.text)
    if token.is_percent or stem(word) == "percent":
        return token.value if question.in_percent else _shifted(token.value, -2)
    if word in SCALES and word not in question.scales:
        return _shifted(token.value, SCALES[word])
    return token.value


def _shifted(number: Number, places: int) -> Number:
    shifted = Decimal(repr(number)).scaleb(places)
    return int(shifted) if shifted == shifted.to_integral_value() else float(shifted)


def _beside(tokens: Sequence[Token], index: int, step: int) -> Token:
    """The next word or number; the edge of the text, or a mark between, is a mark."""
    place = index + step
    return tokens[place] if 0 <= place < len(tokens) else Token("mark", "")


def _odd_sum(tokens: Sequence[Token], question: Question) -> str | None:
    """What is no sum and no name for one on the left of “=”."""
    odd = next(
        (
            token.text
            for token in tokens
            if token.kind == "mark" and token.text not in _OPERATORS and token.text not in QUIET - set(",;")
        ),
        None,
    )
    words = [
        token.text
        for token in tokens
        if token.kind == "word" and token.text != "x" and unit_of(token.text) is None
    ]
    return odd or question.odd_word([word for word in words if not is_counted(word)])


__all__ = ["number_said", "numbers_besides"]
