"""Parameters described by Python's types."""

from rollout import Environment, Task, action_tool, workflow_config

environment = Environment(
    slug="desk",
    name="Desk",
    template="workflow",
    config=workflow_config(
        tools=[
            action_tool(
                "refund",
                state_array="refunds",
                description="Refund an order.",
                params_schema={"order_id": str, "amount": {"type": float}},
            )
        ],
        initial_mutable_state={"refunds": []},
    ),
    tasks=[Task("Refund order O-1.", {"refunds": [{"order_id": "O-1", "amount": 10}]})],
)
