"""What a calculator tool works out: ``2 * (3 + 4) - 1.5``, and nothing but numbers, signs and parentheses."""

from __future__ import annotations

import re
from math import isfinite
from typing import Final

LONGEST: Final = 1_000
"""How many characters a calculation may have."""

_TOKEN = re.compile(r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<sign>[-+*/()]))")
_DEEPEST = 50


class ArithmeticTextError(ValueError):
    """A text that is no calculation, or one without a result; its text is a sentence."""


def evaluate(text: str) -> float:
    """The value of a calculation, a finite number. Raises ArithmeticTextError."""
    if len(text) > LONGEST:
        raise ArithmeticTextError(f"the calculation is longer than {LONGEST} characters.")
    calculation = _Calculation(text)
    try:
        value = calculation.sum()
    except OverflowError:
        raise calculation.fault("the result is too large") from None
    except ZeroDivisionError:
        raise calculation.fault("it divides by zero") from None
    if calculation.token:
        raise calculation.fault(f"“{calculation.token[:20]}” cannot stand there")
    if not isfinite(value):
        raise calculation.fault("the result is too large")
    return value


class _Calculation:
    """Reads a text from left to right; ``token`` is what comes next, empty at the end."""

    def __init__(self, text: str) -> None:
        self.text = text.rstrip()
        self.at = self.depth = 0
        self.token = ""
        self._advance()

    def fault(self, why: str) -> ArithmeticTextError:
        shown = self.text if len(self.text) <= 60 else self.text[:59] + "…"
        return ArithmeticTextError(f"“{shown}” cannot be calculated: {why}.")

    def _advance(self) -> None:
        if self.at == len(self.text):
            self.token = ""
        elif (match := _TOKEN.match(self.text, self.at)) is not None:
            self.token, self.at = match[match.lastgroup or 0], match.end()
        else:
            raise self.fault(f"“{self.text[self.at :].lstrip()[:1]}” is neither a number nor + - * / ( )")

    def sum(self) -> float:
        value = self._product()
        while self.token in ("+", "-"):
            sign = self.token
            self._advance()
            other = self._product()
            value = value + other if sign == "+" else value - other
        return value

    def _product(self) -> float:
        value = self._factor()
        while self.token in ("*", "/"):
            sign = self.token
            self._advance()
            other = self._factor()
            value = value * other if sign == "*" else value / other
        return value

    def _factor(self) -> float:
        token = self.token
        if token in ("-", "+", "("):
            self.depth += 1
            if self.depth > _DEEPEST:
                raise self.fault("it is nested too deep")
            self._advance()
            if token == "(":
                value = self.sum()
                if self.token != ")":
                    raise self.fault("a “)” is missing")
                self._advance()
            else:
                value = self._factor() if token == "+" else -self._factor()
            self.depth -= 1
            return value
        if not token:
            raise self.fault("it ends too early")
        if token in ("*", "/", ")"):
            raise self.fault(f"“{token}” cannot stand there")
        self._advance()
        return float(token)


__all__ = ["LONGEST", "ArithmeticTextError", "evaluate"]
