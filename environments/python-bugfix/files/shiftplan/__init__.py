"""Working times, from what people type to what payroll reads."""

from shiftplan.durations import format_minutes, parse_duration
from shiftplan.pay import gross_pay
from shiftplan.report import to_csv
from shiftplan.shifts import Shift, merge, overlaps, total_minutes
from shiftplan.workdays import add_workdays, week_label

__all__ = [
    "Shift",
    "add_workdays",
    "format_minutes",
    "gross_pay",
    "merge",
    "overlaps",
    "parse_duration",
    "to_csv",
    "total_minutes",
    "week_label",
]
