"""What `rollout compare` shows to people: the answer, the figures, and the tasks, regressions first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from rollout.analysis.compare import Comparison, Direction, Pair
from rollout.analysis.compare.groups import grouped, rows
from rollout.analysis.compare.words import (
    METHOD,
    alike,
    answers,
    count,
    ends,
    headline,
    notes,
    points,
    power,
    signed,
    tally_words,
    tries,
)
from rollout.cli.output import visible

MOST_TASKS = 20
"""So many tasks of a kind are shown, unless all are asked for."""

_COLORS = {
    Direction.BETTER: "\x1b[1;32m",
    Direction.WORSE: "\x1b[1;31m",
    Direction.MIXED: "\x1b[1;31m",
    Direction.UNDECIDED: "\x1b[1;33m",
}


def text_lines(comparison: Comparison, *, color: bool, all_tasks: bool) -> Iterator[str]:
    """The comparison, line by line."""
    before, after = comparison.baseline, comparison.trained
    yield f"{visible(before.environment)}: {visible(before.model)} → {visible(after.model)}"
    for name, tally in (("baseline", before), ("trained", after)):
        yield f"  {name:<8}  {visible(tally.label)}: {tally_words(tally)}"
    yield ""
    answer = visible(headline(comparison))
    yield f"{_COLORS[comparison.direction]}{answer}\x1b[0m" if color else answer
    yield from (visible(sentence) for sentence in answers(comparison))
    figures = [(row.name, f"{row.tasks:,}", *row[2:]) for row in rows(comparison)]
    if figures:
        yield ""
        yield from _table([("", "tasks", "baseline", "trained", "difference", ""), *figures])
    found = grouped(comparison.pairs)
    most = len(comparison.pairs) if all_tasks else MOST_TASKS
    for title, pairs in (("Worse", found.worse), ("Better", found.better)):
        if pairs:
            yield ""
            yield f"{title}: {count(len(pairs), 'task')}"
            yield from _table([_cells(pair) for pair in pairs[:most]])
            if len(pairs) > most:
                yield f"  … {len(pairs) - most:,} more, shown by --all"
    if found.same:
        yield ""
        yield alike(found.same)
    said = [*notes(comparison), *power(comparison)]
    yield ""
    yield from (visible(sentence) for sentence in said)
    if comparison.pairs:
        yield from METHOD


def _cells(pair: Pair) -> tuple[str, ...]:
    low, high = (points(end) for end in ends(pair.interval))
    return (
        pair.name,
        tries(pair),
        f"{points(pair.difference)} points ({low} to {high})",
        f"score {signed(pair.score_difference)}",
    )


def _table(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    shown = [[visible(cell) for cell in row] for row in cells]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*shown, strict=True)]
    for row in shown:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(padded)}".rstrip()


__all__ = ["MOST_TASKS", "text_lines"]
