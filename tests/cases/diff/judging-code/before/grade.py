import json

from amounts import is_right


def grade(case):
    with open("limits.json") as file:
        limits = json.load(file)
    return is_right(case["final_state"]["refunds"], limits)
