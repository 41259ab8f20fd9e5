from datetime import date

from rollout import Environment, Task, action_tool, workflow_config

env = Environment(
    slug="refund-agent",
    name="Refund Agent",
    template="workflow",
    config=workflow_config(
        tools=[
            action_tool(
                "refund",
                state_array="refunds",
                description="Issue a refund.",
                params_schema={"order_id": "string", "amount": "number"},
            )
        ],
        initial_mutable_state={"refunds": [], "open": {"O-1"}, "since": date(2025, 1, 31), 7: "x", "rate": float("nan")},
    ),
    tasks=[
        Task(
            instruction="Refund order O-1 in full: 100.",
            hidden_ground_truth={"refunds": [{"order_id": "O-1", "amount": 100}]},
        )
    ],
)
