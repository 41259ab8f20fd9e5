"""A terminal with what a command really prints, colours and all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from pictures.svg import MONO, document, element

_COLUMN, _LINE, _MARGIN, _BAR = 8.4, 20.0, 22.0, 38.0
_SEQUENCE = re.compile(r"\x1b\[([\d;]*)m")
_CLASSES = {"1": "strong", "2": "dim", "31": "red", "32": "green", "33": "yellow", "34": "blue", "36": "cyan"}
# A terminal is dark on light paper too; the line around it keeps it apart from dark paper.
_STYLE = f"""
text {{ font: 14px {MONO}; fill: #d5dbe5; white-space: pre; }}
.window {{ fill: #12161f; stroke: #3a4354; }}
.bar {{ fill: #1c2230; }}
.name {{ fill: #8b95a7; font-size: 13px; }}
.prompt {{ fill: #6fd08c; font-weight: 700; }}
.typed, .strong {{ fill: #ffffff; font-weight: 700; }}
.dim {{ fill: #8b95a7; }}
.red {{ fill: #ff7b72; }}
.green {{ fill: #6fd08c; }}
.yellow {{ fill: #f2c55c; }}
.blue {{ fill: #6ea8fe; }}
.cyan {{ fill: #5fd3d9; }}
"""


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one style, and the column that it begins at, from 0."""

    column: int
    text: str
    style: str


def draw(folder: Path, command: list[str]) -> str:
    """The picture of ``command``, run in ``folder``. Raises RuntimeError when it says nothing."""
    lines = [
        [Run(0, "$", "prompt"), Run(2, " ".join(command), "typed")],
        *(list(read_runs(line)) for line in printed(folder, command)),
    ]
    columns = max(run.column + len(run.text) for line in lines for run in line)
    width = 2 * _MARGIN + columns * _COLUMN
    height = _BAR + len(lines) * _LINE + _MARGIN
    body = [
        element("rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=10, class_="window"),
        element(
            "path",
            d=f"M1 {_BAR:g}V11A10 10 0 0 1 11 1H{width - 11:g}A10 10 0 0 1 {width - 1:g} 11V{_BAR:g}Z",
            class_="bar",
        ),
        *(
            element("circle", cx=_MARGIN + 6 + 20 * place, cy=_BAR / 2, r=6, fill=colour)
            for place, colour in enumerate(("#ff6159", "#ffbd2e", "#28c941"))
        ),
        element(
            "text",
            escape(" ".join(command)),
            x=width / 2,
            y=_BAR / 2 + 5,
            class_="name",
            text_anchor="middle",
        ),
    ]
    for number, line in enumerate(lines):
        body += [_text(run, _BAR + (number + 1) * _LINE + 4) for run in line if run.text.strip()]
    return document(width, height, title=f"What “{' '.join(command)}” prints", style=_STYLE, body=body)


def printed(folder: Path, command: list[str]) -> list[str]:
    """The lines that ``command`` prints in colour, whatever it ends with."""
    ended = subprocess.run(
        [Path(sys.executable).parent / command[0], *command[1:]],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "FORCE_COLOR": "1", "COLUMNS": "112", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if not ended.stdout:
        raise RuntimeError(f"“{' '.join(command)}” printed nothing.")
    return ended.stdout.decode("utf-8").rstrip("\n").split("\n")


def read_runs(line: str) -> Iterator[Run]:
    """The stretches of a line that are of one style, without the escape sequences that say so."""
    column, style = 0, ""
    for place, piece in enumerate(_SEQUENCE.split(line)):
        if place % 2:
            style = " ".join(_CLASSES[code] for code in piece.split(";") if code in _CLASSES)
        elif piece:
            yield Run(column, piece, style)
            column += len(piece)


def _text(run: Run, y: float) -> str:
    inner = run.text.strip(" ")
    column = run.column + len(run.text) - len(run.text.lstrip(" "))
    # The length in columns is given, so that everything stands where it should whatever font there is.
    place = {"x": _MARGIN + column * _COLUMN, "y": y, "textLength": len(inner) * _COLUMN}
    return element(
        "text", escape(inner, quote=False), **place, **({"class_": run.style} if run.style else {})
    )
