"""Pay, to the cent."""

from decimal import Decimal


def gross_pay(minutes: int, hourly: str, *, night_minutes: int = 0, night_bonus: str = "0.25") -> Decimal:
    """What is due for ``minutes`` of work, of which ``night_minutes`` earn a bonus on top.

    ``hourly`` and ``night_bonus`` are decimals as text. Half a cent is rounded up, as the collective agreement says.
    """
    if night_minutes > minutes:
        raise ValueError("more night work than work")
    due = Decimal(hourly) * (minutes + Decimal(night_bonus) * night_minutes) / 60
    return round(due, 2)
