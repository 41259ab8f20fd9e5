"""inspect_ai as it comes: `eval` with two tools, a scorer that looks at the store, and its log."""

from __future__ import annotations

import os
from importlib.metadata import version
from tempfile import TemporaryDirectory

from _measured import ORDER, QUESTION, REFUND, absent, measure

try:
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer
    from inspect_ai.solver import TaskState, generate, use_tools
    from inspect_ai.tool import Tool, tool
    from inspect_ai.util import store
except ImportError as error:
    absent(f"inspect_ai is not installed: {error}")

os.environ["HERE_API_KEY"] = "none"


@tool
def get_order() -> Tool:
    async def execute(id: str) -> str:
        """Shows an order.

        Args:
            id: The order's number.
        """
        return str(ORDER) if id == ORDER["id"] else "There is no such order."

    return execute


@tool
def refund() -> Tool:
    async def execute(order_id: str, amount: float) -> str:
        """Refunds an order.

        Args:
            order_id: The order's number.
            amount: How much.
        """
        store().set("refunds", [*store().get("refunds", []), {"order_id": order_id, "amount": amount}])
        return "done"

    return execute


@scorer(metrics=[accuracy()])
def outcome() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=CORRECT if state.store.get("refunds") == [REFUND] else INCORRECT)

    return score


def play(address: str, concurrency: int, rollouts: int) -> int:
    task = inspect_ai.Task(
        dataset=[Sample(input=QUESTION, target="", id=number) for number in range(1, rollouts + 1)],
        solver=[use_tools(get_order(), refund()), generate()],
        scorer=outcome(),
    )
    with TemporaryDirectory() as folder:
        logs = inspect_ai.eval(
            task,
            model="openai-api/here/m",
            model_base_url=address,
            display="none",
            log_dir=folder,
            max_samples=concurrency,
            max_connections=concurrency,
        )
    results = logs[0].results
    return 0 if results is None else round(results.scores[0].metrics["accuracy"].value * rollouts)


measure(f"inspect_ai {version('inspect_ai')}", play)
