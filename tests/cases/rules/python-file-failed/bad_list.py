from rollout import Environment, primitive, verifier_config

env = Environment(
    slug="desk",
    name="Desk",
    template="workflow",
    config={"tools": []},
    verifier=verifier_config([primitive("outcome", "ground_truth_match")]),
)
