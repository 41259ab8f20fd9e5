"""Reads the environments that a Python file makes: every ``Environment`` among its variables.

The file is run, as ``import`` would, in a process of its own. What it raises is a problem at the innermost line of
the user's own files. Values come from the objects, places from the syntax of the file.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path
from types import CodeType
from typing import Any

from rollout.diagnostics import Span
from rollout.source.contract import schema
from rollout.source.document import Document
from rollout.source.file import read_source, whole
from rollout.source.listing import join_label
from rollout.source.place import Parsed, Place, Problem
from rollout.source.python_document import DocumentMaker
from rollout.source.python_places import PlaceFinder
from rollout.source.python_process import NoReport, run_apart
from rollout.source.python_run import Position, describe_failure
from rollout.source.tasks import InlineTasks
from rollout.source.text import SourceFile

_NO_ERROR = {"type": "", "text": "", "missing": None, "file": None, "frames": ()}


def read_python(path: Path, label: str) -> list[Document]:
    """The environments that the file at ``path`` makes, in the order in which its variables were first set.

    Where the file cannot be read or run, or makes none, one document that holds nothing but the problem.
    """
    problems: list[Problem] = []
    source = read_source(path, label, problems)
    if source is None:
        return [_empty(path, label, SourceFile(path, label, ""), problems)]
    # The absolute path, so that ``__file__`` and the names in tracebacks stay right when the file changes folder.
    filename = os.fspath(path if path.is_absolute() else Path.cwd() / path)
    compiled = _compile(source, filename)
    if isinstance(compiled, BaseException):
        problems.append(_failure(describe_failure(compiled, path), path, source))
        return [_empty(path, label, source, problems)]
    tree, code = compiled
    report = run_apart(filename, code)
    if isinstance(report, NoReport):
        facts = {**_NO_ERROR, "ended": (report.status, report.signal, report.seconds)}
        problems.append(Problem("python-file-failed", whole(label), facts))
        return [_empty(path, label, source, problems)]
    if "failure" in report:
        problems.append(_failure(report["failure"], path, source))
        return [_empty(path, label, source, problems)]
    environments = report["environments"]
    if not environments:
        problems.append(Problem("no-environment-in-file", whole(label), {"has_main": _has_main(tree)}))
        return [_empty(path, label, source, problems)]
    finder = PlaceFinder(source, tree)
    makers = [DocumentMaker(path, label, finder, found) for found in environments]
    return [maker.document(alone=len(makers) == 1) for maker in makers]


def _compile(source: SourceFile, filename: str) -> tuple[ast.Module, CodeType] | BaseException:
    try:
        tree = ast.parse(source.text, filename)
        return tree, compile(tree, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error


def _empty(path: Path, label: str, source: SourceFile, problems: list[Problem]) -> Document:
    place = Place(source, 0, 0, {})
    return Document(
        root=path.parent,
        label=label,
        value={},
        place=place,
        tasks=InlineTasks(Parsed([], Place(source, 0, 0))),
        sources=(source,),
        problems=tuple(problems),
        readable=False,
        unread=frozenset(schema("environment")["properties"]),
        stem=path.stem,
    )


def _failure(described: dict[str, Any], path: Path, source: SourceFile) -> Problem:
    shown = [
        (_span(Path(file), tuple(position), path, source), function)
        for file, function, position in described["frames"]
    ]
    span = shown[-1][0] if shown else whole(source.label)
    see = tuple((span, "called from here") for span, _ in shown[:-1])
    return Problem("python-file-failed", span, {**described, "frames": tuple(shown), "see": see})


def _span(file: Path, position: Position, path: Path, source: SourceFile) -> Span:
    line, end_line, column, end_column = position
    if os.path.realpath(file) == os.path.realpath(path):
        label, text = source.label, source.text
    else:
        folder = os.path.realpath(path.parent)
        name = Path(os.path.realpath(file)).relative_to(folder).as_posix()
        label = join_label(Path(source.label).parent.as_posix(), name)
        other = read_source(file, label, [])
        text = other.text if other is not None else ""
    lines = text.split("\n")
    shown = lines[line - 1].removesuffix("\r") if 0 < line <= len(lines) else ""
    last = lines[end_line - 1] if 0 < end_line <= len(lines) else ""
    start = len(shown.encode("utf-8")[:column].decode("utf-8", "ignore"))
    end = len(last.encode("utf-8")[:end_column].decode("utf-8", "ignore"))
    return Span(label, line, start + 1, end_line, max(end, start if end_line == line else 0) + 1, shown)


def _has_main(tree: ast.Module) -> bool:
    """Whether some of the file only runs when it is the main program."""
    return any(isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body)


__all__ = ["read_python"]
