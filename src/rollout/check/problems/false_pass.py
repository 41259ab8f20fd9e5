"""A rollout that did not do what the task asks for passes it.

`rollout prove` sets a panel of wrong runs on every task that its solution solves: one does nothing, one only says the
ground truth, one says the answers of all tasks at once, one calls every tool once with any arguments, one makes a
right call twice, one calls the right tools with wrong arguments (those of other tasks, or one value after the other
changed), one says the right answer within a longer word, denied, or beside another, one does what is asked for and
something else as well, and one leaves the code as it is and keeps it from being tested. Before such a run is judged,
what it left is compared with the ground truth. Here it is certain that this is not met, and yet the run passes: an
agent that is trained in this environment learns to do that. The sentence names the primitives that gave the run a
value, and what they said.

A number that is more than half off is wrong whatever the `tolerance` is, and a threshold that is reached without what
came of the task forgives nothing.

Before:

    primitives:
      - {name: refunded, type: tool_was_called, tool: refund}

After:

    primitives:
      - {name: refunded, type: tool_was_called, tool: refund}
      - {name: outcome, type: ground_truth_match}
"""

from __future__ import annotations

from rollout.check.panel_words import also, sentence, way_out
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL607"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    return f"{sentence(facts)}{also(facts)} What is wrong: {facts['shortfall']}", way_out(facts)


__all__ = ["CODE", "SEVERITY", "describe"]
