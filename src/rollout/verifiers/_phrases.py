"""What a phrase says: its one number, or whether it is a text and nothing else.

Everything in a phrase has to be accounted for: the number with its unit, the words of the question, the few words that
carry an answer, and the punctuation of a sentence. The first thing that is none of these makes it no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from rollout.language.compare import show
from rollout.language.edges import composed
from rollout.verifiers._wording import (
    JOINING,
    MOVING,
    ROUGHLY,
    SAYING,
    SCALES,
    SPELLED,
    Question,
    is_counted,
    is_denial,
    stem,
    unit_of,
)

Number = int | float

_TOKEN: Final = re.compile(
    r"""(?P<number>
            (?<![\w.])(?<![\w][-–])(?<!\d,)     # not inside a word, an identifier such as O-10, or another number
            (?P<sign>[-−+]?)(?P<money>(?:US)?[$€£¥₹]\ ?)?(?P<inner>(?<=[$€£¥₹])[-−])?
            (?P<digits>(?:[0-9]{1,3}(?:[,\u00a0\u2009\u202f][0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
            (?!\w)(?!-\d)(?![.,:]\d)
            (?P<after>\ ?[€£$¥₹](?![\d\w]))?(?P<percent>\ ?%)?
        )
        | (?P<word>\w+(?:[-–'’.@/_:+]\w+)*)
        | (?P<space>\s+)
        | (?P<mark>.)""",
    re.VERBOSE,
)
_ENDING: Final = " \t\r\n.!"
_QUIET: Final = frozenset(",;:()[]\"'“”‘’„«»`*_.!")
_DASHES: Final = frozenset("-–—")
_PREPOSITIONS: Final = frozenset(("in", "on", "at", "of", "by", "from", "for"))
_MOST_WORDS: Final = 80
_MOST_ASIDE: Final = 6
_NEARLY: Final = frozenset("~≈")
_OPERATORS: Final = frozenset("+-−–×*/÷%()")
_ASIDE: Final = re.compile(
    r"[,(]?\s{1,9}\(?(?:not\s+(?:counting|including)|excluding|including|leaving\s+out)\b(?P<rest>[^.;!?\n]*)[.!)\s]*$",
    re.IGNORECASE,
)
_EQUALS: Final = re.compile(r"(?<![!<>≤≥~≈=:])=(?!=)")
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
_PER_CENT: Final = re.compile(r"\bper\s+cent\b", re.IGNORECASE)
_LONGEST: Final = 400


class Unread(NamedTuple):
    """Why no answer can be read from what was said, as the end of a sentence, and the phrase where it is one."""

    why: str
    phrase: str = ""

    def sentence(self) -> str:
        """“No answer can be read from “not 42”, since “not” says more than an answer”, without a full stop."""
        shown = self.phrase if len(self.phrase) <= 80 else f"{self.phrase[:79]}…"
        return f"No answer can be read from {f'“{shown}”' if shown else 'what was said'}, since {self.why}"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: Literal["number", "word", "mark"]
    text: str
    value: Number = 0
    unit: tuple[int, int] | None = None
    is_percent: bool = False


def number_said(phrase: str, question: Question, *, roughly: bool = False) -> Number | Unread:
    """The one number that a phrase says, all else in it accounted for.

    Numbers that the question names are context, where there is another. “15%” is 15 where the question asks for percent
    and 0.15 where it does not; “2 million” is 2000000 unless the question asks how many million. ``roughly`` lets it be
    “about 15”.
    """
    phrase = composed(phrase).rstrip(_ENDING)
    phrase = _PER_CENT.sub("percent", phrase)
    if "?" in phrase:
        return Unread("it is a question")
    if (aside := _ASIDE.search(phrase)) and _is_aside(aside["rest"]):
        phrase = phrase[: aside.start()].rstrip(_ENDING + "(,")
    if equals := list(_EQUALS.finditer(phrase)):
        added, phrase = phrase[: equals[-1].start()], phrase[equals[-1].end() :]
        if (odd := _odd_sum(_tokens(added), question)) is not None:
            return _more(odd)
    tokens = _tokens(phrase)
    asked = _asked(question.text)
    said = _numbers(tokens)
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
            joins = token.text in _DASHES and "number" not in (before.kind, after.kind)
            ends = token.text in _QUIET and (token.text != "!" or before.kind != "mark")
            if not joins and not ends:
                return _more(token.text)
        elif token.kind == "word":
            if before.kind == "number" and before.value == own[0] and _is_unit(token.text, question):
                continue
            if is_denial(token.text) and own[0] in _numbers(tokens[index:]):
                return _more(token.text)
            words.append(token.text)
        elif token.value == own[0]:
            reading = _value(token, before, after, question)
            if isinstance(reading, Unread):
                return reading
            value = reading
    odd_word = question.odd_word(words, besides=ROUGHLY if roughly else frozenset())
    return value if odd_word is None else _more(odd_word)


def _is_aside(rest: str) -> bool:
    """Whether what “not counting” is followed by leaves the number as it is."""
    tokens = _tokens(rest)
    words = [token.text for token in tokens if token.kind == "word"]
    return (
        0 < len(words) <= _MOST_ASIDE
        and not _numbers(tokens)
        and Question.doubt_in(words) is None
        and not any(word.casefold() in SCALES for word in words)
    )


def _is_unit(word: str, question: Question) -> bool:
    """Whether a word after a number says of what it is the number."""
    if stem(word) == "percent" or word.casefold() in SCALES:
        return True
    unit = unit_of(word)
    return is_counted(word) if unit is None else question.asks_in(unit)


def _more(what: str) -> Unread:
    return Unread(f"“{what}” says more than an answer")


def _value(token: _Token, before: _Token, after: _Token, question: Question) -> Number | Unread:
    """What a number comes to with what stands beside it."""
    if token.unit is not None and not question.asks_in(token.unit):
        return Unread(f"“{token.text}” is not in the unit that is asked for")
    if before.kind == "word" and before.text.casefold() in MOVING:
        return _more(before.text)
    if after.kind != "word":
        return _shifted(token.value, -2) if token.is_percent and not question.in_percent else token.value
    word = after.text.casefold()
    if word in JOINING and stem(word) not in question.stems - {stem("or"), stem("to"), stem("and")}:
        return _more(after.text)
    if token.is_percent or stem(word) == "percent":
        return token.value if question.in_percent else _shifted(token.value, -2)
    if word in SCALES and word not in question.scales:
        return _shifted(token.value, SCALES[word])
    return token.value


def _shifted(number: Number, places: int) -> Number:
    shifted = Decimal(repr(number)).scaleb(places)
    return int(shifted) if shifted == shifted.to_integral_value() else float(shifted)


def _tokens(text: str) -> list[_Token]:
    tokens = []
    for match in _TOKEN.finditer(text):
        if match["space"] is not None:
            continue
        if match["number"] is not None:
            value = _read(match["sign"] + (match["inner"] or "") + match["digits"])
            money = (match["money"] or match["after"] or "").strip().casefold()
            if value is None:
                tokens.append(_Token("mark", match["digits"][:20] + "…"))
            else:
                unit = unit_of(money) if money else None
                tokens.append(_Token("number", match[0].strip(), value, unit, match["percent"] is not None))
        elif match["word"] is not None:
            spelled = SPELLED.get(match[0].casefold())
            tokens.append(
                _Token("word", match[0]) if spelled is None else _Token("number", match[0], spelled)
            )
        else:
            tokens.append(_Token("mark", match[0]))
    return tokens


def _read(digits: str) -> Number | None:
    plain = re.sub(r"[,\s]", "", digits).replace("−", "-")
    if len(plain) > _LONGEST:
        return None
    if re.fullmatch(r"[-+]?[0-9]+", plain):
        return int(plain)
    try:
        value = float(plain)
    except ValueError:
        return None
    return value if value not in (float("inf"), float("-inf")) else None


def _numbers(tokens: Sequence[_Token]) -> list[Number]:
    """The different numbers, in order."""
    return list(dict.fromkeys(token.value for token in tokens if token.kind == "number"))


@lru_cache(maxsize=64)
def _asked(text: str) -> tuple[Number, ...]:
    """The numbers that a question names."""
    return tuple(_numbers(_tokens(text)))


def _beside(tokens: Sequence[_Token], index: int, step: int) -> _Token:
    """The next word or number; the edge of the text, or a mark between, is a mark."""
    place = index + step
    return tokens[place] if 0 <= place < len(tokens) else _Token("mark", "")


def _odd_sum(tokens: Sequence[_Token], question: Question) -> str | None:
    """What is no sum and no name for one on the left of “=”."""
    odd = next(
        (
            token.text
            for token in tokens
            if token.kind == "mark" and token.text not in _OPERATORS and token.text not in _QUIET - set(",;")
        ),
        None,
    )
    words = [
        token.text
        for token in tokens
        if token.kind == "word" and token.text != "x" and unit_of(token.text) is None
    ]
    return odd or question.odd_word([word for word in words if not is_counted(word)])


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
    inner = sentence.strip().rstrip(_ENDING)
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
    tokens = _tokens(text)
    if not denied and any(is_denial(token.text) for token in tokens):
        return False
    asked = _asked(question.text)
    if not any(token.kind == "word" for token in tokens):
        return False
    return (
        question.odd_word([token.text for token in tokens if token.kind == "word"]) is None
        and all(token.text in _QUIET | _DASHES for token in tokens if token.kind == "mark")
        and all(token.value in asked for token in tokens if token.kind == "number")
    )


def subject_and_predicate(sentence: str) -> tuple[str, str]:
    """What stands before and after the last “is” of a sentence; nothing and the sentence where it has none."""
    joints = list(_IS.finditer(sentence))
    if not joints:
        return "", bare(sentence)
    return sentence[: joints[-1].start()], bare(sentence[joints[-1].end() :])


def numbers_besides(number: Number, message: str, phrase: str, question: Question) -> list[Number]:
    """The numbers that a message says outside a phrase, neither ``number`` nor one that the question names."""
    known = [number, *_numbers(_tokens(phrase)), *_asked(question.text)]
    return [each for each in _numbers(_tokens(message)) if each not in known]


def verdict_said(phrase: str, question: Question) -> bool | Unread:
    """The yes or no that a phrase opens with, or says that something is; all else in it accounted for."""
    if "?" in phrase:
        return Unread("it is a question")
    tokens = [
        token for token in _tokens(composed(phrase)) if token.kind != "mark" or token.text not in _QUIET
    ]
    words = [token.text for token in tokens]
    verdicts = [
        (index, _VERDICTS[word.casefold()])
        for index, word in enumerate(words)
        if word.casefold() in _VERDICTS
    ]
    if not verdicts:
        return Unread("it says neither yes nor no")
    if len(verdicts) > 1:
        return Unread("it says yes or no more than once")
    [(place, verdict)] = verdicts
    if place > 0 and not _ends_with_is(words[:place]):
        return _more(words[place - 1])
    others = [token for token in tokens[:place] + tokens[place + 1 :] if token.text not in _DASHES]
    asked = _asked(question.text)
    for token in others:
        if token.kind == "mark" or (token.kind == "number" and token.value not in asked):
            return _more(token.text)
    odd = question.odd_word([token.text for token in others], denied=place == 0 and not verdict)
    return verdict if odd is None else _more(odd)


_VERDICTS: Final = {"yes": True, "true": True, "no": False, "false": False}


def _ends_with_is(words: Sequence[str]) -> bool:
    last = words[-1].casefold()
    return last in ("is", "are", "was", "were", "answer", "result") or last.endswith(("'s", "’s"))


__all__ = [
    "Number",
    "Unread",
    "bare",
    "is_text",
    "number_said",
    "numbers_besides",
    "says_text",
    "subject_and_predicate",
    "verdict_said",
]
