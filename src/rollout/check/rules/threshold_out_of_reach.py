"""No rollout can reach `passThreshold`.

The score is the weighted mean of the primitives. Where some contradict each other, the best score that is left lies
below the threshold, so that every rollout fails. A primitive that no rollout can pass by itself is told by its own
rule (never-passes).

Before:

    passThreshold: 0.8
    primitives:
      - {name: called, type: tool_was_called, tool: refund}
      - {name: not_called, type: tool_not_called, tool: refund}

After:

    primitives:
      - {name: called, type: tool_was_called, tool: refund}
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from typing import Any

from rollout.check.certainty import certain_outcome
from rollout.check.finding import Finding
from rollout.check.subject import Item, Subject
from rollout.check.wording import quoted, score
from rollout.diagnostics import Severity
from rollout.language.score import as_float, exact, reaches

CODE = "RL514"
SEVERITY = Severity.ERROR

_OPPOSITES = {"tool_not_called": "tool_was_called"}
_Counted = tuple[Item, Fraction]
_BESIDE = {"name", "description", "weight", "not", "type"}


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.is_sound("verifier"):
        return
    counted = [(each, exact(each.value.get("weight", 1))) for each in subject.primitives]
    total = sum(weight for _, weight in counted)
    threshold = (subject.verifier or {}).get("passThreshold", 1)
    if total == 0:
        return
    hopeless = {
        each.route
        for each, _ in counted
        if (c := certain_outcome(subject, each)) is not None and not c.passes
    }
    lost = sum(weight for each, weight in counted if each.route in hopeless)
    pair: tuple[Item, Item] | None = None
    sides: dict[Hashable, tuple[list[_Counted], list[_Counted]]] = {}
    for each, weight in counted:
        if each.route not in hopeless and weight > 0:
            meant, is_turned = _meaning(each)
            sides.setdefault(meant, ([], []))[is_turned].append((each, weight))
    for straight, turned in sides.values():
        for (one, weight), (other, other_weight) in zip(straight, turned, strict=False):
            lost += min(weight, other_weight)
            first, second = sorted((one, other), key=lambda each: each.route[-1])
            pair = (first, second)
    best = Fraction(total - lost) / total
    # Primitives that no rollout can pass are told by their own rule, and to mend them is the way out.
    if pair is None or reaches(best, threshold):
        return
    first, second = pair
    yield Finding(
        ("verifier", "passThreshold")
        if "passThreshold" in (subject.verifier or {})
        else (*second.route, "type"),
        f"No rollout can reach {threshold!r}: {quoted(str(first.value.get('name')))} and "
        f"{quoted(str(second.value.get('name')))} contradict each other, "
        f"so the best score is {score(as_float(best), below=threshold)}.",
        "Remove one of the two, or lower the threshold.",
        see=((first.route, "this one"), (second.route, "and this one")),
    )


def _meaning(primitive: Item) -> tuple[Hashable, bool]:
    """What a primitive asks for, equal for two that ask for the same, and whether it asks that it be not so."""
    value = primitive.value
    turned = value.get("not") is True
    kind = value.get("type")
    if kind in _OPPOSITES:
        kind, turned = _OPPOSITES[kind], not turned
    options = {key: each for key, each in value.items() if key not in _BESIDE and not key.startswith("x-")}
    return (kind, _frozen(options)), turned


def _frozen(value: Any) -> Hashable:
    """A value that is equal to another just where JSON values are: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        return frozenset((key, _frozen(each)) for key, each in value.items())
    if isinstance(value, list):
        return tuple(_frozen(each) for each in value)
    return (bool, value) if isinstance(value, bool) else value
