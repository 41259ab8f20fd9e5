"""Works out times that another SQL dialect writes as arithmetic: ``NOW() - INTERVAL '3 months'``.

Months are counted as those databases count them: a month before 31 March is the last of February. SQLite would overflow
into March, so such times are worked out here, by the database's own clock, and written down.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlglot import exp

Moment = date | datetime

_DATES = {"DATE", "DATE32"}
_STAMPS = {
    "TIMESTAMP",
    "TIMESTAMPTZ",
    "TIMESTAMPLTZ",
    "TIMESTAMPNTZ",
    "DATETIME",
    "DATETIME2",
    "SMALLDATETIME",
}
_UNITS = {
    "microsecond": (0, timedelta(microseconds=1)),
    "millisecond": (0, timedelta(milliseconds=1)),
    "second": (0, timedelta(seconds=1)),
    "sec": (0, timedelta(seconds=1)),
    "minute": (0, timedelta(minutes=1)),
    "min": (0, timedelta(minutes=1)),
    "hour": (0, timedelta(hours=1)),
    "day": (0, timedelta(days=1)),
    "week": (0, timedelta(weeks=1)),
    "month": (1, timedelta()),
    "mon": (1, timedelta()),
    "quarter": (3, timedelta()),
    "year": (12, timedelta()),
}
_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time: whole months, and the rest."""

    months: int
    rest: timedelta

    def __neg__(self) -> Span:
        return Span(-self.months, -self.rest)

    def __add__(self, other: Span) -> Span:
        return Span(self.months + other.months, self.rest + other.rest)


def kind_of(kind: exp.DataType | None) -> str | None:
    """``date`` or ``stamp`` for the type of a column or a cast that holds times, else None."""
    name = kind.this.name if kind is not None and hasattr(kind.this, "name") else ""
    return "date" if name in _DATES else "stamp" if name in _STAMPS else None


def written(moment: Moment, kind: str | None = None) -> str:
    """A moment as SQLite's own functions write it; ``kind`` is what it is stored as, its own unless given."""
    is_stamp = isinstance(moment, datetime) if kind is None else kind == "stamp"
    if not is_stamp:
        return (moment.date() if isinstance(moment, datetime) else moment).isoformat()
    stamp = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    return stamp.isoformat(" ")


def read_moment(text: str) -> Moment | None:
    """The date or time that a literal says; None when it is not written by ISO 8601. A zone is reckoned to UTC."""
    try:
        if re.fullmatch(r"\s*\d{4}-\d\d-\d\d\s*", text):
            return date.fromisoformat(text.strip())
        # PostgreSQL writes a zone as +02, Python wants minutes.
        stamp = datetime.fromisoformat(re.sub(r"([+-]\d\d)$", r"\1:00", text.strip()))
        return stamp if stamp.tzinfo is None else stamp.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def work_out(node: Any, now: datetime) -> Moment | Span | None:
    """The moment or the span that an expression of constants comes to; None for any other expression."""
    try:
        return _worked_out(node, now)
    except (ValueError, OverflowError):
        return None  # half a day, or no moment that a calendar has


def _worked_out(node: Any, now: datetime) -> Moment | Span | None:
    if isinstance(node, exp.Paren):
        return _worked_out(node.this, now)
    if isinstance(node, exp.CurrentDate):
        return now.date()
    if isinstance(node, exp.CurrentTimestamp | exp.CurrentDatetime | exp.Localtimestamp):
        return now
    if isinstance(node, exp.Interval):
        return _span(node)
    if isinstance(node, exp.Cast | exp.TryCast):
        return _cast(node, now)
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc):
        return _truncated(_worked_out(node.this, now), node.args["unit"].name.lower())
    if isinstance(node, exp.Add | exp.Sub):
        return _sum(node, now)
    if isinstance(node, exp.DateAdd | exp.DateSub | exp.DatetimeAdd | exp.DatetimeSub):
        moment, span = _worked_out(node.this, now), _added(node, now)
        if isinstance(span, Span) and isinstance(moment, date):
            return _moved(moment, -span if isinstance(node, exp.DateSub | exp.DatetimeSub) else span)
    return None


def _added(node: Any, now: datetime) -> Moment | Span | None:
    if isinstance(node.expression, exp.Interval):
        return _span(node.expression)
    unit = node.args.get("unit")
    return _span(exp.Interval(this=node.expression.copy(), unit=unit.copy() if unit else None))


def _sum(node: exp.Add | exp.Sub, now: datetime) -> Moment | Span | None:
    left, right = _worked_out(node.left, now), _worked_out(node.right, now)
    minus = isinstance(node, exp.Sub)
    if isinstance(left, Span) and isinstance(right, Span):
        return left + (-right if minus else right)
    if isinstance(left, date) and isinstance(right, Span):
        return _moved(left, -right if minus else right)
    if isinstance(left, Span) and isinstance(right, date) and not minus:
        return _moved(right, left)
    # A date and a number: so many days.
    if type(left) is date and isinstance(node.right, exp.Literal) and not node.right.is_string:
        days = timedelta(days=int(node.right.name))
        return left - days if minus else left + days
    return None


def _cast(node: exp.Cast | exp.TryCast, now: datetime) -> Moment | Span | None:
    kind = kind_of(node.to)
    if kind is None:
        return None
    inner = node.this
    moment = (
        read_moment(inner.name)
        if isinstance(inner, exp.Literal) and inner.is_string
        else _worked_out(inner, now)
    )
    if not isinstance(moment, date):
        return None
    if kind == "date":
        return moment.date() if isinstance(moment, datetime) else moment
    return moment if isinstance(moment, datetime) else datetime.combine(moment, time())


def _span(node: exp.Interval) -> Span | None:
    amount = node.this
    if isinstance(amount, exp.Neg):
        text = f"-{amount.this.name}"
    elif isinstance(amount, exp.Literal):
        text = amount.name
    else:
        return None
    unit = node.args.get("unit")
    if unit is not None:
        text = f"{text} {unit.name}"
    total, at = Span(0, timedelta()), 0
    while at < len(text):
        part = _PART.match(text, at)
        known = _UNITS.get(part[2].lower().removesuffix("s")) if part else None
        if part is None or known is None:
            return None
        months = float(part[1]) * known[0]
        if not months.is_integer():
            return None
        total += Span(int(months), float(part[1]) * known[1])
        at = part.end()
    return total


def _moved(moment: Moment, span: Span) -> Moment | None:
    stamp = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    months = stamp.year * 12 + stamp.month - 1 + span.months
    year, month = divmod(months, 12)
    try:
        day = min(stamp.day, monthrange(year, month + 1)[1])
        return stamp.replace(year=year, month=month + 1, day=day) + span.rest
    except (ValueError, OverflowError):
        return None


def _truncated(moment: Moment | Span | None, unit: str) -> Moment | None:
    if not isinstance(moment, date):
        return None
    stamp = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    day = datetime.combine(stamp.date(), time())
    if unit in ("week", "isoweek") or unit.startswith("week("):
        return day - timedelta(days=day.weekday())
    starts = {
        "year": day.replace(month=1, day=1),
        "quarter": day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
        "month": day.replace(day=1),
        "day": day,
        "hour": stamp.replace(minute=0, second=0, microsecond=0),
        "minute": stamp.replace(second=0, microsecond=0),
        "second": stamp.replace(microsecond=0),
    }
    return starts.get(unit)


__all__ = ["Moment", "Span", "kind_of", "read_moment", "work_out", "written"]
