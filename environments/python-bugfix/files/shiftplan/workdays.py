"""Working days and the labels of weeks."""

from datetime import date, timedelta


def add_workdays(start: date, days: int, *, holidays: list[date] | None = None, _closed: set[date] = set()) -> date:
    """The date that is ``days`` working days after ``start``; weekends and ``holidays`` do not count."""
    if days < 0:
        raise ValueError("days must not be negative")
    _closed.update(holidays or ())
    current = start
    while days > 0:
        current += timedelta(days=1)
        if current.weekday() < 5 and current not in _closed:
            days -= 1
    return current


def week_label(day: date) -> str:
    """The ISO week of a day, such as ``2024-W09``."""
    return f"{day.year}-W{day.isocalendar().week:02d}"
