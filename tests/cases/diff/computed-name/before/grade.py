import json
from pathlib import Path


def grade(case):
    name = "gold"
    limits = json.loads(Path(f"{name}.json").read_text())
    return case["final_state"]["refunds"][0]["amount"] <= limits["most"]
