"""Runs a Python file that a user wrote, as a module of its own, and notes where it makes what.

What the file prints goes to stderr, no bytecode is written, and the modules it takes from its own folder are
forgotten afterwards, so that two files that stand beside different ``shared.py`` do not mix.
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

_PACKAGE = os.path.realpath(Path(__file__).parent.parent)
_NOT_OWN = frozenset({"site-packages", "dist-packages", ".venv", "venv", "node_modules"})

Position = tuple[int, int, int, int]
"""First line, last line, first and last column of an expression, as ``code.co_positions`` gives them."""


@dataclass(slots=True)
class Run:
    """What running a file came to: its variables, or what it raised; and where its objects were made."""

    variables: dict[str, Any] = field(default_factory=dict)
    made: dict[int, tuple[Any, Position]] = field(default_factory=dict)
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """One step of a traceback, in a file of the user's own: columns count UTF-8 bytes from 0, lines from 1."""

    path: Path
    function: str
    position: Position


def run(path: Path, code: CodeType, kinds: tuple[type, ...]) -> Run:
    """Runs ``code``, which was compiled from the file at ``path``. KeyboardInterrupt passes through.

    Where an object of one of ``kinds`` is made by the file, the position of the call is noted under its ``id``.
    """
    done = Run()
    module = ModuleType(path.stem)
    module.__file__ = code.co_filename
    with _surroundings(path, module), _noting(kinds, code.co_filename, done.made):
        try:
            exec(code, module.__dict__)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            done.error = error
    done.variables = {name: value for name, value in vars(module).items() if name != "__builtins__"}
    return done


@contextlib.contextmanager
def _surroundings(path: Path, module: ModuleType) -> Iterator[None]:
    folder = os.path.realpath(path.parent)
    before, search, argv, bytecode = set(sys.modules), sys.path[:], sys.argv, sys.dont_write_bytecode
    stdin = sys.stdin
    current = Path.cwd()
    registered = module.__name__ not in sys.modules
    if registered:
        sys.modules[module.__name__] = module
    sys.path.insert(0, folder)
    sys.argv = [os.fspath(path)]
    sys.dont_write_bytecode = True
    sys.stdin = io.StringIO()  # A file that asks a question fails here; it does not wait for an answer.
    importlib.invalidate_caches()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        sys.path[:], sys.argv, sys.dont_write_bytecode, sys.stdin = search, argv, bytecode, stdin
        with contextlib.suppress(OSError):
            os.chdir(current)
        if registered:
            sys.modules.pop(module.__name__, None)
        own = {name for name in set(sys.modules) - before if "." not in name and _lies_in(name, folder)}
        for name in list(sys.modules):
            if name not in before and name.partition(".")[0] in own:
                del sys.modules[name]


def _lies_in(name: str, folder: str) -> bool:
    """Whether the top-level module ``name`` was found in ``folder`` itself."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if spec is None:
        return False
    places = list(spec.submodule_search_locations or [])
    if not places and spec.origin:
        places = [spec.origin]
    return any(os.path.realpath(Path(place).parent) == folder for place in places)


@contextlib.contextmanager
def _noting(kinds: tuple[type, ...], filename: str, made: dict[int, tuple[Any, Position]]) -> Iterator[None]:
    originals = [(kind, kind.__init__) for kind in kinds]  # type: ignore[misc]
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
                    made[id(self)] = (self, position)

        return init

    try:
        for kind, original in originals:
            kind.__init__ = noting(original)  # type: ignore[misc]
        yield
    finally:
        for kind, original in originals:
            kind.__init__ = original  # type: ignore[misc]


def _position(code: CodeType, instruction: int) -> Position | None:
    for index, position in enumerate(code.co_positions()):
        if index == instruction // 2:
            line, end_line, column, end_column = position
            if line is None or end_line is None or column is None or end_column is None:
                return None
            return line, end_line, column, end_column
    return None


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


__all__ = ["Frame", "Position", "Run", "own_frames", "run"]
