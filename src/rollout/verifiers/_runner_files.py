"""Which files of a project belong to a test runner: tests, their helpers, and what tells the runner what to do."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import translate
from functools import cache
from json import loads
from pathlib import PurePosixPath
from typing import Any

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
TESTS: Mapping[str, tuple[str, ...]] = {
    "pytest": _PYTHON_TESTS,
    "unittest": _PYTHON_TESTS,
    "node": _JAVASCRIPT_TESTS,
    "jest": _JAVASCRIPT_TESTS,
    "vitest": _JAVASCRIPT_TESTS,
}
"""How test files are called by a runner's customs."""

_OF_PYTHON = (
    *(
        "sitecustomize.py",
        "sitecustomize/**",
        "usercustomize.py",
        "usercustomize/**",
        "*.pth",
        "*._pth",
        "*.pyc",
    ),
    *("pyvenv.cfg", ".coveragerc", "__pycache__/**"),
)
_OF_NODE = (
    *(
        ".npmrc",
        ".yarnrc*",
        ".pnpmfile.cjs",
        ".pnp.*",
        "pnpm-workspace.yaml",
        "node_modules/**",
        "node.config.json",
    ),
    *(".noderc", ".mocharc*", ".nycrc*", ".c8rc*", ".taprc", "ava.config.*"),
)
_BUILDS = ("babel.config.*", ".babelrc*", ".swcrc")
CONTROLS: Mapping[str, tuple[str, ...]] = {
    "pytest": ("conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", *_OF_PYTHON),
    "unittest": ("load_tests.py", *_OF_PYTHON),
    "node": _OF_NODE,
    "jest": (
        "jest.config.*",
        "jest.setup.*",
        "jest-preset.*",
        "jest.preset.*",
        "setupTests.*",
        *_BUILDS,
        *_OF_NODE,
    ),
    "vitest": (
        "vitest.*.*",
        "vitest.config.*",
        "vite.config.*",
        "postcss.config.*",
        ".postcssrc*",
        *_OF_NODE,
    ),
}
"""Files that are nothing but settings of a runner, or are loaded by it before any test."""

_DRIVERS: Mapping[str, tuple[str, ...]] = {
    "make": ("Makefile", "makefile", "GNUmakefile", "*.mk"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.*", "taskfile.*"),
    "tox": ("tox.ini", "tox.toml"),
    "nox": ("noxfile.py",),
}
"""Files that a program reads which starts the runner."""

_WITNESS = ("rollout_files", "rollout_handed", "rollout_library", "rollout_watch", "rollout_witness")
_MODULES = {
    "pytest": ("pytest", "_pytest", "pluggy", "iniconfig", "rollout_witness_pytest", *_WITNESS),
    "unittest": ("unittest", *_WITNESS),
}
"""Names that a file of the project would take the place of, were it imported first."""

_FRAMEWORKS = {
    "python": re.compile(r"^[ \t]*(?:import|from)[ \t]+(?:pytest|unittest|_pytest)\b", re.MULTILINE),
    "javascript": re.compile(
        r"""['"](?:node:test|vitest|@jest/globals|mocha|tape|ava|uvu)['"]"""
        # Runners whose functions are there without an import.
        r"|(?<![.\w])expect\s?\([^;\n]{0,200}\)\s*\.\s*(?:(?:not|resolves|rejects)\s*\.\s*)?to[A-Z]"
    ),
}
_HAS_TESTS = re.compile(r"\bdef test|\bTestCase\b|\b(?:test|it|spec)\b\s*(?:\.\w+\s*)*\(")
_SECTIONS = ("pytest", "coverage")


def language_of(path: str) -> str | None:
    """``python`` or ``javascript`` (TypeScript among it), by the end of a path; None for anything else."""
    end = PurePosixPath(path).suffix.lower()
    if end in (".py", ".pyw", ".pyi"):
        return "python"
    return "javascript" if re.fullmatch(r"\.[cm]?[jt]sx?", end) else None


def matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path is meant by one of the patterns: ``folder/**`` anywhere, a name without ``/`` anywhere."""
    compiled = [_pattern(pattern) for pattern in patterns]
    return lambda path: any(each.fullmatch(path) for each in compiled)


def controls(report: str, line: str) -> Callable[[str], bool]:
    """Whether a path is a file that tells the runner, or what starts it by this command line, what to do."""
    patterns = list(CONTROLS.get(report, ()))
    words = line.split()
    if report in CONTROLS:
        for word, following in zip(words, [*words[1:], ""], strict=True):
            program = word.rpartition("/")[2]
            patterns += _DRIVERS.get(program, ())
            if program in ("sh", "bash") and following:
                patterns.append(f"./{following.removeprefix('./')}")
    return matcher(patterns)


def shadows(path: str, report: str) -> bool:
    """Whether a file would be imported in the place of a part of the runner."""
    return path.partition("/")[0].removesuffix(".py") in _MODULES.get(report, ())


def has_tests(files: Mapping[str, str], paths: Iterable[str]) -> bool:
    """Whether tests are written in one of these files."""
    return any(language_of(path) and _HAS_TESTS.search(files[path]) for path in paths)


def helpers(files: Mapping[str, str], tests: frozenset[str]) -> frozenset[str]:
    """The files that are no tests themselves, but that tests import and that import a test framework in turn."""
    found: set[str] = set()
    candidates = {
        path
        for path, content in files.items()
        if path not in tests
        and (language := language_of(path)) is not None
        and _FRAMEWORKS[language].search(content)
    }
    importing = set(tests)
    while candidates and importing:
        asked_for = frozenset[str]().union(*(names_imported(files[path], path) for path in importing))
        importing = {path for path in candidates if import_name(path) in asked_for}
        found |= importing
        candidates -= importing
    return frozenset(found)


def names_imported(content: str, path: str) -> frozenset[str]:
    """The names that a file seems to import others by, as of :func:`import_name`."""
    if language_of(path) == "python":
        lines = [line for line in content.split("\n") if "import" in line]
        return frozenset(word for line in lines for word in re.findall(r"\w+", line.partition("#")[0]))
    if language_of(path) is None:
        return frozenset()
    found = re.findall(r"""['"`]([^'"`\n]{1,300})['"`]""", content)
    return frozenset(import_name(f"{name}.js" if language_of(name) is None else name) for name in found)


def import_name(path: str) -> str:
    """What a file is imported by: the last part of its path without its end, or the folder of an index."""
    pure = PurePosixPath(path)
    name = pure.stem if language_of(path) == "python" else re.sub(r"\.[cm]?[jt]sx?$", "", pure.name)
    return pure.parent.name if name in ("__init__", "index") else name


def settings(path: str, content: str | None, report: str) -> Any:
    """What a file that has more in it than settings says to a runner; None where it says nothing."""
    name = path.rpartition("/")[2]
    if content is None:
        return None
    try:
        if report in ("pytest", "unittest") and name == "pyproject.toml":
            tool = tomllib.loads(content).get("tool", {})
            return {key: tool[key] for key in _SECTIONS if key in tool} or None
        if report in ("pytest", "unittest") and name in ("setup.cfg", "tox.ini"):
            return _sections(content) or None
        if report in ("node", "jest", "vitest") and name == "package.json":
            said = loads(content)
            keys = ["scripts", "imports", "mocha", "ava", "c8", "nyc", "packageManager", "workspaces"]
            if report != "node":
                keys += ["jest", "vitest", "babel", "type", "exports"]
            return {key: said[key] for key in keys if key in said} or None
    except (ValueError, AttributeError, TypeError, RecursionError):
        return content
    return None


def _sections(content: str) -> list[str]:
    # Parsers of these files differ in what they take for a heading, so whatever looks like one counts.
    found, inside = [], False
    for line in content.splitlines():
        if "[" in line and line.lstrip().startswith("["):
            inside = any(name in line for name in _SECTIONS)
        if inside and line.strip():
            found.append(line.rstrip())
    return found


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    if pattern.endswith("/**"):
        # Anything in a folder of that name.
        return re.compile(rf"(?:.*/)?{translate(pattern[:-3])[4:-3]}/.*", re.DOTALL)
    if "/" in pattern:
        return re.compile(translate(pattern.removeprefix("./")), re.DOTALL)
    return re.compile(rf"(?:.*/)?{translate(pattern)}", re.DOTALL)


__all__ = [
    "TESTS",
    "controls",
    "has_tests",
    "helpers",
    "import_name",
    "language_of",
    "matcher",
    "names_imported",
    "settings",
    "shadows",
]
