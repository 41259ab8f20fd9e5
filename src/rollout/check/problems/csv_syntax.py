"""A CSV file does not have the form of a table.

The first row names the columns, and every row after it has a cell for each. A cell with a comma, a quote or a line
break in it stands in double quotes, and a quote inside is written twice. A row that is a cell short would shift its
values into other columns, so nothing is guessed.

Before:

    id,customer,amount
    O-1,Alice, Bob,100
    O-2,Carol

After:

    id,customer,amount
    O-1,"Alice, Bob",100
    O-2,Carol,
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL131"
SEVERITY = Severity.ERROR

_WORDS: dict[str, tuple[str, str]] = {
    "unclosed-quote": (
        "The cell that begins with this quote is never closed.",
        "Close it; write a quote inside twice.",
    ),
    "text-after-quote": (
        "Something follows the closing quote of a cell.",
        "Put the whole cell in quotes, and write a quote inside it twice.",
    ),
    "quote-inside": (
        "A quote stands inside a cell that does not begin with one.",
        'Put the whole cell in quotes, and write the quote twice: "a ""b"" c".',
    ),
    "column-without-name": ("A column has no name in the first row.", "Name it, or delete the column."),
}


def describe(problem: Problem) -> tuple[str, str | None]:
    kind = problem.facts["kind"]
    if kind != "row-length":
        return _WORDS[kind]
    cells, columns = problem.facts["cells"], problem.facts["columns"]
    message = f"This row has {_count(cells, 'cell')}, but the first row names {_count(columns, 'column')}."
    if cells > columns:
        return message, "Put a cell with a comma in it in double quotes, or name the column."
    return message, "Leave a cell empty where there is no value, but write its comma."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


__all__ = ["CODE", "SEVERITY", "describe"]
