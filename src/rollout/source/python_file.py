"""Reads the environments that a Python file makes: every ``Environment`` among its variables.

The file is run, as ``import`` would. What it raises is a problem at the innermost line of the user's own files.
Values come from the objects, places from the syntax of the file.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable
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
from rollout.source.python_run import Frame, own_frames, run
from rollout.source.tasks import InlineTasks
from rollout.source.text import SourceFile

_SHOWN_FRAMES = 8


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
        problems.append(_failure(compiled, path, source))
        return [_empty(path, label, source, problems)]
    tree, code = compiled
    kinds = _kinds()
    done = run(Path(filename), code, kinds)
    if done.error is not None:
        problems.append(_failure(done.error, path, source))
        return [_empty(path, label, source, problems)]
    environments = _environments(done.variables, kinds[0])
    if not environments:
        problems.append(Problem("no-environment-in-file", whole(label), {"has_main": _has_main(tree)}))
        return [_empty(path, label, source, problems)]
    finder = PlaceFinder(source, tree)
    makers = [
        DocumentMaker(path, label, finder, done, kinds[1], found, names) for found, names in environments
    ]
    return [maker.document(alone=len(makers) == 1) for maker in makers]


def _kinds() -> tuple[type, type]:
    # The public names, as the user's file gets them: they lie to the right of here, and are never imported.
    package = sys.modules["rollout"]
    return package.Environment, package.Task


def _compile(source: SourceFile, filename: str) -> tuple[ast.Module, CodeType] | BaseException:
    try:
        tree = ast.parse(source.text, filename)
        return tree, compile(tree, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error


def _environments(variables: dict[str, Any], kind: type) -> list[tuple[Any, set[str]]]:
    """Every object of ``kind`` among the variables, or in a list, tuple or dict there, with its variables' names."""
    found: dict[int, tuple[Any, set[str]]] = {}
    for name, value in variables.items():
        for member in _members(value):
            if isinstance(member, kind):
                _, names = found.setdefault(id(member), (member, set()))
                if member is value:
                    names.add(name)
    return list(found.values())


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, list | tuple):
        return value
    return list(value.values()) if isinstance(value, dict) else (value,)


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


def _failure(error: BaseException, path: Path, source: SourceFile) -> Problem:
    # A function that calls itself a thousand times is one step.
    frames = list(dict.fromkeys(reversed(own_frames(error, path))))[::-1]
    shown = [(_span(frame, path, source), frame.function) for frame in frames[-_SHOWN_FRAMES:]]
    span = shown[-1][0] if shown else whole(source.label)
    facts = {
        "type": type(error).__name__,
        "text": _text(error),
        "missing": error.name if isinstance(error, ModuleNotFoundError) else None,
        "file": os.fspath(error.filename)
        if isinstance(error, FileNotFoundError) and error.filename
        else None,
        "frames": tuple(shown),
        "see": tuple((span, "called from here") for span, _ in shown[:-1]),
    }
    return Problem("python-file-failed", span, facts)


def _text(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return error.msg or ""
    if isinstance(error, OSError) and error.strerror and isinstance(error.filename, str | bytes):
        return f"{error.strerror}: {os.fsdecode(error.filename)}"
    if isinstance(error, ImportError):
        # Where the module lies that lacks the name says nothing to who wrote the import.
        return (error.msg or "").partition(" (")[0]
    try:
        return str(error)
    except Exception:
        return ""


def _span(frame: Frame, path: Path, source: SourceFile) -> Span:
    line, end_line, column, end_column = frame.position
    if os.path.realpath(frame.path) == os.path.realpath(path):
        label, text = source.label, source.text
    else:
        folder = os.path.realpath(path.parent)
        name = Path(os.path.realpath(frame.path)).relative_to(folder).as_posix()
        label = join_label(Path(source.label).parent.as_posix(), name)
        other = read_source(frame.path, label, [])
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
