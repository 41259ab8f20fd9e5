"""Places the nodes of a graph in rows, so that every arrow points down and few of them cross.

The method is Sugiyama's: rows by the longest way from the top, an invisible node wherever an arrow passes a row, an
order in each row by the mean of the neighbours, then positions near those neighbours without overlaps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_SWEEPS = 24


@dataclass(slots=True)
class Layout:
    """``rows`` from the top, ``x`` the middle of each node, ``ways`` the nodes that each arrow passes, ends too."""

    rows: list[list[str]]
    ways: dict[tuple[str, str], list[str]]
    x: dict[str, float] = field(default_factory=dict)


def arrange(arrows: Mapping[str, set[str]], *, width: Callable[[str], float], gap: float) -> Layout:
    """The layout of a graph without rings; invisible nodes have names with a space in them."""
    depth = _depths(arrows)
    rows: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name in sorted(arrows):
        rows[depth[name]].append(name)
    ways: dict[tuple[str, str], list[str]] = {}
    for above in sorted(arrows):
        for below in sorted(arrows[above]):
            passed = [f"{above} {below} {row}" for row in range(depth[above] + 1, depth[below])]
            for row, name in enumerate(passed, depth[above] + 1):
                rows[row].append(name)
            ways[above, below] = [above, *passed, below]
    up: dict[str, list[str]] = {name: [] for row in rows for name in row}
    down: dict[str, list[str]] = {name: [] for row in rows for name in row}
    for way in ways.values():
        for above, below in pairwise(way):
            up[below].append(above)
            down[above].append(below)
    layout = Layout(_fewest_crossings(rows, up, down), ways)
    _position(layout, up, down, width=width, gap=gap)
    return layout


def _depths(arrows: Mapping[str, set[str]]) -> dict[str, int]:
    """The row of each node: just below the lowest that points to it; in the last row what stands alone."""
    sources = {name: [other for other in arrows if name in arrows[other]] for name in arrows}
    depth: dict[str, int] = {}

    def find(name: str) -> int:
        if name not in depth:
            depth[name] = max((find(source) + 1 for source in sources[name]), default=0)
        return depth[name]

    last = max(map(find, arrows))
    return {name: depth[name] if arrows[name] or sources[name] else last for name in arrows}


def _fewest_crossings(
    rows: list[list[str]], up: Mapping[str, list[str]], down: Mapping[str, list[str]]
) -> list[list[str]]:
    best, fewest = rows, _crossings(rows, down)
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        rows = [list(row) for row in rows]
        for number in range(len(rows)) if downwards else reversed(range(len(rows))):
            fixed = number - 1 if downwards else number + 1
            if 0 <= fixed < len(rows):
                place = {name: index for index, name in enumerate(rows[fixed])}
                near = up if downwards else down
                own = {name: float(index) for index, name in enumerate(rows[number])}
                rows[number].sort(
                    key=lambda name: (_mean([place[each] for each in near[name]], own[name]), own[name])
                )
        _swap_neighbours(rows, down)
        if (count := _crossings(rows, down)) < fewest:
            best, fewest = rows, count
    return best


def _swap_neighbours(rows: list[list[str]], down: Mapping[str, list[str]]) -> None:
    """Swaps nodes that stand side by side as long as that takes crossings away."""
    fewest, better = _crossings(rows, down), True
    while better:
        better = False
        for row in rows:
            for place in range(len(row) - 1):
                row[place : place + 2] = reversed(row[place : place + 2])
                if (count := _crossings(rows, down)) < fewest:
                    fewest, better = count, True
                else:
                    row[place : place + 2] = reversed(row[place : place + 2])


def _crossings(rows: list[list[str]], down: Mapping[str, list[str]]) -> int:
    count = 0
    for above, below in pairwise(rows):
        place = {name: index for index, name in enumerate(below)}
        lines = [(index, place[each]) for index, name in enumerate(above) for each in down[name]]
        count += sum((a - c) * (b - d) < 0 for number, (a, b) in enumerate(lines) for c, d in lines[:number])
    return count


def _position(
    layout: Layout,
    up: Mapping[str, list[str]],
    down: Mapping[str, list[str]],
    *,
    width: Callable[[str], float],
    gap: float,
) -> None:
    for row in layout.rows:
        layout.x.update(_apart(row, [0.0] * len(row), width, gap))
    for sweep in range(_SWEEPS):
        near = up if sweep % 2 == 0 else down
        for row in layout.rows if sweep % 2 == 0 else reversed(layout.rows):
            wanted = [_mean([layout.x[each] for each in near[name]], layout.x[name]) for name in row]
            layout.x.update(_apart(row, wanted, width, gap))


def _apart(
    row: Sequence[str], wanted: Sequence[float], width: Callable[[str], float], gap: float
) -> dict[str, float]:
    """The positions nearest to those wanted (least squares) at which nothing overlaps: isotonic regression."""
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + (width(left) + width(right)) / 2 + gap)
    blocks: list[tuple[float, int]] = []
    for offset, place in zip(offsets, wanted, strict=True):
        total, count = place - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before = blocks.pop()
            total, count = total + before[0], count + before[1]
        blocks.append((total, count))
    starts = [total / count for total, count in blocks for _ in range(count)]
    return {name: start + offset for name, start, offset in zip(row, starts, offsets, strict=True)}


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default
