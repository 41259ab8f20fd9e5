"""Graders of a refund desk, right and wrong ones."""

import os
import sys

from prices import PRICES

print("loaded")


def refunded(case):
    return case["final_state"]["refunds"] == case["task"]["hidden_ground_truth"]["refunds"]


def share_of_calls_that_worked(case):
    worked = [call for call in case["calls"] if call["error"] is None]
    return len(worked) / len(case["calls"]), f"{len(worked)} of {len(case['calls'])} calls worked."


async def total(case):
    return int(case["final_output"] == str(sum(PRICES.values())))


def noisy(case):
    print('{"value": 1}')
    print("answer 1", file=sys.stderr)
    return False, "It printed, but that is no answer."


def nothing(case):
    "Forgot to return."


def divides_by_zero(case):
    return 1 / len(case["calls"])


def not_a_number(case):
    return float("nan")


def too_much(case):
    return 2


def text(case):
    return "passed"


def leaves(case):
    os._exit(0)


def exits(case):
    sys.exit(0)


def never_ends(case):
    while True:
        pass


def asks_the_network(case):
    import socket

    socket.create_connection(("192.0.2.1", 80), 1)
    return True
