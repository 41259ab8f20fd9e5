"""verifiers' StatefulToolEnv, whose rollouts are coroutines of this process, as `evaluate` plays them.

Later ones (0.4.0) start a program for each rollout, which is another thing; the last that has it is of 0.1.
"""

from __future__ import annotations

import asyncio
import os
from importlib.metadata import version
from typing import Any

from _measured import ORDER, QUESTION, REFUND, absent, measure

try:
    from datasets import Dataset
    from verifiers import Rubric, StatefulToolEnv
    from verifiers.types import ClientConfig
except ImportError as error:
    absent(f"verifiers 0.1 is not installed: {error}")

os.environ["HERE_API_KEY"] = "none"


def get_order(id: str) -> str:
    """Shows an order."""
    return str(ORDER) if id == ORDER["id"] else "There is no such order."


def refund(order_id: str, amount: float, refunds: list[Any]) -> str:
    """Refunds an order."""
    refunds.append({"order_id": order_id, "amount": amount})
    return "done"


def outcome(state: dict[str, Any]) -> float:
    return float(state.get("refunds") == [REFUND])


class Refunds(StatefulToolEnv):  # type: ignore[misc]
    def update_tool_args(
        self, tool_name: str, tool_args: dict[str, Any], messages: Any, state: Any, **_: Any
    ) -> dict[str, Any]:
        if tool_name == "refund":
            tool_args["refunds"] = state.setdefault("refunds", [])
        return tool_args


def play(address: str, concurrency: int, rollouts: int) -> int:
    environment = Refunds(
        eval_dataset=Dataset.from_list([{"question": QUESTION, "answer": ""}] * rollouts),
        rubric=Rubric(funcs=[outcome]),
    )
    environment.add_tool(get_order)
    environment.add_tool(refund, args_to_skip=["refunds"])
    client = ClientConfig(api_key_var="HERE_API_KEY", api_base_url=address)
    results = asyncio.run(environment.evaluate(client, "m", max_concurrent=concurrency))
    return sum(output["reward"] == 1.0 for output in results["outputs"])


measure(f"verifiers {version('verifiers')}", play)
