"""The house: the packages of src/rollout from the command line down, with an arrow for what imports what."""

from __future__ import annotations

import textwrap
from html import escape
from itertools import pairwise
from pathlib import Path

from pictures.imports import Package, read_packages, without_shortcuts
from pictures.layers import Layout, arrange
from pictures.svg import MONO, SANS, document, element

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 238.0, 80.0, 28.0, 54.0, 32.0
_PASSING = 12.0
_PORT = 22.0
_WRAP = 36
_HUES = ("#8b5cf6", "#6d6af8", "#4f7df3", "#2f90e0", "#159fc2", "#0fa89c", "#1fab73", "#58a646", "#93972e")
_STYLE = f"""
.paper {{ fill: #ffffff; stroke: #d5dce8; }}
.box {{ fill: #f5f7fb; stroke: #cbd4e2; }}
.name {{ font: 600 15px {MONO}; fill: #172033; }}
.purpose {{ font: 12px {SANS}; fill: #4b5870; }}
.arrow {{ fill: none; stroke: #8b97ab; stroke-width: 1.5; }}
.head {{ fill: #8b97ab; }}
@media (prefers-color-scheme: dark) {{
  .paper {{ fill: #0f141d; stroke: #2d3646; }}
  .box {{ fill: #1a212e; stroke: #364154; }}
  .name {{ fill: #eef2f8; }}
  .purpose {{ fill: #a9b4c6; }}
  .arrow {{ stroke: #6f7d94; }}
  .head {{ fill: #6f7d94; }}
}}
"""


def draw(folder: Path) -> str:
    """The picture of the packages in ``folder``. Raises ValueError when they import each other in a ring."""
    packages = read_packages(folder)
    layout = arrange(
        without_shortcuts(packages), width=lambda name: _PASSING if " " in name else _WIDTH, gap=_ACROSS
    )
    row_of = {name: number for number, row in enumerate(layout.rows) for name in row}
    left = min(layout.x[name] - _WIDTH / 2 for name in packages) - _MARGIN
    right = max(layout.x[name] + _WIDTH / 2 for name in packages) + _MARGIN
    layout.x = {name: x - left for name, x in layout.x.items()}
    top = {name: _MARGIN + row * (_HEIGHT + _DOWN) for name, row in row_of.items()}
    width, height = right - left, 2 * _MARGIN + len(layout.rows) * (_HEIGHT + _DOWN) - _DOWN
    marker = element(
        "marker",
        element("path", d="M0 0L10 5L0 10Z", class_="head"),
        id="head",
        viewBox="0 0 10 10",
        refX=9,
        refY=5,
        markerWidth=7,
        markerHeight=7,
        orient="auto",
    )
    body = [
        element("defs", marker),
        element("rect", x=0.5, y=0.5, width=width - 1, height=height - 1, rx=12, class_="paper"),
        *_arrows(layout, top),
    ]
    for name, package in packages.items():
        body += _box(
            package, layout.x[name] - _WIDTH / 2, top[name], _HUES[min(row_of[name], len(_HUES) - 1)]
        )
    return document(
        width, height, title="The packages of rollout and what they import", style=_STYLE, body=body
    )


def _box(package: Package, x: float, y: float, hue: str) -> list[str]:
    lines = textwrap.wrap(package.purpose, _WRAP, max_lines=3, placeholder=" …")
    return [
        element("rect", x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=8, class_="box"),
        element("rect", x=x + 8, y=y + 11, width=3.5, height=_HEIGHT - 22, rx=1.7, fill=hue),
        element("text", escape(package.name), x=x + 22, y=y + 23, class_="name"),
        *(
            element("text", escape(line, quote=False), x=x + 22, y=y + 40 + 15 * number, class_="purpose")
            for number, line in enumerate(lines)
        ),
    ]


def _arrows(layout: Layout, top: dict[str, float]) -> list[str]:
    """Every arrow: from the foot of a box to the head of another, upright where it passes a row."""
    leave = _ports(layout, out=True)
    arrive = _ports(layout, out=False)
    drawn: list[str] = []
    for ends, way in layout.ways.items():
        points = [(leave[ends], top[way[0]] + _HEIGHT)]
        for name in way[1:-1]:
            points += [(layout.x[name], top[name]), (layout.x[name], top[name] + _HEIGHT)]
        points.append((arrive[ends], top[way[-1]] - 2))
        path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
        for number, ((x0, y0), (x1, y1)) in enumerate(pairwise(points)):
            half = (y1 - y0) * 0.55
            path += (
                f"V{y1:.1f}"
                if number % 2
                else f"C{x0:.1f} {y0 + half:.1f} {x1:.1f} {y1 - half:.1f} {x1:.1f} {y1:.1f}"
            )
        drawn.append(element("path", d=path, class_="arrow", marker_end="url(#head)"))
    return drawn


def _ports(layout: Layout, *, out: bool) -> dict[tuple[str, str], float]:
    """Where each arrow meets its box: side by side, in the order of where they come from or go to."""
    sides: dict[str, list[tuple[float, tuple[str, str]]]] = {}
    for ends, way in layout.ways.items():
        own, other = (way[0], way[1]) if out else (way[-1], way[-2])
        sides.setdefault(own, []).append((layout.x[other], ends))
    return {
        ends: layout.x[own] + (number - (len(side) - 1) / 2) * _PORT
        for own, side in sides.items()
        for number, (_, ends) in enumerate(sorted(side))
    }
