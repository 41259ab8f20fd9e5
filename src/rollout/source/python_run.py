"""Runs a Python file that a user wrote, as a module of its own, and notes where it makes what.

It is run in a process of its own (``python_child.py``), which ends afterwards: nothing here is put back. What the
file prints goes to stderr, and no bytecode is written.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from rollout.source.python_values import is_kind, name_of

_PACKAGE = os.path.realpath(Path(__file__).parent.parent)
_NOT_OWN = frozenset({"site-packages", "dist-packages", ".venv", "venv", "node_modules"})

_SHOWN_FRAMES = 8
_LONGEST_TEXT = 4000

Position = tuple[int, int, int, int]
"""First line, last line, first and last column of an expression, as ``code.co_positions`` gives them."""


@dataclass(slots=True)
class Run:
    """What running a file came to: its variables, or what it raised; and where its objects were made.

    ``made`` and ``read`` are by ``id``, beside the object that has it. A task was ``read`` from a row of a JSONL file.
    """

    variables: dict[str, Any] = field(default_factory=dict)
    made: dict[int, tuple[Any, Position]] = field(default_factory=dict)
    read: dict[int, tuple[Any, str, int]] = field(default_factory=dict)
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of a traceback, in a file of the user's own: columns count UTF-8 bytes from 0, lines from 1."""

    path: Path
    function: str
    position: Position


def run(path: Path, code: CodeType, kinds: tuple[type, type], *, afterwards: Callable[[], None]) -> Run:
    """Runs ``code``, which was compiled from the file at ``path``. KeyboardInterrupt passes through.

    ``kinds`` are the classes of environments and tasks: where the file makes one, the position of the call is noted.
    ``afterwards`` is called as soon as the file has come to its end, before anything else is done.
    """
    done = Run()
    module = ModuleType(path.stem)
    module.__file__ = code.co_filename
    sys.modules.setdefault(module.__name__, module)
    sys.path.insert(0, os.path.realpath(path.parent))
    sys.argv = [os.fspath(path)]
    sys.dont_write_bytecode = True
    sys.stdin = io.StringIO()
    sys.stdout = sys.stderr
    importlib.invalidate_caches()
    with _noting(kinds, code.co_filename, done):
        try:
            try:
                exec(code, module.__dict__)
            finally:
                afterwards()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            done.error = error
    done.variables = {name: value for name, value in vars(module).items() if name != "__builtins__"}
    return done


@contextlib.contextmanager
def _noting(kinds: tuple[type, type], filename: str, done: Run) -> Iterator[None]:
    originals = [(kind, kind.__init__) for kind in kinds]  # type: ignore[misc]
    task_kind: Any = kinds[1]
    from_jsonl = task_kind.__dict__["from_jsonl"]
    positions: dict[tuple[CodeType, int], Position | None] = {}

    def noting(original: Callable[..., None]) -> Callable[..., None]:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename != filename:
                frame = frame.f_back
            if frame is not None:
                key = (frame.f_code, frame.f_lasti)
                if key not in positions:
                    positions[key] = _position(*key)
                if (position := positions[key]) is not None:
                    done.made[id(self)] = (self, position)

        return init

    def noting_rows(cls: Any, path: Any) -> Any:
        tasks = from_jsonl.__get__(None, cls)(path)
        for row, task in enumerate(tasks):
            done.read[id(task)] = (task, os.path.abspath(os.fsdecode(path)), row)  # noqa: PTH100 — links stay
        return tasks

    try:
        for kind, original in originals:
            kind.__init__ = noting(original)  # type: ignore[misc]
        task_kind.from_jsonl = classmethod(noting_rows)
        yield
    finally:
        for kind, original in originals:
            kind.__init__ = original  # type: ignore[misc]
        task_kind.from_jsonl = from_jsonl


def _position(code: CodeType, instruction: int) -> Position | None:
    for index, position in enumerate(code.co_positions()):
        if index == instruction // 2:
            line, end_line, column, end_column = position
            if line is None or end_line is None or column is None or end_column is None:
                return None
            return line, end_line, column, end_column
    return None


def describe_failure(error: BaseException, path: Path) -> dict[str, Any]:
    """What the file raised, in JSON: see :func:`describe_error`; ``frames`` are its steps in the user's own files."""
    described = describe_error(error)
    with contextlib.suppress(Exception):
        # A function that calls itself a thousand times is one step.
        frames = list(dict.fromkeys(reversed(own_frames(error, path))))[::-1]
        described["frames"] = [
            (os.fspath(frame.path), frame.function, frame.position) for frame in frames[-_SHOWN_FRAMES:]
        ]
    return described


def describe_error(error: BaseException) -> dict[str, Any]:
    """The facts of an exception, in JSON: ``type``, ``text``, the module that is ``missing``, the ``file``."""
    missing = error.name if is_kind(error, ModuleNotFoundError) else None  # type: ignore[attr-defined]
    file = error.filename if is_kind(error, FileNotFoundError) else None  # type: ignore[attr-defined]
    return {
        "type": name_of(type(error)),
        "text": _text(error)[:_LONGEST_TEXT],
        "missing": str.__str__(missing) if is_kind(missing, str) else None,
        "file": str.__str__(file) if is_kind(file, str) else None,
        "frames": [],
    }


def _text(error: BaseException) -> str:
    try:
        if is_kind(error, SyntaxError):
            return str.__str__(error.msg or "")  # type: ignore[attr-defined]
        if is_kind(error, OSError) and error.strerror and is_kind(error.filename, str):  # type: ignore[attr-defined]
            return f"{error.strerror}: {error.filename}"  # type: ignore[attr-defined]
        if is_kind(error, ImportError):
            # Where the module lies that lacks the name says nothing to who wrote the import.
            return str.__str__(error.msg or "").partition(" (")[0]  # type: ignore[attr-defined]
        return str.__str__(str(error))
    except Exception:
        return ""


def own_frames(error: BaseException, path: Path) -> list[Frame]:
    """The steps of the traceback that lie in the user's own files, outermost first.

    A file is the user's own when it lies in the folder of ``path`` or below, and is not installed there.
    A syntax error in such a file is its innermost step.
    """
    folder = os.path.realpath(path.parent)
    frames = list(_frames(error.__traceback__, folder))
    if isinstance(error, SyntaxError) and error.filename and _is_own(error.filename, folder):
        frames.append(Frame(Path(error.filename), "", _syntax_position(error)))
    return frames


def _frames(trace: TracebackType | None, folder: str) -> Iterator[Frame]:
    while trace is not None:
        code, line = trace.tb_frame.f_code, trace.tb_lineno
        if _is_own(code.co_filename, folder):
            position = _position(code, trace.tb_lasti)
            yield Frame(Path(code.co_filename), code.co_name, position or (line, line, 0, 0))
        trace = trace.tb_next


def _syntax_position(error: SyntaxError) -> Position:
    line, text = error.lineno or 1, error.text or ""
    start = len(text[: max((error.offset or 1) - 1, 0)].encode("utf-8", "replace"))
    if error.end_lineno != line or not error.end_offset or error.end_offset <= (error.offset or 1):
        return line, line, start, start
    return line, line, start, len(text[: error.end_offset - 1].encode("utf-8", "replace"))


def _is_own(filename: str, folder: str) -> bool:
    if filename.startswith("<"):
        return False
    real = os.path.realpath(filename)
    if not real.startswith(folder.rstrip(os.sep) + os.sep) or real.startswith(_PACKAGE + os.sep):
        return False
    return _NOT_OWN.isdisjoint(Path(real).relative_to(folder).parts)


__all__ = ["Frame", "Position", "Run", "describe_error", "describe_failure", "own_frames", "run"]
