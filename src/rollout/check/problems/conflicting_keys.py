"""Keys that exclude each other stand in one object.

There are two ways to say it, and both are used: a lookup by `fixturePath` and by `fromArray`, a page of `elements` and
of `html`, a step that is a tool call and an answer. One would win and the other be dropped without a word. Keep the one
you mean.

Before:

    - name: lookup_order
      kind: lookup
      fixturePath: orders.${args.order_id}
      fromArray: orders
      matchField: id

After:

    - name: lookup_order
      kind: lookup
      fromArray: orders
      matchField: id
"""

from __future__ import annotations

from rollout.check.values import sentence
from rollout.check.wording import listed
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL208"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    message = f"{sentence(facts['section'])} has {listed(facts['keys'])}, which exclude each other."
    ways = [listed(way) for way in facts["ways"]]
    if len(ways) == 1:
        rest = [key for key in facts["keys"] if key not in facts["ways"][0]]
        return message, f"Keep {ways[0]}, and remove {listed(rest)}."
    comma = "," if any(len(way) > 1 for way in facts["ways"]) else ""
    return message, f"Keep {f'{comma} or '.join(ways)}."


__all__ = ["CODE", "SEVERITY", "describe"]
