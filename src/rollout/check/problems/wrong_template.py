"""The config, or the database in its place, is of another template than the one that is named.

`template` decides what the config may hold: tools with a `kind` over fixtures are of a workflow, tools with `mutates`
and an `initialState` of a custom environment, files of code-editing, pages of a browser. Where the whole config speaks
another template's language, the name is what is wrong, and the rest is not told key by key. So it is where there is
the `schema` and the `seed` of a database, which only a sql environment has, and no config.

Before:

    template: custom
    config:
      tools:
        - {name: look_up, kind: lookup, fixturePath: "orders.${args.order_id}"}
      fixtures: {orders: {O-1: {amount: 100}}}

After:

    template: workflow
    config:
      tools:
        - {name: look_up, kind: lookup, fixturePath: "orders.${args.order_id}"}
      fixtures: {orders: {O-1: {amount: 100}}}
"""

from __future__ import annotations

from rollout.check.wording import listed, quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL210"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    likely, named = quoted(facts["likely"]), quoted(str(facts["template"]))
    signs = facts["signs"][:4]
    verb = "goes" if len(signs) == 1 else "go"
    part = facts["part"]
    return (
        f"The {part} is one of the template {likely}, not of {named}: {listed(signs)} {verb} with {likely}.",
        f"Write “template: {facts['likely']}”, or rewrite the {part}.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
