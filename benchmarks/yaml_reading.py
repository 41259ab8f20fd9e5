"""What values with places cost: our YAML reader beside libyaml's bare events and `yaml.load` with `CSafeLoader`."""

from __future__ import annotations

import random
from pathlib import Path

import yaml
from yaml._yaml import CParser

from measure import Limit, ratio, report, time_in_turn
from rollout.source.text import SourceFile
from rollout.source.yaml import parse

EVENTS = "libyaml, bare events"
LOADER = "yaml.load, CSafeLoader"
OURS = "rollout.source.yaml.parse"


def main() -> None:
    text = write_orders(8_000)
    measured = time_in_turn(
        {
            EVENTS: lambda: read_events(text),
            LOADER: lambda: yaml.load(text, Loader=yaml.CSafeLoader),
            OURS: lambda: read_with_places(text),
        },
        repeat=5,
    )
    best = {entry.name: entry.best for entry in measured}
    limits = [
        Limit("ours / bare events", ratio(measured, OURS, EVENTS), 3),
        Limit("ours / CSafeLoader", ratio(measured, OURS, LOADER), 1),
    ]
    megabytes = len(text.encode()) / 1e6
    report(
        f"YAML ({megabytes:.1f} MB; ours reads {megabytes / best[OURS]:.1f} MB a second)", measured, limits
    )


def read_events(text: str) -> None:
    parser = CParser(text)
    while parser.get_event() is not None:
        pass


def read_with_places(text: str) -> None:
    problems: list[object] = []
    parsed = parse(SourceFile(Path("orders.yaml"), "orders.yaml", text), problems)  # type: ignore[arg-type]
    assert parsed is not None and not problems


def write_orders(number: int) -> str:
    """Orders as a fixture has them: block and flow style, quoted and plain, numbers, dates, comments."""
    draw = random.Random(7)
    names = ["Alice Whitcombe", "Søren Kjærgaard", "Mikołaj Wójcik", "Zoë van den Berg", "陳美玲"]
    lines = ["# Orders of the last quarter", "orders:"]
    for order in range(number):
        lines += [
            f"  - id: O-{order}",
            f"    customer: {draw.choice(names)}",
            f'    note: "Left at the door; call {draw.randrange(10**6)} first"',
            f"    placed: 2025-03-{draw.randrange(1, 29):02}",
            f"    total: {draw.randrange(100, 99_999) / 100}",
            f"    gift: {draw.choice(['true', 'false'])}",
            "    items:",
            *(
                f"      - {{sku: SKU-{draw.randrange(10**4)}, count: {draw.randrange(1, 5)}}}"
                for _ in range(draw.randrange(1, 4))
            ),
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
