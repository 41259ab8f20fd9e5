"""What an unquoted YAML scalar means: the core schema of YAML 1.2.2, section 10.3.2."""

from __future__ import annotations

import re
from math import isinf
from typing import Any, NamedTuple

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
NUMERIC = frozenset("0123456789+-.")
"""What a number begins with, and whatever YAML 1.1 takes for one."""

# What readers of YAML 1.1 take for a number or a truth value (yaml.org/type/{bool,int,float}.html, without its
# y and n, which PyYAML, Ruby and Go leave alone as well).
_YES_NO = {
    word: meaning
    for lower, meaning in {"yes": True, "no": False, "on": True, "off": False}.items()
    for word in (lower, lower.capitalize(), lower.upper())
}
SPECIAL = frozenset([*_WORDS, *_YES_NO])
"""The words that mean something; every other scalar that does not begin like a number is a string."""
LONGEST_SPECIAL = max(map(len, SPECIAL))
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_SEXAGESIMAL = re.compile(r"[-+]?[1-9][0-9]*(?::[0-5]?[0-9])+")
_UNDERSCORES = re.compile(
    r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|[1-9][0-9_]*|[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?)"
)
# Numbers of YAML 1.1 have a dot and a sign in their exponent, or no exponent.
_EXPONENT_OF_1_1 = re.compile(r"[-+]?[0-9]*\.[0-9]*[eE][-+][0-9]+")
_BINARY = re.compile(r"[-+]?0b[01]+")


class Scalar(NamedTuple):
    """What an unquoted scalar means, and what is odd about it.

    ``surprise`` names why another reader may see ``elsewhere`` instead; ``bad`` is True for a number that JSON
    has no way to write or that is too large to hold, and then ``value`` is 0.
    """

    value: Any
    surprise: str | None = None
    elsewhere: Any = None
    bad: bool = False


LONGEST_INT = 4300
"""How many digits a whole number may have: the bound Python sets to the time that reading one takes."""
# Nobody takes anything longer for a number that was meant otherwise.
_LONGEST_LOOK_ALIKE = 60


def resolve(text: str) -> Scalar:
    """The meaning of an unquoted scalar; for numbers, words and the look-alikes of YAML 1.1.

    A date (2024-01-31) is text without a surprise, though YAML 1.1 has a type for it: data is full of dates, and
    those who read them as dates can tell.
    """
    if text in _WORDS:
        return Scalar(_WORDS[text])
    if text in _YES_NO:
        return Scalar(text, "word", _YES_NO[text])
    if text[0] not in NUMERIC:
        return Scalar(text)
    if _INT.fullmatch(text):
        return _whole(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if isinf(number):
            return Scalar(0, bad=True)
        if "e" in text.lower() and not _EXPONENT_OF_1_1.fullmatch(text):
            return Scalar(number, "exponent", text)
        return Scalar(number)
    if _NOT_FINITE.fullmatch(text):
        return Scalar(0, bad=True)
    return _look_alike(text)


def _whole(text: str) -> Scalar:
    if len(text) > LONGEST_INT:
        return Scalar(0, bad=True)
    if text.startswith(("0o", "0x")):
        value = int(text, 0)
        # Fewer digits than in base 10, but JSON knows base 10 only.
        if value.bit_length() > 3 * LONGEST_INT:
            return Scalar(0, bad=True)
        return Scalar(value, "octal", text) if text[1] == "o" else Scalar(value)
    value = int(text)
    digits = text.lstrip("+-")
    if digits[0] == "0" and len(digits) > 1:
        if _OCTAL.fullmatch(text):
            octal = int(digits, 8)
            elsewhere: int | str = -octal if text[0] == "-" else octal
            return Scalar(value, "octal" if elsewhere != value else "zeros", elsewhere)
        return Scalar(value, "octal", text)
    return Scalar(value)


def _look_alike(text: str) -> Scalar:
    if len(text) > _LONGEST_LOOK_ALIKE:
        return Scalar(text)
    if _SEXAGESIMAL.fullmatch(text):
        total = 0
        for part in text.lstrip("+-").split(":"):
            total = total * 60 + int(part)
        return Scalar(text, "sexagesimal", -total if text[0] == "-" else total)
    plain = text.replace("_", "")
    if _BINARY.fullmatch(plain):
        return Scalar(text, "binary", int(plain, 2))
    if "_" in text and _UNDERSCORES.fullmatch(text):
        if re.fullmatch(r"[-+]?0[0-7]+", plain):
            return Scalar(text, "underscore", int(plain, 8))
        if re.fullmatch(r"[-+]?(?:0x[0-9a-fA-F]+|[0-9]+)", plain):
            return Scalar(text, "underscore", int(plain, 16 if "x" in plain else 10))
        if re.fullmatch(r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?", plain):
            return Scalar(text, "underscore", float(plain))
    return Scalar(text)


__all__ = ["LONGEST_INT", "LONGEST_SPECIAL", "NUMERIC", "SPECIAL", "Scalar", "resolve"]
