"""A key that has to be there is not.

Without it the part means nothing: a tool without its kind does nothing, a primitive without its type judges nothing.
Some keys come as one of several choices: a lookup has `fixturePath`, or `fromArray` and `matchField`. Add the key
that is named; `rollout schema` shows what each part takes.

Before:

    - name: lookup_order
      fixturePath: orders.${args.order_id}

After:

    - name: lookup_order
      kind: lookup
      fixturePath: orders.${args.order_id}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rollout.check.values import first_sentence, sentence
from rollout.check.wording import listed, quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL202"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    section, keys, about = sentence(facts["section"]), facts["keys"], facts["about"]
    if "alternatives" in facts:
        ways = [listed(way) for way in facts["alternatives"]]
        comma = "," if any(len(way) > 1 for way in facts["alternatives"]) else ""
        first = facts["alternatives"][0][0]
        return f"{section} needs {f'{comma} or '.join(ways)}.", _about(first, about)
    if "goes_with" in facts:
        return f"{section} has {listed(facts['goes_with'])} without {listed(keys)}.", _add(keys, about)
    message = f"{section} has no {listed(keys, 'and no')}."
    if facts["guess"]:
        key, value = facts["guess"]
        return message, f"Add “{key}: {value}”, which is what it looks like."
    if len(keys) == 1 and facts["allowed"]:
        *names, last = map(quoted, facts["allowed"])
        choices = " or ".join(filter(None, [", ".join(names), last]))
        return message, f"Add {quoted(keys[0])}. It can be {choices}."
    return message, _add(keys, about)


def _add(keys: Sequence[str], about: Mapping[str, str | None]) -> str:
    if len(keys) == 1 and (words := first_sentence(about.get(keys[0]))):
        return f"Add {quoted(keys[0])}. {words}"
    return f"Add {listed(keys)}."


def _about(key: str, about: Mapping[str, str | None]) -> str | None:
    words = first_sentence(about.get(key))
    return f"{quoted(key)}: {words[:1].lower()}{words[1:]}" if words else None


__all__ = ["CODE", "SEVERITY", "describe"]
