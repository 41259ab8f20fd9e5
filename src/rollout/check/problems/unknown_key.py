"""A key that nothing reads.

A mistyped or invented key would be dropped without a word: a weight that does not count, a threshold that is never
applied, an instruction the agent never sees. So every key has to be one that the format defines. Mend the spelling,
or take the key out. Notes of your own go under keys that begin with `x-`; they stay in the source and are left out
of what is pushed. Inside data (fixtures, state, responses, arguments, ground truth) every key is yours.

Before:

    - name: refund
      kind: action
      apendTo: refunds
      value: {order_id: "${args.order_id}"}

After:

    - name: refund
      kind: action
      appendTo: refunds
      value: {order_id: "${args.order_id}"}
"""

from __future__ import annotations

from rollout.check.wording import listed, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL201"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    message = f"{quoted(facts['key'])} is not a key of {facts['section']}."
    if facts["suggestion"]:
        return message, suggestion(facts["suggestion"], facts["key"])
    if facts["twin"]:
        return message, f"{quoted(facts['twin'])} is given already; remove this one."
    if within := facts.get("within"):
        return message, f"Leave it out, and write {listed(within)} in its place."
    known = [quoted(key) for key in facts["known"]]
    names = f"Its keys are {' and '.join(filter(None, [', '.join(known[:-1]), *known[-1:]]))}"
    return message, f"{names}; a key of your own begins with “x-”." if facts["own"] else f"{names}."


__all__ = ["CODE", "SEVERITY", "describe"]
