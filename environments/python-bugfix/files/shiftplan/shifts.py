"""Shifts of one day, in minutes after midnight; ``end`` is the first minute after the shift."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Shift:
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end <= 24 * 60:
            raise ValueError(f"no shift: {self.start} to {self.end}")


def overlaps(a: Shift, b: Shift) -> bool:
    """Whether somebody would have to be in two places at once."""
    return a.start <= b.end and b.start <= a.end


def merge(shifts: list[Shift]) -> list[Shift]:
    """The time covered by the shifts, as few shifts as possible, in order. Shifts that touch become one."""
    merged: list[Shift] = []
    for shift in sorted(shifts):
        if merged and shift.start <= merged[-1].end:
            merged[-1] = Shift(merged[-1].start, shift.end)
        else:
            merged.append(shift)
    return merged


def total_minutes(shifts: list[Shift]) -> int:
    """Minutes worked; time covered twice counts once."""
    return sum(shift.end - shift.start for shift in merge(shifts))
