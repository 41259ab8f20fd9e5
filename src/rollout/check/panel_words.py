"""What the rules say of the members of the adversarial panel: what each does, and how one keeps it from passing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.check.wording import listed, quoted, score

DEEDS: Mapping[str, str] = {
    "do-nothing": "does nothing",
    "says-truth": "only says the truth and makes no call",
    "says-everything": "says the answers of all tasks at once",
    "says-nearly": "says the right answer within a longer word, denied, or beside another,",
    "every-tool": "calls every tool once, with any arguments,",
    "repeats-call": "makes a right call twice",
    "does-more": "does what is asked for and something else as well",
    "wrong-arguments": "calls the right tools with wrong arguments",
    "forges-tests": "leaves the code as it is and keeps it from being tested",
}
_WAYS_OUT: Mapping[str, str] = {
    "says-truth": "Judge what was done as well: “ground_truth_match” compares the state that is left.",
    "says-everything": "Ask for the answer alone: “output_equals”, or “output_json” with a schema.",
    "says-nearly": "Ask for the answer and nothing else: “answer_match”, or “output_equals”.",
    "every-tool": "Ask for what the calls led to (“ground_truth_match”) or for their arguments (“tool_called_with”).",
    "repeats-call": "Ask for no more than that: “ground_truth_match” without “subset”, “calls_match” with “extra: "
    "forbid”, or “tool_call_count”.",
    "does-more": "Ask that nothing else changes: “ground_truth_match” without “subset”, or “state_unchanged” with the "
    "paths that have to stay.",
    "wrong-arguments": "Ask for what the arguments led to (“ground_truth_match”), for the arguments "
    "(“tool_called_with”) or for the answer (“answer_match”).",
    "forges-tests": "Have the command start a test runner whose report is read (pytest, unittest, node --test, Jest, "
    "Vitest), name the tests that have to pass with “required”, and name what else judges with “tests”.",
}


def deed(member: str) -> str | None:
    """What a member of the panel does, as in “an agent that …”; None for who is no member."""
    return DEEDS.get(member)


def sentence(facts: Mapping[str, Any]) -> str:
    """Who passes which tasks, and which primitives let it."""
    tasks = facts["tasks"]
    more = f" and {len(tasks) - 1} more of {facts['of']} tasks" if len(tasks) > 1 else ""
    gave = "; ".join(f"{name} ({reason.rstrip('.')})" for name, value, reason in facts["marks"] if value)
    return f"An agent that {DEEDS[facts['member']]} passes {quoted(tasks[0])}{more}: {gave}."


def also(facts: Mapping[str, Any]) -> str:
    """Which other members the same primitives let pass, with a space before it; empty where there is none."""
    others = [f"one that {DEEDS[member].rstrip(',')}" for member in facts["others"]]
    if not others:
        return ""
    together = f"{', '.join(others[:-1])} and {others[-1]}" if len(others) > 1 else others[0]
    return f" So {'do' if len(others) > 1 else 'does'} {together}."


def way_out(facts: Mapping[str, Any]) -> str:
    """How to keep a wrong run from passing: by giving weight to what caught it, or by looking at what it did."""
    caught = [name for name, value, _ in facts["marks"] if value is not None and value < 1]
    if caught:
        one = len(caught) == 1
        return (
            f"{listed(caught)} caught it, but {'weighs' if one else 'weigh'} too little for a "
            f"passThreshold of {score(facts['threshold'])}: raise either."
        )
    if facts["member"] == "wrong-arguments" and facts.get("tolerance"):
        tolerance = score(facts["tolerance"])
        return f"Make the tolerance of {tolerance} so small that it takes no wrong number for the right one."
    return _WAYS_OUT[facts["member"]]


__all__ = ["DEEDS", "also", "deed", "sentence", "way_out"]
