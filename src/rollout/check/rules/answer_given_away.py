"""The instruction holds the answer, and the verifier only looks for it in what the agent says.

An agent that repeats what it was told passes, so the task measures nothing, and its passing rollouts teach a model to
repeat. Take the value out of the instruction, or judge what the agent did as well. An answer that is one of several to
choose from (“Is it open or closed?”) gives nothing away, and neither does one that is to be found in a long text, where
it has to be the whole answer.

Before:

    instruction: What is the capital of Peru? (It is Lima.)
    hidden_ground_truth: {answer: Lima}
    # verifier: {name: answer, type: output_equals, groundTruth: answer}

After:

    instruction: What is the capital of Peru?
    hidden_ground_truth: {answer: Lima}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rollout.check.choices import is_choice
from rollout.check.finding import Finding
from rollout.check.grading import ground_truth_path, parsed
from rollout.check.start import lets_idle_pass
from rollout.check.subject import Item, Subject
from rollout.check.walk import leaves
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.canonical import canonical
from rollout.language.paths import MISSING, get
from rollout.source.document import TaskRecord
from rollout.source.place import Route

CODE = "RL611"
SEVERITY = Severity.WARNING

SHORTEST = 4
"""Values with fewer characters stand in a text by chance."""
LONG_TEXT = 60
"""An instruction with as many words holds a text to find something in."""
_WHOLE = frozenset({"answer_match", "output_equals", "output_json"})
"""Primitives that a last message with more than the answer does not pass."""
_WORDS_ONLY = _WHOLE | {"contains_terms", "output_matches"}


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    weighed = [each for each in subject.primitives if each.value.get("weight", 1) != 0]
    if not weighed or not subject.is_sound("verifier"):
        return None
    # What one passes who calls nothing and says nothing keeps nobody from repeating the instruction.
    counted = [each.value for each in weighed if not lets_idle_pass(subject, each)]
    if not counted:
        return None
    if not all(each.get("type") in _WORDS_ONLY and each.get("field") != "finalState" for each in counted):
        return None
    if any(_looks_at_words(each) and each.value.get("not") is True for each in weighed):
        # Words that must not be said are best named in the instruction.
        return None
    is_whole = any(each.get("type") in _WHOLE for each in counted)
    texts = [ground_truth_path(each) for each in subject.primitives]
    routes = [path.steps for text in texts if text and (path := parsed(text)) is not None]

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        truth = record.ground_truth
        if not truth or not isinstance(truth, dict):
            return None
        if is_whole and len(record.value["instruction"].split()) >= LONG_TEXT:
            return None
        return list(_findings(record, truth, routes))

    return judge


def _looks_at_words(primitive: Item) -> bool:
    return primitive.value.get("type") in _WORDS_ONLY


def _findings(
    record: TaskRecord, truth: dict[str, Any], routes: list[tuple[str | int, ...]]
) -> Iterator[Finding]:
    instruction = record.value["instruction"]
    for text, route in _values(truth, routes):
        if len(text) < SHORTEST or text not in instruction:
            continue
        found = [each.span() for each in re.finditer(rf"(?<!\w){re.escape(text)}(?!\w)", instruction)]
        if not found or any(is_choice(instruction, start, end) for start, end in found):
            continue
        yield Finding(
            ("tasks", record.index, "instruction"),
            f"The instruction gives the answer away: it holds {quoted(text)}.",
            "Take it out of the instruction, or judge what the agent did, not only what it says.",
            see=((("tasks", record.index, record.truth_key, *route), "the value in the ground truth"),),
        )
        return


def _values(truth: dict[str, Any], routes: list[tuple[str | int, ...]]) -> Iterator[tuple[str, Route]]:
    for start in routes or [()]:
        value = get(truth, start)
        for leaf in leaves(None if value is MISSING else value, start):
            if leaf.at == "key" or isinstance(leaf.value, bool) or leaf.value is None:
                continue
            text = leaf.value if isinstance(leaf.value, str) else canonical(leaf.value).decode("utf-8")
            yield text.strip(), leaf.route
