"""The words that may stand around an answer: those of the question, and a few that say nothing but “this is it”.

Nothing is looked for that would make an answer doubtful; whatever is neither the question's word nor in ``SAYING``
makes more of it than an answer. ``DOUBT`` and the denials only keep out what the question's own words would let in, as
“guess” where the task says “do not guess”.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from rollout.language.canonical import dump
from rollout.language.edges import composed


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SAYING: Final = _words(
    """a an the of in on at for is are was were be been has have had does do did there here it its this that these those
    they them their he his she her we i you your my our and so thus therefore hence then finally final correct exactly
    only answer result total number count amount sum value altogether overall all equals cost costs contains gives makes
    found counted got called named which who"""
)
"""Words that carry an answer and take nothing from it."""

DOUBT: Final = _words(
    """or either maybe perhaps possibly probably presumably likely unlikely might may could would should about around
    approximately roughly nearly almost guess guessing assume suppose think believe seems appears unsure uncertain
    unclear unknown doubt cannot if unless whether instead rather but except wrong incorrect false"""
)
"""Words that count against an answer even where the question has them."""

ROUGHLY: Final = _words("about around approximately roughly")
"""Words of doubt that do a number no harm where a tolerance is given."""

_DENIALS: Final = _words("not no never neither nor none nothing without")

MOVING: Final = _words(
    """over under above below than least most to minus negative between beyond until before after plus times step
    page line row section option item version figure chapter"""
)
"""Words that make another number of the one after them."""

JOINING: Final = _words("or to and plus minus times less fewer more too short squared cubed half point")
"""Words that make another number of the one before them."""

COURTESY: Final = _words(
    """please let me know if you have any other further more question questions need anything something else help
    helping would like is there can i with this that hope helps feel free to ask assist assistance happy glad to sure
    certainly thanks thank welcome here are done of course the for again enjoy your day have a nice great good good luck
    reach out at time"""
)
"""Words of the sentences that messages close with: “Let me know if you need anything else!”"""

SCALES: Final = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Words that multiply a number, and by which power of ten."""

SPELLED: Final = {
    word: number
    for number, word in enumerate(
        (
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        )
    )
}
"""Numbers that are written as words."""

_DIMENSIONS: Final = (
    ("dollar usd us$ $", "euro eur €", "pound gbp £", "yen jpy ¥", "rupee inr ₹"),
    ("second sec s", "minute min", "hour hr h", "day", "week", "month", "year yr"),
    ("kilometre kilometer km", "metre meter m", "centimetre centimeter cm", "millimetre millimeter mm"),
    ("kilogram kg", "gram g"),
    ("litre liter l", "millilitre milliliter ml"),
)
UNITS: Final = {
    alias: (dimension, unit)
    for dimension, units in enumerate(_DIMENSIONS)
    for unit, aliases in enumerate(units)
    for alias in aliases.split()
}
"""Units that need not be the question's, unless the question names another of their kind."""

_UNCOUNTED: Final = _words(
    """perhaps less plus minus tops times thousands millions billions trillions hundreds dozens pairs halves thirds
    quarters fifths tenths hundredths percents cents pence always sometimes ones as is was has does else"""
)
_WORD: Final = re.compile(r"\w+(?:[-–'’.@/_:]\w+)*")
_PERCENT: Final = re.compile(r"%|\bper\s?cent|\bpct\b", re.IGNORECASE)
_OWN_SCALE: Final = re.compile(rf"\b(?:how\s+many|in)\s+({'|'.join(SCALES)})s?\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word in the form in which “copy” is “copies” and “deliver” is “delivered”."""
    plain = composed(word).casefold().replace("’", "'").removesuffix("'s").removesuffix("'")
    if len(plain) > 4 and plain.endswith("ies"):
        return plain[:-3] + "y"
    for ending in ("ing", "ed", "es", "s", "e"):
        if len(plain) > len(ending) + 2 and plain.endswith(ending) and not plain.endswith("ss"):
            return plain.removesuffix(ending)
    return plain


@dataclass(frozen=True, slots=True)
class Question:
    """What a task asks, by its words: an answer may repeat them.

    ``pairs`` are words beside each other, ``units`` the units it names, ``scales`` the scales it counts in.
    """

    text: str
    words: frozenset[str]
    stems: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    units: frozenset[tuple[int, int]]
    scales: frozenset[str]
    in_percent: bool

    def odd_word(
        self, words: Sequence[str], *, denied: bool = False, besides: frozenset[str] = frozenset()
    ) -> str | None:
        """The first word that is neither the question's nor carries an answer, nor one ``besides`` these.

        A denial counts as the question's with the word that follows it there: “not lost” where it asks for what is not
        lost. ``denied`` lets any denial be.
        """
        for word, following in zip(words, (*words[1:], ""), strict=False):
            plain = word.casefold().replace("’", "'")
            if is_denial(word):
                if denied or (plain, following.casefold()) in self.pairs:
                    continue
                return word
            base = plain.removesuffix("'s").removesuffix("'ve")
            is_month = word == "May" and "May" in self.text
            if base in besides:
                continue
            if base in DOUBT and not is_month:
                return word
            if base not in SAYING and stem(base) not in self.stems:
                return word
        return None

    def inflects(self, word: str) -> bool:
        """Whether a word is one of the question in another form, as “borrowed” where it asks what Ada did borrow."""
        plain = word.casefold()
        return (
            word.islower()
            and plain not in self.words
            and plain[-1:] in ("s", "d")
            and stem(plain) in self.stems
        )

    def odd_doubt(self, words: Sequence[str]) -> str | None:
        """The first word of doubt or denial that is not the question's: “without orders” where it asks who has none."""
        denies = any(map(is_denial, self.words))
        for word, following in zip(words, (*words[1:], ""), strict=False):
            plain, next_one = word.casefold().replace("’", "'"), following.casefold()
            is_own = next_one not in SAYING and stem(following) in self.stems
            if (plain, next_one) in self.pairs or (is_denial(word) and denies and is_own):
                continue
            if plain in DOUBT or is_denial(word):
                return word
        return None

    @staticmethod
    def doubt_in(words: Sequence[str]) -> str | None:
        """The first word of doubt or denial, None where there is none."""
        for word in words:
            if word.casefold() in DOUBT or is_denial(word):
                return word
        return None

    def asks_in(self, unit: tuple[int, int]) -> bool:
        """Whether a number of a unit can be meant: it is the question's own, or the question names none of its kind."""
        return unit in self.units or all(kind != unit[0] for kind, _ in self.units)


def question_of(instruction: str, given: object = None) -> Question:
    """The question of an instruction, and of the task's input where it has one."""
    text = composed(instruction if given is None else f"{instruction}\n{dump(given).decode('utf-8')}")
    found = words_of(text)
    plain = [word.casefold().replace("’", "'") for word in found]
    symbols = [character for character in text if not character.isalnum()]
    return Question(
        text,
        frozenset(plain),
        frozenset(map(stem, found)),
        frozenset(pairwise(plain)),
        frozenset(unit for word in (*found, *symbols) if (unit := unit_of(word)) is not None),
        frozenset(scale.casefold() for scale in _OWN_SCALE.findall(text)),
        _PERCENT.search(text) is not None,
    )


def words_of(text: str) -> list[str]:
    """The words of a text, with what joins them: “O-17” is one."""
    return _WORD.findall(text)


def is_denial(word: str) -> bool:
    """Whether a word denies: “not”, “isn't”, “without”."""
    plain = word.casefold().replace("’", "'")
    return plain in _DENIALS or plain.endswith("n't")


def unit_of(word: str) -> tuple[int, int] | None:
    """The kind of unit and the unit that a word or sign names, None for any other word."""
    plain = word.casefold()
    # “M” and “S” are no metres and seconds, but “KM” and “USD” are what they are.
    known = word if len(word) == 1 else plain
    return UNITS.get(known) or (UNITS.get(plain.removesuffix("s")) if len(plain) > 3 else None)


def is_counted(word: str) -> bool:
    """Whether a word after a number can be what is counted: “copies” in “4 copies”."""
    return (
        word.isalpha()
        and word.islower()
        and len(word) > 3
        and (word in ("people", "women", "children") or (word.endswith("s") and word not in _UNCOUNTED))
    )


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence only closes or opens a message, as “Let me know if you need anything else!”."""
    words = [word.casefold().replace("’", "'") for word in words_of(sentence)]
    return bool(words) and all(word in COURTESY or word in ("i'm", "that's") for word in words)


__all__ = [
    "JOINING",
    "MOVING",
    "ROUGHLY",
    "SAYING",
    "SCALES",
    "SPELLED",
    "Question",
    "is_counted",
    "is_courtesy",
    "is_denial",
    "question_of",
    "stem",
    "unit_of",
    "words_of",
]
