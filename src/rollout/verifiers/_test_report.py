"""What a test run came to, from what its witness reported: passed only if everything says so."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.sandbox.witness import ForgedError, Witness, read_report

_MOST_NAMED = 3
_WORDS = {
    "passed": ("passed", "passed"),
    "failed": ("failed", "failed"),
    "skipped": ("was skipped", "were skipped"),
    "xfailed": ("failed as expected", "failed as expected"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a run passed, and the sentence that says why."""

    passed: bool
    sentence: str
    started: bool = True


def read_run(
    witness: Witness,
    report: bytes,
    status: int | None,
    *,
    required: Sequence[str] = (),
    contents: Mapping[str, str] | None = None,
    own: frozenset[str] = frozenset(),
) -> Finding:
    """Judges a run by the witness's report and the exit status.

    ``required`` are names of tests that have to be among those that passed. ``contents`` are the files that were laid
    down, ``own`` the environment's test files among them: tests that were read must be these.
    """
    try:
        events = read_report(report, witness.key)
    except ForgedError as error:
        return Finding(False, str(error))
    if not events:
        return Finding(False, "No test was run: the test runner did not start.", started=False)
    problem = next((event["what"] for event in events if event.get("t") == "problem"), None)
    outcomes = _outcomes(events)
    names = {
        outcome: [name for name, each in outcomes if each == outcome] for outcome in ("failed", "unknown")
    }
    if names["failed"]:
        return Finding(False, f"{_count(outcomes)} Failed: {_listed(names['failed'])}.")
    if problem is not None:
        return Finding(False, f"{str(problem)[:1].upper()}{str(problem)[1:]}.")
    if events[-1].get("t") != "end":
        return Finding(
            False, f"The run ended in the middle, with exit status {status}, before the tests did."
        )
    announced = [
        str(name) for event in events if event.get("t") == "tests" for name in event.get("names", ())
    ]
    unheard = Counter(announced) - Counter(name for name, _ in outcomes)
    if unheard or names["unknown"]:
        return Finding(False, f"Not all tests came to an end: {_listed([*unheard, *names['unknown']])}.")
    if (changed := _changed(events, contents or {}, own)) is not None:
        return Finding(False, f"“{changed}” was changed while the tests ran.")
    if status != 0:
        return Finding(False, f"{_count(outcomes)} But the exit status is {status}.")
    good = [name for name, outcome in outcomes if outcome == "passed"]
    if not good:
        return Finding(
            False, f"No test passed. {_count(outcomes)}" if outcomes else "There was no test to run."
        )
    if own and witness.runner == "pytest" and not any(name.partition("::")[0] in own for name in good):
        return Finding(False, "No test of the environment's own files passed.")
    for wanted in required:
        found = [outcome for name, outcome in outcomes if _is_called(name, wanted)]
        if not found:
            return Finding(False, f"There was no test “{wanted}”, which has to pass. {_count(outcomes)}")
        if set(found) != {"passed"}:
            other = next(outcome for outcome in found if outcome != "passed")
            return Finding(False, f"“{wanted}”, which has to pass, {_WORDS.get(other, (other,))[0]}.")
    return Finding(True, _count(outcomes))


def _outcomes(events: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The name and outcome of each test; a suite counts only where it failed and none of its tests did."""
    tests = [event for event in events if event.get("t") == "test"]
    failed = [str(event.get("name")) for event in tests if event.get("outcome") == "failed"]
    found = []
    for event in tests:
        name, outcome = str(event.get("name")), str(event.get("outcome"))
        inner = f"{name} > "
        if event.get("suite") and (outcome != "failed" or any(each.startswith(inner) for each in failed)):
            continue
        found.append((name, outcome))
    return found


def _count(outcomes: Sequence[tuple[str, str]]) -> str:
    counts = Counter(outcome for _, outcome in outcomes)
    parts = [
        f"{counts[outcome]} {words[counts[outcome] != 1]}"
        for outcome, words in _WORDS.items()
        if counts[outcome]
    ]
    if not parts:
        return "No test was run."
    total = f"Of {len(outcomes)} tests, " if len(outcomes) > 1 else "Of 1 test, "
    return f"{total}{', '.join(parts)}."


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"“{name[:200]}”" for name in names[:_MOST_NAMED])
    return f"{shown} and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else shown


def _changed(
    events: Sequence[Mapping[str, Any]], contents: Mapping[str, str], own: frozenset[str]
) -> str | None:
    for event in events:
        path = event.get("path")
        if event.get("t") == "file" and path in own:
            laid_down = hashlib.sha256(contents[str(path)].encode("utf-8")).hexdigest()
            if event.get("sha256") != laid_down:
                return str(path)
    return None


def _is_called(name: str, wanted: str) -> bool:
    """Whether a test is meant by a name: its full name, the end of it, or that without parameters."""
    full, asked = _plain(name), _plain(wanted)
    bare = re.sub(r"\[.*\]$", "", full, flags=re.DOTALL)
    return any(each == asked or each.endswith(f".{asked}") for each in (full, bare))


def _plain(name: str) -> str:
    # tests/test_a.py::TestA::test_b, tests.test_a.TestA.test_b and “suite > test” are ways to write the same.
    file, mark, rest = name.partition("::")
    if mark:
        return f"{file.removesuffix('.py').replace('/', '.')}.{rest.replace('::', '.')}"
    return name.replace(" > ", ".")


__all__ = ["Finding", "read_run"]
