"""A phrase taken apart into numbers, words and marks, each of which has to be accounted for in an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from rollout.verifiers._wording import SPELLED, unit_of

Number = int | float

_TOKEN: Final = re.compile(
    r"""(?P<number>
            (?<![\w.])(?<![\w][-–])(?<!\d,)     # not inside a word, an identifier such as O-10, or another number
            (?P<sign>[-−+]?)(?P<money>(?:US)?[$€£¥₹]\ ?)?(?P<inner>(?<=[$€£¥₹])[-−])?
            (?P<digits>(?:(?:[0-9]{1,3}(?:[,\u00a0\u2009\u202f][0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|(?<!\.)\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
            (?!\w)(?!-\d)(?![.,:]\d)
            (?P<after>\ ?[€£$¥₹](?![\d\w]))?(?P<percent>\ ?%)?
        )
        | (?P<word>\w+(?:[-–'’.@/_:+]\w+)*)
        | (?P<space>\s+)
        | (?P<mark>.)""",
    re.VERBOSE,
)
ENDING: Final = " \t\r\n.!"
QUIET: Final = frozenset(",;:()[]\"'“”‘’„«»`*_.!")
DASHES: Final = frozenset("-–—")
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
class Token:
    """A number with its unit or percent sign, a word, or a mark."""

    kind: Literal["number", "word", "mark"]
    text: str
    value: Number = 0
    unit: tuple[int, int] | None = None
    is_percent: bool = False


def more_than_an_answer(what: str) -> Unread:
    """Why a phrase with this word or mark in it is no answer."""
    return Unread(f"“{what}” says more than an answer")


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, without white space; a word that is a number, as “seven”, is one."""
    tokens = []
    for match in _TOKEN.finditer(text):
        if match["space"] is not None:
            continue
        if match["number"] is not None:
            value = _read(match["sign"] + (match["inner"] or "") + match["digits"])
            money = (match["money"] or match["after"] or "").strip().casefold()
            if value is None:
                tokens.append(Token("mark", match["digits"][:20] + "…"))
            else:
                unit = unit_of(money) if money else None
                tokens.append(Token("number", match[0].strip(), value, unit, match["percent"] is not None))
        elif match["word"] is not None:
            spelled = SPELLED.get(match[0].casefold())
            tokens.append(Token("word", match[0]) if spelled is None else Token("number", match[0], spelled))
        else:
            tokens.append(Token("mark", match[0]))
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


def numbers_of(tokens: Sequence[Token]) -> list[Number]:
    """The different numbers, in order."""
    return list(dict.fromkeys(token.value for token in tokens if token.kind == "number"))


@lru_cache(maxsize=64)
def asked_numbers(text: str) -> tuple[Number, ...]:
    """The numbers that a question names."""
    return tuple(numbers_of(tokens_of(text)))


__all__ = [
    "DASHES",
    "ENDING",
    "QUIET",
    "Number",
    "Token",
    "Unread",
    "asked_numbers",
    "more_than_an_answer",
    "numbers_of",
    "tokens_of",
]
