"""A key that the format knows stands where it means nothing.

It belongs one level up or down (`passThreshold` inside a primitive, `tools` beside `config`), or it goes with another
template, kind or type (`response` on a lookup, `config` in a sql environment). Where it stands it would be dropped
without a word. Move it to where the hint says, or choose the template, kind or type that it goes with.

Before:

    primitives:
      - name: refunded
        type: ground_truth_match
        passThreshold: 0.8

After:

    primitives:
      - name: refunded
        type: ground_truth_match
    passThreshold: 0.8
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.check.values import shown
from rollout.check.wording import listed, quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL209"
SEVERITY = Severity.ERROR

_LISTS = frozenset(("elements", "mutates", "options", "pages", "primitives", "solution", "tasks", "tools"))
_LEVELS = {1: "one level up", 2: "two levels up", 3: "three levels up"}


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    key = quoted(facts["key"])
    if facts.get("chooser"):
        return _choice(key, facts)
    moves = []
    if facts["home"]:
        up = _LEVELS.get(facts["levels"])
        moves.append(f"to {facts['home']}{f', {up}' if up else ''}")
    if facts["way"]:
        one = "one of " if facts["way"][-1] in _LISTS else ""
        moves.append(f"into {one}“{'.'.join(facts['way'])}”")
    message = f"{key} does not belong in {facts['section']}{'' if facts['home'] else ' itself'}."
    way_out = f"Move it {', or '.join(moves)}"
    return message, f"{way_out}: it holds for all tasks." if facts.get("all") else f"{way_out}."


def _choice(key: str, facts: Mapping[str, Any]) -> tuple[str, str | None]:
    section, chooser, current, values = (facts[name] for name in ("section", "chooser", "current", "values"))
    of = "" if section == "the environment" else f" of {section}"
    message = f"{key}{of} does not go with “{chooser}: {current}”."
    if within := facts.get("within"):
        return message, f"Leave {key} out, and write {listed(within)} beside “{chooser}”."
    if chooser == "template" and current == "sql":
        return message, "A sql environment has “schema” and “seed” in its place."
    choices = [f"“{chooser}: {value}”" for value in values[:1]] + [shown(value) for value in values[1:]]
    return message, f"It goes with {' or '.join(filter(None, [', '.join(choices[:-1]), choices[-1]]))}."


__all__ = ["CODE", "SEVERITY", "describe"]
