"""Writes a task's solution back into the file that its author wrote, where nothing else in it is changed.

The text is edited at the place where the task stands, and read again before it is written: what the file says may
differ in this one solution only. Where no way of writing it holds, the file is left alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rollout.compile.folder_writer import WriteError, write_file
from rollout.compile.json_edit import KEY
from rollout.compile.yaml_text import write_yaml
from rollout.source.document import Document
from rollout.source.formats import reader
from rollout.source.place import Parsed, Place, Problem, Route
from rollout.source.text import SourceFile

Solution = list[dict[str, Any]]
Texts = Callable[[str, Place, Solution], Iterator[str]]
"""Gives a text with the solution of the task at a place in it, in one way or several, the best first."""

_BOM = b"\xef\xbb\xbf"


class RecordError(Exception):
    """A solution that is not written; its text is a sentence, ``hint`` the way out. The file is as it was."""

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Home:
    """Where a task stands: its file, what writes into it, its place in the text that was read, and its number there."""

    path: Path
    label: str
    texts: Texts
    place: Place
    index: int

    @property
    def suffix(self) -> str:
        """The suffix of the file, in small letters."""
        return self.path.suffix.lower()

    @property
    def has_solution(self) -> bool:
        """Whether the task has a solution already."""
        return isinstance(self.place.children, dict) and KEY in self.place.children


@dataclass(frozen=True, slots=True)
class Change:
    """A file with a solution written in, not on the disk yet."""

    home: Home
    before: bytes
    after: bytes

    def write(self) -> None:
        """Puts the new file in the place of the old one, whole. Raises RecordError when it cannot be."""
        self._put(self.before, self.after)

    def take_back(self) -> None:
        """Puts the old file back. Raises RecordError when it cannot be."""
        self._put(self.after, self.before)

    def _put(self, there: bytes, data: bytes) -> None:
        home = self.home
        if _bytes(home) != there:
            raise _changed(home)
        try:
            write_file(home.path, data)
        except WriteError as error:
            raise RecordError(str(error), error.hint) from None


def find_home(document: Document, index: int) -> Home:
    """Where task number ``index`` stands. Raises RecordError where nothing can be written, as into a Python file."""
    place = document.tasks.place(index)
    if place is None:
        raise RecordError("The task cannot be found in its file any more.", "Play it again.")
    source = place.source
    texts = _texts(source.path.suffix.lower())
    if texts is None:
        raise RecordError(
            f"“{source.label}” is no file of YAML, TOML or JSON, so that nothing is written into it.",
            "Paste the solution.",
        )
    return Home(source.path, source.label, texts, place, index)


def with_solution(home: Home, solution: Solution) -> Change:
    """The file with the solution in the task, every other byte as it was.

    Raises RecordError when the file is not the one that was read, or when no way of writing says the right thing.
    """
    before = _bytes(home)
    text = home.place.source.text
    start, end = _stretch(home, before)
    if before[start:end] != text.encode("utf-8", "replace"):
        raise _changed(home)
    was = _read(home, text)
    try:
        for candidate in home.texts(text, home.place, solution):
            if was is not None and _says(home, was, candidate, solution):
                return Change(home, before, before[:start] + candidate.encode("utf-8") + before[end:])
    except ValueError as error:
        raise RecordError(f"“{home.label}” cannot hold the solution. {error}", "Paste what it can.") from None
    line, _ = home.place.source.position(home.place.start)
    raise RecordError(
        f"The task on line {line} of “{home.label}” is written in a way that cannot be added to safely.",
        "Paste the solution there.",
    )


def to_paste(home: Home | None, solution: Solution) -> str:
    """The solution as an author would write it: for JSON as JSON, in Python as Python, else as YAML."""
    if home is None:
        from pprint import pformat

        return f"solution={pformat(solution, width=100, sort_dicts=False)},"
    if home.suffix in (".json", ".jsonl"):
        return f'"{KEY}": {json.dumps(solution, ensure_ascii=False)}'
    return write_yaml({KEY: solution}).rstrip("\n")


def _texts(suffix: str) -> Texts | None:
    """What writes into the text of a file with this suffix; None where nothing is written into one."""
    match suffix:
        case ".yaml" | ".yml":
            from rollout.compile.yaml_edit import texts
        case ".toml":
            from rollout.compile.toml_edit import texts
        case ".json" | ".jsonl":
            from rollout.compile.json_edit import texts
        case _:
            return None
    return texts


def _bytes(home: Home) -> bytes:
    try:
        return home.path.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise RecordError(
            f"“{home.label}” cannot be read any more: {reason}.", "Play the task again."
        ) from None


def _stretch(home: Home, data: bytes) -> tuple[int, int]:
    """Where the text that was read stands in the file: all of it, or one line, without a BOM."""
    start, end = 0, len(data)
    if home.suffix == ".jsonl":
        for _ in range(home.place.source.first_line - 1):
            start = data.find(b"\n", start) + 1
            if not start:
                raise _changed(home)
        line_break = data.find(b"\n", start)
        end = line_break if line_break >= 0 else end
        end -= len(data[start:end]) - len(data[start:end].rstrip(b"\r"))
    if start == 0 and data.startswith(_BOM):
        start = len(_BOM)
    return start, end


def _changed(home: Home) -> RecordError:
    return RecordError(f"“{home.label}” has changed since it was read.", "Play the task again.")


_Reading = tuple[Parsed, Counter[str]]
"""What a text says, and how often there is a problem of which kind with it."""


def _says(home: Home, was: _Reading, candidate: str, solution: Solution) -> bool:
    """Whether ``candidate`` says what the text said, with this solution in the task and in nothing else."""
    now = _read(home, candidate)
    if now is None or was[1] != now[1]:
        return False
    for route in _routes(home):
        place, taken = was[0].place.nearest(route)
        if taken == len(route) and place.start == home.place.start:
            break
    else:
        return False
    before, after = _unshared(was[0].value), _unshared(now[0].value)
    task, same = _at(before, route), _at(after, route)
    if not isinstance(task, dict) or not isinstance(same, dict):
        return False
    task.pop(KEY, None)
    return _exact(same.pop(KEY, None)) == _exact(solution) and _exact(before) == _exact(after)


def _read(home: Home, text: str) -> _Reading | None:
    problems: list[Problem] = []
    source = SourceFile(home.path, home.label, text)
    is_line = home.suffix == ".jsonl"
    if is_line and "\n" in text:
        return None
    parsed = reader(".json" if is_line else home.suffix)(source, problems)
    return None if parsed is None else (parsed, Counter(problem.slug for problem in problems))


def _routes(home: Home) -> Iterator[Route]:
    """The ways to the task in its file: the file is the task, has a list of them, or is one."""
    if home.suffix == ".jsonl":
        yield ()
    else:
        yield from (("tasks", home.index), (home.index,))


def _at(value: Any, route: Route) -> Any:
    for step in route:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _unshared(value: Any) -> Any:
    """A copy in which what an alias repeats stands by itself."""
    return json.loads(json.dumps(value))


def _exact(value: Any) -> str:
    """A text that tells apart whatever differs: 1 from 1.0 and from true, and the order of keys."""
    return json.dumps(value)


__all__ = ["Change", "Home", "RecordError", "find_home", "to_paste", "with_solution"]
