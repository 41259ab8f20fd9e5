from rollout import Environment

env = Environment(slug="refund", name="Refund" template="workflow")
