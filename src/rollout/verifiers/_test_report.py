"""What a test run came to, from what its witness reported: passed only if everything says so."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rollout.sandbox.witness import ForgedError, Witness, read_report
from rollout.verifiers._final_files import FinalFiles
from rollout.verifiers._runner_files import has_tests

_MOST_NAMED = 3
_SKIPPED_MODULE = "unittest.loader.ModuleSkipped."
_FAILED_MODULE = "unittest.loader._FailedTest."
_SKIPS = re.compile(r"skip|xfail|expectedFailure|\btodo\b|\bx(?:it|test|describe)\b|\.only\b", re.IGNORECASE)
_COLLECTS = re.compile(
    r"python_functions|python_classes|pytest_pycollect_|pytest_collect_file|__test__|\bdel test"
)
_WORDS = {
    "passed": ("passed", "passed"),
    "failed": ("failed", "failed"),
    "skipped": ("was skipped", "were skipped"),
    "xfailed": ("failed as expected", "failed as expected"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a run passed, and the sentence that says why; ``doubt`` is what makes that doubtful all the same,
    and ``allow`` what an author would have to allow.

    ``failed`` says that tests were run and the runner told of a failure. A run that neither passed nor failed shows
    nothing: there were no tests, they did not come to their end, or something meddled with them.
    """

    passed: bool
    sentence: str
    started: bool = True
    failed: bool = False
    doubt: str | None = None
    allow: str = "the file"


def read_run(
    witness: Witness,
    report: bytes,
    status: int | None,
    *,
    required: Sequence[str] = (),
    laid_down: FinalFiles | None = None,
) -> Finding:
    """Judges a run by the witness's report and the exit status.

    ``required`` are names of tests that have to be among those that passed. ``laid_down`` are the files: where the
    environment has tests of its own among them, these have to be what was read, what passed, and what is required.
    """
    try:
        events = read_report(report, witness.key)
    except ForgedError as error:
        return Finding(False, str(error))
    if not events:
        return Finding(False, "No test was run: the test runner did not start.", started=False)
    own = _Own(laid_down) if laid_down is not None and has_tests(laid_down.files, laid_down.tests) else None
    problem = next((event["what"] for event in events if event.get("t") == "problem"), None)
    tests = _tests(events)
    outcomes = [(test.name, test.outcome) for test in tests]
    names = {
        outcome: [name for name, each in outcomes if each == outcome] for outcome in ("failed", "unknown")
    }
    if unloaded := [name for name in names["failed"] if name.startswith(_FAILED_MODULE)]:
        listed = _listed([name.removeprefix(_FAILED_MODULE) for name in unloaded])
        return Finding(False, f"{listed} cannot be loaded.")
    if names["failed"]:
        return Finding(False, f"{_count(outcomes)} Failed: {_listed(names['failed'])}.", failed=True)
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
    if laid_down is not None and (changed := _changed(events, laid_down)) is not None:
        return Finding(False, f"“{changed}” was changed while the tests ran.")
    if status != 0:
        return Finding(False, f"{_count(outcomes)} But the exit status is {status}.", failed=bool(outcomes))
    good = [name for name, outcome in outcomes if outcome == "passed"]
    if not good:
        return Finding(
            False, f"No test passed. {_count(outcomes)}" if outcomes else "There was no test to run."
        )
    # Runners that do not say which file a test is in cannot be held to it.
    if own is not None and not any(own.file_of(test) for test in tests):
        own = None
    if own is not None:
        if (sentence := own.left_out(tests, events)) is not None:
            return Finding(False, sentence)
        tests = [test for test in tests if own.has(test)]
        if not any(test.outcome == "passed" for test in tests):
            return Finding(False, "No test of the environment's own files passed.")
    for wanted in required:
        found = [test.outcome for test in tests if is_called(test.name, wanted)]
        if not found:
            elsewhere = any(is_called(name, wanted) for name, _ in outcomes)
            where = " in the environment's own files" if elsewhere else ""
            return Finding(
                False, f"There was no test “{wanted}”{where}, which has to pass. {_count(outcomes)}"
            )
        if set(found) != {"passed"}:
            other = next(outcome for outcome in found if outcome != "passed")
            return Finding(False, f"“{wanted}”, which has to pass, {_WORDS.get(other, (other,))[0]}.")
    doubt = next((event for event in events if event.get("t") == "doubt"), None)
    if doubt is None:
        return Finding(True, _count(outcomes))
    allow = str(doubt.get("allow") or "the file")
    return Finding(True, _count(outcomes), doubt=str(doubt.get("what")), allow=allow)


class _Own:
    """The environment's own tests in a run."""

    def __init__(self, laid_down: FinalFiles) -> None:
        self._files, self._tests = laid_down.files, laid_down.tests
        self._trusted = {
            path: content for path, content in laid_down.files.items() if path not in laid_down.written
        }

    def file_of(self, test: Test) -> str:
        """The file that a test is in, as far as is known."""
        if test.file:
            return test.file
        file, mark, _ = test.name.partition("::")
        if mark:
            return file
        parts = test.name.removeprefix(_SKIPPED_MODULE).split(".")
        for length in range(len(parts), 0, -1):
            path = "/".join(parts[:length]) + ".py"
            # Below the folder that unittest was started for, names do not begin at the project's.
            found = [each for each in self._files if each == path or each.endswith(f"/{path}")]
            if path in found:
                return path
            if found:
                return next((each for each in found if each not in self._tests), found[0])
        return ""

    def has(self, test: Test) -> bool:
        """Whether a test is in one of the environment's own test files."""
        return self.file_of(test) in self._tests

    def left_out(self, tests: Sequence[Test], events: Sequence[Mapping[str, Any]]) -> str | None:
        """A sentence about a test that was not run, though the environment has it run."""
        skipped = [
            (test.name.removeprefix(_SKIPPED_MODULE), test.by)
            for test in tests
            if test.outcome in ("skipped", "xfailed") and self.has(test)
        ]
        skipped += [
            (str(event.get("path")), str(event.get("by") or ""))
            for event in events
            if event.get("t") == "skip" and event.get("path") in self._tests
        ]
        for name, by in skipped:
            if by and by not in self._trusted:
                return f"“{name}” was skipped by “{by}”, which is no test."
            if not self._may_skip:
                return f"“{name}” was skipped, which nothing in the environment asks for."
        if self._collects_otherwise:
            return None
        for event in events:
            path = str(event.get("path"))
            if event.get("t") == "collected" and path in self._tests:
                written = tests_in(self._files[path], str(event.get("node")).partition("::")[2])
                if missing := written - {str(name) for name in event.get("names", ())}:
                    return f"“{path}” has a test “{min(missing)}” that was not collected."
        return None

    @cached_property
    def _may_skip(self) -> bool:
        return any(
            _SKIPS.search(content)
            for path, content in self._trusted.items()
            if not path.endswith((".md", ".rst", ".txt"))
        )

    @cached_property
    def _collects_otherwise(self) -> bool:
        return any(_COLLECTS.search(content) for content in self._trusted.values())


def tests_in(content: str, inside: str) -> set[str]:
    """The names of the tests that are plainly written in a file of pytest's, at its top or in the class ``inside``."""
    try:
        body = ast.parse(content).body
    except (SyntaxError, ValueError, RecursionError):
        return set()
    for name in filter(None, inside.split("::")):
        body = next((each.body for each in body if isinstance(each, ast.ClassDef) and each.name == name), [])
    # What other decorators make of a function may be no test.
    return {
        each.name
        for each in body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and each.name.startswith("test")
        and all(ast.unparse(decorator).startswith("pytest.mark.") for decorator in each.decorator_list)
    }


@dataclass(frozen=True, slots=True)
class Test:
    """What became of one test: ``file`` where the runner says it, and ``by`` whom it was skipped."""

    name: str
    outcome: str
    file: str = ""
    by: str = ""


def _tests(events: Sequence[Mapping[str, Any]]) -> list[Test]:
    """Each test; a suite counts only where it failed and none of its tests did."""
    tests = [event for event in events if event.get("t") == "test"]
    failed = [str(event.get("name")) for event in tests if event.get("outcome") == "failed"]
    found = []
    for event in tests:
        name, outcome = str(event.get("name")), str(event.get("outcome"))
        inner = f"{name} > "
        if event.get("suite") and (outcome != "failed" or any(each.startswith(inner) for each in failed)):
            continue
        found.append(Test(name, outcome, str(event.get("file") or ""), str(event.get("by") or "")))
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


def _changed(events: Sequence[Mapping[str, Any]], laid_down: FinalFiles) -> str | None:
    for event in events:
        path = event.get("path")
        if event.get("t") == "file" and path in laid_down.tests:
            digest = hashlib.sha256(laid_down.files[str(path)].encode("utf-8")).hexdigest()
            if event.get("sha256") != digest:
                return str(path)
    return None


def is_called(name: str, wanted: str) -> bool:
    """Whether a test is meant by a name: its full name, the end of it that names no file, or these without parameters.

    A name that begins with a file's path is meant in full.
    """
    file, mark, rest = name.partition("::")
    wanted_file, wanted_mark, wanted_rest = wanted.partition("::")
    if mark and wanted_mark and ("/" in wanted_file or wanted_file.endswith(".py")):
        return file == wanted_file.removeprefix("./") and rest in (
            wanted_rest,
            f"{wanted_rest}{_parameters(rest)}",
        )
    full, asked = _plain(name), _plain(wanted)
    bare = full.removesuffix(_parameters(full))
    return any(each == asked or each.endswith(f".{asked}") for each in (full, bare))


def _parameters(name: str) -> str:
    found = re.search(r"\[.*\]$", name, flags=re.DOTALL)
    return found[0] if found else ""


def _plain(name: str) -> str:
    # tests/test_a.py::TestA::test_b, tests.test_a.TestA.test_b and “suite > test” are ways to write the same.
    file, mark, rest = name.partition("::")
    if mark:
        return f"{file.removesuffix('.py').replace('/', '.')}.{rest.replace('::', '.')}"
    return name.replace(" > ", ".")


__all__ = ["Finding", "read_run"]
