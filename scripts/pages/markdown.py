"""Small pieces of Markdown that cannot be broken by what they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence


def fence(text: str, language: str = "") -> str:
    """A code block around ``text``, with more backticks than any run in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip(chr(10))}\n{ticks}"


def code(text: str) -> str:
    """``text`` as code within a line."""
    ticks = "``" if "`" in text else "`"
    padding = " " if "`" in text else ""
    return f"{ticks}{padding}{text}{padding}{ticks}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; line breaks and bars in the cells are kept from ending them."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").strip() or " "
