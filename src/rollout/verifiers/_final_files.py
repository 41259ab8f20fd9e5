"""The files that a command is judged on: the agent's, with tests and the settings of test runners put back.

Hidden files are laid over everything. Of the rest, what belongs to judging is as the environment has it, whatever the
agent made of it: test files that are changed or gone are put back, and files that tell a test runner what to do are put
back, or removed where the environment has none. All of it is told.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from configparser import ConfigParser, Error
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from json import loads
from typing import Any

from rollout.verifiers import CannotJudgeError, Case

_PYTHON_TESTS = ("test_*.py", "*_test.py", "tests/**", "test/**")
_JAVASCRIPT_TESTS = (
    "*.test.*",
    "*.spec.*",
    "*-test.?js",
    "*-test.js",
    "*_test.js",
    "test-*.js",
    "test.js",
    "test.?js",
    "test/**",
    "tests/**",
    "__tests__/**",
    "__mocks__/**",
    "__snapshots__/**",
)
_TESTS = {
    "pytest": _PYTHON_TESTS,
    "unittest": _PYTHON_TESTS,
    "node": _JAVASCRIPT_TESTS,
    "jest": _JAVASCRIPT_TESTS,
    "vitest": _JAVASCRIPT_TESTS,
}

_CONTROLS = {
    "pytest": (
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "sitecustomize.py",
        "usercustomize.py",
        "*.pth",
        "*.pyc",
    ),
    "unittest": ("sitecustomize.py", "usercustomize.py", "*.pth", "*.pyc", "load_tests.py"),
    "node": (".npmrc", "node_modules/**"),
    "jest": ("jest.config.*", "babel.config.*", ".babelrc*", ".npmrc", ".swcrc", "node_modules/**"),
    "vitest": ("vitest.config.*", "vitest.workspace.*", "vite.config.*", ".npmrc", "node_modules/**"),
}
"""Files that are nothing but settings of a runner, or are loaded by it before any test."""

_MODULES = {
    "pytest": ("pytest", "_pytest", "pluggy", "iniconfig", "rollout_witness", "rollout_witness_pytest"),
    "unittest": ("unittest", "rollout_witness"),
}
"""Names that a file of the project would take the place of, were it imported first."""


@dataclass(frozen=True, slots=True)
class FinalFiles:
    """``files`` to run a command over; ``remarks`` are sentences about what was put back; ``tests`` are the
    environment's own test files, hidden ones among them.
    """

    files: dict[str, str]
    remarks: tuple[str, ...]
    tests: frozenset[str]


def final_files(case: Case, report: str, patterns: Sequence[str] | None) -> FinalFiles:
    """The files to judge by ``report``, a test runner's name. ``patterns`` name the test files, the runner's customs
    unless given. Raises CannotJudgeError for a ground truth whose ``tests`` are no files."""
    start = _texts(case.initial_state.get("files", {}), "start")
    final = _texts(case.final_state.get("files", {}), "state")
    hidden = _texts(case.config.get("hidden") or {}, "config.hidden")
    hidden |= _texts(case.task.hidden_ground_truth.get("tests") or {}, "hidden_ground_truth.tests")
    files, remarks = dict(final), []
    is_test = _matcher(patterns if patterns is not None else _TESTS.get(report, ()))
    is_control = _matcher(_CONTROLS.get(report, ()))
    own_tests = {path for path in start if is_test(path)}
    for path in sorted(start.keys() | final.keys()):
        if start.get(path) == final.get(path) or path in hidden:
            continue
        if path in own_tests or (is_control(path) and path in start):
            files[path] = start[path]
            did = "changed" if path in final else "deleted"
            remarks.append(f"“{path}” had been {did} and was put back.")
        elif is_control(path) or _shadows(path, report, start):
            del files[path]
            remarks.append(f"“{path}” was taken away, since it would change how tests are run.")
        elif path in final and _settings(path, start.get(path), report) != _settings(
            path, final[path], report
        ):
            if path in start:
                files[path] = start[path]
                remarks.append(f"“{path}” had other settings for the tests and was put back.")
            else:
                del files[path]
                remarks.append(f"“{path}” was taken away, since it has settings for the tests.")
        elif path in start and path not in final and _settings(path, start[path], report):
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
    return FinalFiles(
        files, tuple(remarks), frozenset(own_tests | {path for path in hidden if is_test(path)})
    )


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


def _shadows(path: str, report: str, start: Mapping[str, str]) -> bool:
    name = path.partition("/")[0].removesuffix(".py")
    return name in _MODULES.get(report, ()) and path not in start


def _settings(path: str, content: str | None, report: str) -> Any:
    """What a file that has more in it than settings says to a runner; None where it says nothing."""
    name = path.rpartition("/")[2]
    if content is None:
        return None
    try:
        if report == "pytest" and name == "pyproject.toml":
            return tomllib.loads(content).get("tool", {}).get("pytest")
        if report == "pytest" and name in ("setup.cfg", "tox.ini"):
            parser = ConfigParser(interpolation=None, strict=False)
            parser.read_string(content)
            return {
                section: dict(parser.items(section))
                for section in ("tool:pytest", "pytest")
                if parser.has_section(section)
            } or None
        if report in ("node", "jest", "vitest") and name == "package.json":
            said = loads(content)
            keys = ("scripts", "jest", "vitest", "babel", "type", "imports", "exports") if report != "node" else (
                "scripts", "imports"
            )  # fmt: skip
            return {key: said[key] for key in keys if key in said} or None
    except (ValueError, Error, AttributeError, RecursionError):
        return content
    return None


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    if pattern.endswith("/**"):
        # Anything in a folder of that name.
        return re.compile(rf"(?:.*/)?{translate(pattern[:-3])[4:-3]}/.*", re.DOTALL)
    if "/" in pattern:
        return re.compile(translate(pattern.removeprefix("./")), re.DOTALL)
    return re.compile(rf"(?:.*/)?{translate(pattern)}", re.DOTALL)


def _matcher(patterns: Sequence[str]) -> Any:
    compiled = [_pattern(pattern) for pattern in patterns]
    return lambda path: any(each.fullmatch(path) for each in compiled)


__all__ = ["FinalFiles", "final_files"]
