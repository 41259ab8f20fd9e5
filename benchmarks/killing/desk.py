"""The environments that are pushed while something is killed, and the model that acts in them.

What the model does follows from the instruction alone, so a run comes out the same whatever is killed meanwhile.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

from servers.chat import Act, Connection, call, completion, http

TASKS = 4


def write(folder: Path, slug: str, version: int) -> Path:
    """Writes a version of an environment, as its author would; gives its folder."""
    home = folder / slug
    home.mkdir(exist_ok=True)
    # JSON is YAML.
    (home / "environment.yaml").write_text(json.dumps(_environment(slug, version), indent=2))
    return home


def _environment(slug: str, version: int) -> Any:
    return {
        "slug": slug,
        "template": "workflow",
        "name": f"Desk, version {version}",
        "config": {
            "tools": [
                {"name": "get_order", "kind": "lookup", "fixturePath": "orders.${args.id}"},
                {
                    "name": "refund",
                    "kind": "action",
                    "stateArray": "refunds",
                    "paramsSchema": {"id": "string", "amount": "number"},
                },
            ],
            "fixtures": {"orders": {f"O-{task}": {"amount": 100 + task} for task in range(TASKS)}},
            "initialMutableState": {"refunds": []},
        },
        "verifier": {
            "passThreshold": 0.8,
            "primitives": [
                {"name": "outcome", "type": "ground_truth_match", "weight": 3},
                {"name": "no failed calls", "type": "no_tool_errors"},
            ],
        },
        "tasks": [
            {
                "id": f"order-{task}",
                "instruction": f"Refund order O-{task} for ${100 + task}, by rule {version}.",
                "hidden_ground_truth": {"refunds": [{"id": f"O-{task}", "amount": 100 + task}]},
            }
            for task in range(TASKS)
        ],
    }


def acts(latency: float) -> Act:
    """Looks up the order, refunds it, sometimes wrongly, and says so; or only says so."""

    def answer(connection: Connection) -> None:
        server = connection.server
        asked = next(each for each in reversed(server.asked) if each.connection == connection.number)
        server.closing.wait(latency)
        http(200, _turn(asked.body["messages"]))(connection)

    return answer


def _turn(messages: Any) -> Any:
    instruction = next(str(each["content"]) for each in messages if each["role"] == "user")
    turn = sum(each["role"] == "assistant" for each in messages)
    order = int(instruction.partition("order O-")[2][0])
    whim = zlib.crc32(instruction.encode()) % 4
    if turn == 0 and whim < 3:
        return completion(calls=[call("get_order", json.dumps({"id": f"O-{order}"}), "call_1")])
    if turn == 1:
        refund = {"id": f"O-{order}", "amount": 100 + order - (whim == 2)}
        return completion(calls=[call("refund", json.dumps(refund), "call_2")])
    return completion("It is refunded.")


__all__ = ["TASKS", "acts", "write"]
