"""The monthly file for payroll."""

from collections.abc import Iterable

from shiftplan.durations import format_minutes

COLUMNS = ("name", "time", "gross")


def to_csv(rows: Iterable[tuple[str, int, str]]) -> str:
    """One line a person, header first: name, time as ``7:30``, gross pay. Lines end in ``\\n``.

    Fields that need it are quoted as RFC 4180 says.
    """
    lines = [",".join(COLUMNS)]
    for name, minutes, gross in rows:
        lines.append(f"{name},{format_minutes(minutes)},{gross}")
    return "\n".join(lines) + "\n"
