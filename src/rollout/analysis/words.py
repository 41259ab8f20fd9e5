"""How figures are written for people: rates, scores and large numbers, never rounded to more than they are."""

from __future__ import annotations


def percent(rate: float) -> str:
    """A rate from 0 to 1 in percent, with one place: ``29.9 %``."""
    # 99.96 % is not all of them, and 0.04 % is not none.
    text = f"{rate * 100:.1f}".removesuffix(".0")
    if (text == "100" and rate < 1) or (text == "0" and rate > 0):
        text = f"{rate * 100:.3g}" if rate < 0.5 else "over 99.9"
    return f"{text} %"


def number(value: float) -> str:
    """A score or weight as a person writes it: at most three places, never rounded up to a full 1.

    One of more than 15 digits, which no float tells apart, is written with its power of ten: ``1e+308``.
    """
    if 0.9995 <= value < 1:
        return "just under 1"
    if abs(value) >= 1e15:
        return f"{value:g}"
    return f"{value:.3f}".rstrip("0").rstrip(".")


def short(amount: int) -> str:
    """A large number in three digits or fewer: ``12k``, ``3.4M``."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if amount >= size:
            value = amount / size
            return f"{value:.1f}{unit}" if value < 10 else f"{value:.0f}{unit}"
    return str(amount)


__all__ = ["number", "percent", "short"]
