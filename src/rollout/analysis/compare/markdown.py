"""A comparison as Markdown, for a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rollout.analysis.compare import Comparison, Pair
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
from rollout.diagnostics._visible import visible

MOST_TASKS = 20
"""So many tasks of a kind are listed; a comment that nobody can read says nothing."""

_MARKUP = re.compile(r"([\\`*_\[\]<>|~&])")
_LINKING = re.compile("([@#])")


def markdown(comparison: Comparison) -> str:
    """The comparison as one text, which ends in a line break. What others wrote cannot become markup in it."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    before, after = comparison.baseline, comparison.trained
    yield f"### {_text(before.environment)}: {_code(before.model)} → {_code(after.model)}"
    yield ""
    yield f"**{_text(headline(comparison))}**"
    for sentence in answers(comparison):
        yield ""
        yield _text(sentence)
    yield ""
    figures = list(rows(comparison))
    if figures:
        yield "| | tasks | baseline | trained | difference | |"
        yield "|---|--:|--:|--:|--:|--:|"
        for row in figures:
            cells = (_text(row.name), f"{row.tasks:,}", row.baseline, row.trained, row.difference, row.p)
            yield f"| {' | '.join(cells)} |"
        yield ""
    found = grouped(comparison.pairs)
    yield from _tasks("Worse", found.worse)
    yield from _tasks("Better", found.better)
    if found.same:
        yield f"{alike(found.same)}."
        yield ""
    for which, tally in (("Baseline", before), ("Trained", after)):
        yield f"- {which}, {_code(tally.label)}: {_text(tally_words(tally))}"
    for sentence in (*notes(comparison), *power(comparison)):
        yield f"- {_text(sentence)}"
    yield ""
    yield f"<sub>{_text(' '.join(METHOD))}</sub>"


def _tasks(title: str, pairs: Sequence[Pair]) -> Iterator[str]:
    if not pairs:
        return
    yield f"**{title}: {count(len(pairs), 'task')}**"
    yield ""
    yield "| task | passed | points | score |"
    yield "|---|--:|--:|--:|"
    for pair in pairs[:MOST_TASKS]:
        low, high = (points(end) for end in ends(pair.interval))
        yield (
            f"| {_cell(pair.name)} | {tries(pair)} | {points(pair.difference)} ({low} to {high}) "
            f"| {signed(pair.score_difference)} |"
        )
    yield ""
    if len(pairs) > MOST_TASKS:
        yield f"… {len(pairs) - MOST_TASKS:,} more."
        yield ""


def _text(text: str) -> str:
    """A text without markup. A comment that says nothing keeps ``@name`` and ``#1`` from being links."""
    return _LINKING.sub(r"\1<!-- -->", _MARKUP.sub(r"\\\1", visible(text)))


def _cell(text: str) -> str:
    """A text as code in a table, where a bar would end the cell, in code too."""
    return _code(text).replace("|", "\\|")


def _code(text: str) -> str:
    """A text as code, in which nothing is markup."""
    shown = visible(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    blank = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{blank}{shown}{blank}{fence}"


__all__ = ["MOST_TASKS", "markdown"]
