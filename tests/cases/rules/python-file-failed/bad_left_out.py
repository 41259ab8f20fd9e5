from rollout import Environment, action_tool, workflow_config

refund = action_tool("refund", state_array="refunds")
env = Environment(
    slug="refund",
    name="Refund",
    template="workflow",
    config=workflow_config(tools=[refund], initial_mutable_state={"refunds": []}),
)
