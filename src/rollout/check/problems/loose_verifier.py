"""A rollout that is most likely wrong passes.

`rollout prove` sets a panel of wrong runs on every task (`rollout explain RL607` lists them). One of them passes here,
and it is not certain that it should not: the ground truth asks for nothing that it could be compared with, the right
answer is among all those that were said, or is denied, the threshold forgives what a primitive saw, a `tolerance` is
more than a tenth of the number, or `subset: true` lets an agent do something else as well. It may be what you want: the
environment is proved in spite of it, and only `--strict` makes it count. More often the verifier does not look at what
the task is about: it asks whether a tool was called, and not with which arguments, or whether a word is in the answer,
and not what else is.

Before:

    primitives:
      - {name: asked, type: tool_was_called, tool: weather}

After:

    primitives:
      - {name: asked, type: tool_called_with, tool: weather, args: {city: Oslo}}
"""

from __future__ import annotations

from rollout.check.panel_words import also, sentence, way_out
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL608"
SEVERITY = Severity.WARNING


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    return f"{sentence(facts)}{also(facts)} What may be wrong: {facts['shortfall']}", way_out(facts)


__all__ = ["CODE", "SEVERITY", "describe"]
