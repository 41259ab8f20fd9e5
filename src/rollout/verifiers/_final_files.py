"""The files that a command is judged on: the agent's, with tests and the settings of test runners put back.

Hidden files are laid over everything. Of the rest, what belongs to judging is as the environment has it, whatever the
agent made of it: test files that are changed or gone are put back, and so are helpers of tests; files that tell a test
runner what to do are put back, or removed where the environment has none; tests that the agent added are left out where
the environment has tests of its own. All of it is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.verifiers import CannotJudgeError, Case
from rollout.verifiers._runner_files import (
    TESTS,
    controls,
    has_tests,
    helpers,
    import_name,
    matcher,
    names_imported,
    settings,
    shadows,
)


@dataclass(frozen=True, slots=True)
class FinalFiles:
    """``files`` to run a command over; ``remarks`` are sentences about what was put back; ``tests`` are the
    environment's own test files, hidden ones and helpers among them; ``written`` are the files that the agent changed
    or added, and that are as it left them; ``start`` has what was there before. ``guarded`` are the environment's files
    that code under test has no business to write, ``secret`` those that it has none to read of its own accord.
    """

    files: dict[str, str]
    remarks: tuple[str, ...]
    tests: frozenset[str]
    written: frozenset[str]
    start: Mapping[str, str]
    guarded: frozenset[str]
    secret: frozenset[str]


def final_files(
    case: Case, report: str, patterns: Sequence[str] | None, *, line: str = "", required: Sequence[str] = ()
) -> FinalFiles:
    """The files to judge by ``report``, a test runner's name, started by ``line``.

    ``patterns`` name the test files, the runner's customs unless given; ``required`` are names of tests. Raises
    CannotJudgeError for a ground truth whose ``tests`` are no files.
    """
    start = _texts(case.initial_state.get("files", {}), "start")
    final = _texts(case.final_state.get("files", {}), "state")
    hidden = _texts(case.config.get("hidden") or {}, "config.hidden")
    hidden |= _texts(case.task.hidden_ground_truth.get("tests") or {}, "hidden_ground_truth.tests")
    files, remarks = dict(final), []
    is_test = matcher(patterns if patterns is not None else TESTS.get(report, ()))
    is_control = controls(report, line)
    before = {**start, **hidden}
    own_tests = {path for path in start if is_test(path)}
    if own_tests or any(is_test(path) for path in hidden):
        tests = frozenset(own_tests | {path for path in hidden if is_test(path)})
        own_tests |= helpers(before, tests) & start.keys()
    for path in sorted(start.keys() | final.keys()):
        if start.get(path) == final.get(path) or path in hidden:
            continue
        if path in own_tests or (is_control(path) and path in start):
            files[path] = start[path]
            did = "changed" if path in final else "deleted"
            remarks.append(f"“{path}” had been {did} and was put back.")
        elif is_control(path) or (shadows(path, report) and path not in start):
            del files[path]
            remarks.append(f"“{path}” was taken away, since it would change how tests are run.")
        elif path in final and settings(path, start.get(path), report) != settings(path, final[path], report):
            if path in start:
                files[path] = start[path]
                remarks.append(f"“{path}” had other settings for the tests and was put back.")
            else:
                del files[path]
                remarks.append(f"“{path}” was taken away, since it has settings for the tests.")
        elif path in start and path not in final and settings(path, start[path], report):
            files[path] = start[path]
            remarks.append(f"“{path}” has settings for the tests; it had been deleted and was put back.")
    for path, content in hidden.items():
        if path in final and final[path] not in (content, start.get(path)):
            remarks.append(f"“{path}” is a hidden file; what had been written there was replaced.")
        for other in [each for each in files if _in_the_way(each, path)]:
            del files[other]
            remarks.append(f"“{other}” stood in the way of the hidden file “{path}” and was taken away.")
        files[path] = content
    for path in own_tests - files.keys():
        files[path] = start[path]
    _make_room(files, own_tests | hidden.keys(), remarks)
    own = frozenset(own_tests | {path for path in hidden if is_test(path)})
    if has_tests(files, own):
        is_like_a_test = matcher(TESTS.get(report, ()))
        added = {path for path in files if path not in before and (is_like_a_test(path) or is_test(path))}
        for path in sorted(_unneeded(files, added, [line, *required])):
            del files[path]
            remarks.append(f"“{path}” is a test of the agent's own and was left out.")
    written = frozenset(path for path in files if files[path] != before.get(path))
    secret = {path for path in own if path not in start or has_tests(files, [path])}
    secret |= _unheard_of(hidden.keys() - start.keys(), case.task.instruction, start, own)
    guarded = {path for path in files if path in own | secret or is_control(path)}
    return FinalFiles(
        files, tuple(remarks), own, written, start, frozenset(guarded - written), frozenset(secret - written)
    )


def _unheard_of(
    paths: Iterable[str], instruction: str, start: Mapping[str, str], tests: Collection[str]
) -> set[str]:
    """Those of the paths whose last part an agent cannot have read anywhere."""
    told = [instruction, *(content for path, content in start.items() if path not in tests)]
    return {path for path in paths if not any(path.rpartition("/")[2] in text for text in told)}


def _unneeded(files: Mapping[str, str], added: set[str], asked_for: Sequence[str]) -> set[str]:
    """Those of the added files that neither the command and the required names ask for nor any other file imports."""
    left = {path for path in added if not any(path in each for each in asked_for)}
    reading = files.keys() - left
    while reading:
        named = frozenset[str]().union(*(names_imported(files[path], path) for path in reading))
        reading = {path for path in left if import_name(path) in named}
        left -= reading
    return left


def _make_room(files: dict[str, str], ours: Iterable[str], remarks: list[str]) -> None:
    for path in ours:
        for other in [each for each in files if _in_the_way(each, path)]:
            del files[other]
            remarks.append(f"“{other}” stood in the way of “{path}” and was taken away.")


def _in_the_way(path: str, wanted: str) -> bool:
    return path.startswith(f"{wanted}/") or wanted.startswith(f"{path}/")


def _texts(value: Any, home: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(content, str) for content in value.values()):
        raise CannotJudgeError(f"“{home}” is no map of paths to contents.", charged_to="environment")
    return value


__all__ = ["FinalFiles", "final_files"]
