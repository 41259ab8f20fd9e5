"""The published rolloutdev 0.2.0, which plays one rollout after the other: here, so many threads play at once."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from _measured import ORDER, QUESTION, REFUND, absent, measure

try:
    from rollout.env import Environment, Task

    from rollout import local
except ImportError as error:
    absent(f"rolloutdev 0.2.0 is not installed: {error}")

os.environ["AI_GATEWAY_API_KEY"] = "none"

ENVIRONMENT = Environment(
    slug="refund",
    name="Refund",
    template="workflow",
    config={
        "tools": [
            {
                "name": "get_order",
                "kind": "lookup",
                "fromArray": "orders",
                "matchField": "id",
                "paramsSchema": {"id": "string"},
            },
            {
                "name": "refund",
                "kind": "action",
                "stateArray": "refunds",
                "paramsSchema": {"order_id": "string", "amount": "number"},
            },
        ],
        "fixtures": {"orders": [ORDER]},
        "initialMutableState": {"refunds": []},
        "defaultVerifier": {
            "primitives": [{"name": "outcome", "type": "state_match", "expected": {"refunds": [REFUND]}}]
        },
    },
    tasks=[Task(QUESTION)],
)


def play(address: str, concurrency: int, rollouts: int) -> int:
    local.GATEWAY_URL = f"{address}/chat/completions"

    def one(_: int) -> bool:
        return bool(local.run_rollout(ENVIRONMENT, ENVIRONMENT.tasks[0], model="vendor/m").passed)

    with ThreadPoolExecutor(concurrency) as threads:
        return sum(threads.map(one, range(rollouts)))


measure("rolloutdev 0.2.0", play)
