"""The way out for a word in double quotes that is no column of a database."""

from __future__ import annotations

from collections.abc import Mapping

from rollout.check.wording import closest, quoted, suggestion


def columns_of(tables: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The names of all columns, each once."""
    return sorted({column for columns in tables.values() for column in columns})


def instead_of(word: str, tables: Mapping[str, tuple[str, ...]]) -> str:
    """What to write for ``word``: the column that was meant, or the text."""
    # A view that takes the word for a text has a column of that name.
    near = closest(word, [each for each in columns_of(tables) if each != f'"{word}"'])
    text = "'" + word.replace("'", "''") + "'"
    return suggestion(near, word) if near else f"For the text, write {quoted(text)}, in single quotes."


__all__ = ["columns_of", "instead_of"]
