"""What a task asks for, and what a rollout leaves undone of it: read off the ground truth and the oracle's rollout.

Nothing here looks at a verifier's marks, so that a verifier can be held against it. What the ground truth names and the
oracle reached is certain; where it names nothing, the oracle's rollout is one of perhaps many right ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.database.golds import golds_of_task, is_rows
from rollout.engine import Trace
from rollout.engine.leeway import Leeway, leeways, tolerance_of
from rollout.environment import Environment, Task
from rollout.language.canonical import canonical
from rollout.language.compare import Tolerance, compare, show
from rollout.language.exact_json import load
from rollout.language.paths import MISSING, PathError, get, kind, parse
from rollout.language.site import OWN_KEYS, EmptyTruthError, compare_values, truth_by_key

_NUMBER = re.compile(r"(?<![\w.])[-−+]?\d[\d,]*(?:\.\d+)?")
_TERMS: tuple[dict[str, bool], ...] = (
    {},
    {"ignore_order": True},
    {"ignore_order": True, "subset": True},
)
DEAF = frozenset(
    {
        "state_match",
        "ground_truth_match",
        "state_unchanged",
        "files_match",
        "command_passes",
        "page_reached",
        "element_value",
        "tool_was_called",
        "tool_not_called",
        "tool_called_with",
        "calls_match",
        "tool_call_count",
        "tool_order",
        "no_tool_errors",
    }
)
"""The primitives that do not listen to what is said."""

HEARING = frozenset(
    {"contains_terms", "output_equals", "output_matches", "output_json", "answer_match", "sql_result"}
)
"""Those that do. All others are code of the author's, which may know more than the ground truth says."""

_COMPARES_ANSWERS = frozenset({"answer_match", "output_equals", "output_json"})
_LONGEST_VALUE = 40
_MOST_MATCHED = 200


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What a rollout left undone, in a sentence; ``certain`` where the ground truth says so."""

    certain: bool
    sentence: str


class Asked:
    """What one task asks for, with the oracle's trace as an example of how it is met."""

    def __init__(self, environment: Environment, task: Task, right: Trace) -> None:
        self.template = environment.template
        self.right = right
        self._primitives = _primitives(environment)
        self.tolerance = tolerance_of(self._primitives)
        self._leeways = leeways(self.tolerance)
        self._state = self._named_state(task.hidden_ground_truth)
        self.contradiction: str | None = None
        self._measure(right)
        self._read = {step for each in self._primitives for step in _read_keys(each)}
        self._gold: Any = MISSING
        if environment.template == "sql":
            self._gold = golds_of_task(environment.verifier, task.hidden_ground_truth)
        self._answers = list(self._named_answers(task.hidden_ground_truth))

    def _measure(self, right: Trace) -> None:
        """Finds the strictest measure that the oracle's rollout meets, and what it contradicts where it meets none."""
        all_tolerated: Leeway = lambda expected: self.tolerance  # noqa: E731
        terms = next((each for each in _TERMS if not self._difference(right, each, all_tolerated)), None)
        if terms is None:
            self.contradiction = self._contradiction(right)
            # What it names goes by another measure than the state's.
            self._state = {}
        elif any(self._difference(right, terms, leeway) for leeway in self._leeways):
            self._leeways = (all_tolerated,)
        self._terms = terms or {}

    def _contradiction(self, right: Trace) -> str | None:
        """What the oracle's rollout leaves otherwise than the ground truth has it, and nothing else reads."""
        if self.template in ("sql", "code-editing") or any(
            each.get("type") not in DEAF | HEARING for each in self._primitives
        ):
            return None
        read = {step for each in self._primitives for step in _truth_keys(each)}
        for key, wanted in self._state.items():
            difference = self._difference(right, _TERMS[-1], lambda expected: self.tolerance, [key])
            # A number of refunds, where the state has a list of them, is no state.
            if difference and key not in read and kind(wanted) == kind(right.final_state.get(key, MISSING)):
                return difference
        return None

    @property
    def names_state(self) -> bool:
        """Whether the ground truth says how the state has to be."""
        return bool(self._state)

    @property
    def named_files(self) -> Mapping[str, Any]:
        """The files that the ground truth names, with their contents; empty in every template but code-editing."""
        return self._state if self.template == "code-editing" else {}

    @property
    def answers(self) -> Sequence[Any]:
        """The answers that the ground truth has and the oracle gave."""
        return [answer for answer, _ in self._answers]

    @property
    def given(self) -> Sequence[tuple[Any, bool]]:
        """What the oracle answered, by the ground truth or the gold, each with whether it is certainly asked for."""
        if self.template != "sql" or self._gold is MISSING:
            return self._answers
        value = _value(self.right.final_output)
        return [] if isinstance(value, list | dict) else [(value, self._has_one_gold)]

    @property
    def _has_one_gold(self) -> bool:
        return isinstance(self._gold, str) or is_rows(self._gold)

    @property
    def is_question(self) -> bool:
        """Whether an answer is what is asked for, and the state stays as it was."""
        return not self.changes(self.right) and bool(self._answers or self._gold is not MISSING)

    @property
    def is_for_words(self) -> bool:
        """Whether words are all that is asked for, as far as is known."""
        said = bool(self.right.final_output.strip())
        return self.is_question or (said and not self._state and not self.changes(self.right))

    def state_of(self, trace: Trace, *, initial: bool = False) -> Mapping[str, Any]:
        """The state that a rollout left, without what only says where a browser stands."""
        return site_state(self.template, trace.initial_state if initial else trace.final_state)

    def changes(self, trace: Trace) -> bool:
        """Whether a rollout changed the state."""
        return self.state_of(trace) != self.state_of(trace, initial=True)

    def shortfall(self, trace: Trace, *, exactly: bool = False) -> Shortfall | None:
        """What ``trace`` left undone, None where nothing is known to be wrong with it.

        It is measured leniently: other things may have been done besides. With ``exactly`` it is measured as strictly
        as the oracle's rollout allows, so that doing a thing twice is not doing it.
        """
        if self.template == "sql":
            return self._in_database(trace)
        for number, leeway in enumerate(self._leeways):
            # What is right by half of a number, and not by a tenth of it, may be meant.
            if self._state:
                difference = self._difference(trace, self._terms if exactly else _TERMS[-1], leeway)
                if difference is not None:
                    return Shortfall(number == 0, difference)
            for answer, certain in self._answers:
                if not says(trace.final_output, answer, leeway):
                    return Shortfall(certain and number == 0, f"The answer {show(answer)} was not given.")
        if self.template == "code-editing":
            return self._in_files(trace)
        if self._state or self._answers:
            return None
        if self._read_state(trace) != self._read_state(self.right) and (
            exactly or not _covers(trace, self.right)
        ):
            return Shortfall(False, "The solution leaves another state.")
        unlike = trace.final_output != self.right.final_output
        if unlike and trace.calls and not _covers(trace, self.right):
            return Shortfall(False, "The solution makes other calls.")
        return None

    def _read_state(self, trace: Trace) -> Mapping[str, Any]:
        """The parts of a state that the verifier reads, all of it where it names none."""
        state = self.state_of(trace)
        return {key: state[key] for key in state.keys() & self._read} if self._read else state

    def _in_database(self, trace: Trace) -> Shortfall | None:
        certain = self._has_one_gold
        if self.changes(self.right):
            left, right = self.state_of(trace), self.state_of(self.right)
            if any(left.get(key) != right.get(key) for key in ("tables", "others")):
                return Shortfall(certain, "The tables do not hold what they hold after the solution.")
            return None
        said, wanted = _value(trace.final_output), _value(self.right.final_output)
        for number, leeway in enumerate(self._leeways):
            is_said = isinstance(wanted, str | int | float) and says(trace.final_output, wanted, leeway)
            if not is_said and not _same_rows(wanted, said, leeway if self.tolerance else 0.0):
                return Shortfall(certain and number == 0, f"The answer is {show(said)}, not {show(wanted)}.")
        return None

    def beyond(self, trace: Trace) -> Shortfall | None:
        """What ``trace`` changed besides all that the solution changes, None where that is nothing.

        It is certain where the ground truth names it. A part that it does not name may be one that nobody asks for, and
        is one where the solution changes it as well, such as a log.
        """
        left, right = self.state_of(trace), self.state_of(self.right)
        if self.template == "code-editing" or left == right:
            return None
        if self._state and (difference := self._difference(trace, self._terms, self._leeways[0])):
            return Shortfall(True, difference)
        start = self.state_of(self.right, initial=True)
        untouched = [
            key for key in right.keys() | left.keys() if start.get(key, MISSING) == right.get(key, MISSING)
        ]
        changed = [key for key in untouched if left.get(key, MISSING) != right.get(key, MISSING)]
        if self.template == "sql":
            return Shortfall(self._has_one_gold, "The solution leaves other tables.") if changed else None
        if not changed:
            return None
        parts = ", ".join(f"“{key}”" for key in sorted(changed))
        return Shortfall(False, f"It changes {parts}, which the solution does not.")

    def _in_files(self, trace: Trace) -> Shortfall | None:
        start, right = self.right.initial_state["files"], self.right.final_state["files"]
        left = trace.final_state["files"]
        written = [
            path
            for path in right.keys() | start.keys()
            if path not in self._state and right.get(path) != start.get(path)
        ]
        if written and all(left.get(path) != right.get(path) for path in written):
            return Shortfall(
                False, f"None of the files that the solution {'also ' if self._state else ''}writes is right."
            )
        return None

    def _named_state(self, truth: Mapping[str, Any]) -> dict[str, Any]:
        if self.template == "code-editing":
            files = truth.get("files")
            return files if isinstance(files, dict) else {}
        start, final = self.right.initial_state, self.right.final_state
        if self.template == "browser":
            try:
                truth = truth_by_key(truth, start)
            except EmptyTruthError:
                return {}
        return {key: value for key, value in truth.items() if key in start or key in final}

    def _difference(
        self, trace: Trace, terms: Mapping[str, bool], leeway: Leeway, keys: Sequence[str] | None = None
    ) -> str | None:
        if self.template == "code-editing":
            files = trace.final_state.get("files", {})
            wrong = next((path for path, text in self._state.items() if files.get(path) != text), None)
            return None if wrong is None else f"“{wrong}” is not as the ground truth has it."
        for key in self._state if keys is None else keys:
            wanted, actual = self._state[key], trace.final_state.get(key, MISSING)
            if self.template == "browser" and key == "values":
                difference = compare_values(wanted, actual)
            else:
                difference = compare(wanted, actual, tolerance=leeway if self.tolerance else 0.0, **terms)
            if difference is not None:
                return difference.sentence((key,))
        return None

    def _named_answers(self, truth: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
        """The answers in the ground truth that the oracle gave, each with whether it is certainly asked for."""
        named = {"answer": False}
        for primitive in self._primitives:
            path = primitive.get("groundTruth", "answer")
            if primitive.get("type") in _COMPARES_ANSWERS and isinstance(path, str):
                named[path] = True
        for path, judged in named.items():
            try:
                answer = get(truth, parse(path).steps)
            except PathError:
                continue
            if answer is MISSING or answer is None or answer in ("", [], {}) or path in self._state:
                continue
            if says(self.right.final_output, answer, lambda expected: self.tolerance):
                # A sentence may be there for people to read; a value is an answer.
                is_value = not isinstance(answer, str) or len(answer) <= _LONGEST_VALUE
                yield answer, judged or (is_value and not self._state)


def site_state(template: str, state: Mapping[str, Any]) -> Mapping[str, Any]:
    """A state without what is the browser's own."""
    if template != "browser":
        return state
    return {key: value for key, value in state.items() if key not in OWN_KEYS}


def says(text: str, value: Any, leeway: Leeway = lambda expected: 0.0) -> bool:
    """Whether a text says a value somewhere, read as kindly as can be; a number may be off by its ``leeway``."""
    if isinstance(value, dict | list):
        return all(
            says(text, each, leeway) for each in (value.values() if isinstance(value, dict) else value)
        )
    folded = text.casefold()
    if isinstance(value, bool):
        return bool(set(re.findall(r"\w+", folded)) & ({"true", "yes"} if value else {"false", "no"}))
    if isinstance(value, int | float):
        numbers = [number for found in _NUMBER.findall(text) if (number := _number(found)) is not None]
        return any(compare(value, number, tolerance=leeway) is None for number in numbers)
    if value is None:
        return True
    return str(value).strip().casefold() in folded


def _number(digits: str) -> float | int | None:
    plain = digits.replace(",", "").replace("−", "-")
    try:
        return float(plain) if "." in plain else int(plain)
    except ValueError:
        return None


def _value(output: str) -> Any:
    """A database's answer: rows, or the one value that it is, however it was handed in."""
    try:
        value = load(output)
    except ValueError:
        return output.strip()
    if isinstance(value, dict) and isinstance(value.get("rows"), list):
        value = value["rows"]
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value


def _same_rows(wanted: Any, said: Any, tolerance: Tolerance) -> bool:
    if not isinstance(wanted, list) or not isinstance(said, list):
        return compare(wanted, said, tolerance=tolerance) is None
    if len(wanted) != len(said):
        return False
    if tolerance and len(wanted) <= _MOST_MATCHED:
        return compare(wanted, said, ignore_order=True, tolerance=tolerance) is None
    return sorted(map(canonical, wanted)) == sorted(map(canonical, said))


def _covers(trace: Trace, right: Trace) -> bool:
    made = {(call.tool, canonical(call.args)) for call in trace.calls}
    return all((call.tool, canonical(call.args)) in made for call in right.calls)


def _primitives(environment: Environment) -> Sequence[Mapping[str, Any]]:
    primitives = (environment.verifier or {}).get("primitives")
    if not isinstance(primitives, list):
        return ()
    return [each for each in primitives if isinstance(each, dict)]


def _truth_keys(primitive: Mapping[str, Any]) -> Iterator[str | int]:
    """The keys of the ground truth that a primitive reads by a path."""
    path = primitive.get("groundTruth", "answer" if primitive.get("type") == "answer_match" else None)
    if isinstance(path, str):
        try:
            yield parse(path).steps[0]
        except (PathError, IndexError):
            return


def _read_keys(primitive: Mapping[str, Any]) -> Iterator[str | int]:
    """The keys of the state that a primitive names in its options."""
    for name in ("expected", "paths"):
        paths = primitive.get(name)
        if not str(primitive.get("type")).startswith("state_") or not isinstance(paths, dict | list):
            continue
        for path in paths:
            try:
                yield parse(path).steps[0]
            except (PathError, TypeError, IndexError):
                continue


__all__ = ["DEAF", "HEARING", "Asked", "Shortfall", "says", "site_state"]
