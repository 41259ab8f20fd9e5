"""How long 200,000 tasks take to validate beside a loop of `json.loads` over the same lines, and how much memory."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import Limit, command, ratio, report, rollout, time_in_turn

LINES = 200_000
PEER = "python: for line in file: json.loads(line)"
VALIDATE = f"rollout validate ({LINES:,} lines of tasks.jsonl)"
WORDS = "please refund the parcel that came late broken twice to my card and tell me when it is done"
LOOP = """
import json, sys
with open(sys.argv[1], "rb") as lines:
    for line in lines:
        json.loads(line)
"""


def main() -> None:
    with TemporaryDirectory() as temporary:
        folder = write_environment(Path(temporary) / "many")
        tasks = folder / "tasks.jsonl"
        measured = time_in_turn(
            {
                PEER: command(sys.executable, "-c", LOOP, tasks),
                VALIDATE: command(rollout(), "validate", folder),
            },
            repeat=5,
        )
        memory = peak_memory(
            lambda: subprocess.Popen([rollout(), "validate", folder], stdout=subprocess.DEVNULL)
        )
        limits = [
            Limit("validate / json.loads", ratio(measured, VALIDATE, PEER), 2.5),
            Limit("peak resident memory", memory / 1e6, 300, " MB"),
        ]
        size = tasks.stat().st_size / 1e6
        report(f"Tasks ({LINES:,} lines, {size:.0f} MB)", measured, limits)


def write_environment(folder: Path) -> Path:
    """A refund desk with very many tasks, as a generator of tasks would write them; the same ones every time."""
    folder.mkdir()
    (folder / "environment.yaml").write_text("name: Many\ntemplate: workflow\n", encoding="utf-8")
    (folder / "config.yaml").write_text(
        "tools:\n"
        "  - {name: get_order, kind: lookup, fromArray: orders, matchField: id, paramsSchema: {id: string}}\n"
        "  - {name: refund, kind: action, stateArray: refunds,"
        " paramsSchema: {order_id: string, amount: number}}\n"
        "fixtures:\n"
        "  orders: [{id: O-1, customer: Alice, amount: 100}]\n"
        "initialMutableState: {refunds: []}\n",
        encoding="utf-8",
    )
    draw = random.Random(7)
    words = WORDS.split()
    with (folder / "tasks.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(LINES):
            order, amount = f"O-{draw.randrange(10**6)}", draw.randrange(100, 99_999) / 100
            task = {
                "id": f"task-{number}",
                "instruction": f"Order {order}: " + " ".join(draw.choices(words, k=draw.randrange(8, 40))),
                "input": {"today": f"2025-03-{draw.randrange(1, 29):02}", "customer": draw.choice(words)},
                "hidden_ground_truth": {"refunds": [{"order_id": order, "amount": amount}]},
                "split": draw.choice(["dev", "test", "train"]),
            }
            lines.write(json.dumps(task, ensure_ascii=False) + "\n")
    return folder


def peak_memory(start: Callable[[], subprocess.Popen[bytes]]) -> int:
    """The largest resident size of the process, in bytes."""
    process = start()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"the process ended with {process.returncode}")
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
