"""Finds environments: folders, single files and Python files, named one by one, by a pattern, or by what holds them.

While it looks through folders it stops at an environment and skips hidden folders, ``.venv`` and ``node_modules``, and
what ``rollout`` itself wrote of a run.
Python files are never found that way, because reading one runs it: they are named themselves or by a pattern.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from rollout.source.layout import ENVIRONMENT_FILES, STRUCTURED, known_names, siblings, spreads
from rollout.source.listing import is_skipped

T = TypeVar("T")

MAX_FOLDERS = 50_000
"""How many folders are looked through for environments before the search is given up."""

_SKIPPED = frozenset({"venv", "site-packages", "dist", "build"})
_HEAD_BYTES = 65_536
_TOP_KEY = re.compile(
    rb"""^(?:\[{0,2}|[ ]{0,4}"?|\{\s*")(slug|template|tasks|config|verifier|schema)(?:"?\s*[:=]|[.\]])""",
    re.MULTILINE,
)
# So begin the ``run.json`` of a run's folder and the envelopes of ``--json``, which have keys of environments, too.
_WRITTEN = re.compile(rb"""\A\s*\{\s*"schema_version":\s*\d+,\s*"(?:version|command)":""")


class SourceError(Exception):
    """There is no environment where one was looked for; ``hint`` is the way out."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def find(
    paths: Iterable[str | os.PathLike[str]], *, passed_by: Callable[[Path], object] = lambda path: None
) -> list[Path]:
    """The environments that ``paths`` name, sorted, each once. Without any path, those in the current folder.

    A path is an environment's folder or file, a file that belongs to one, a folder that holds environments at any
    depth, or a pattern (``environments/*``, ``**/*.toml``). Raises SourceError for one that leads to none.
    Links to folders are not followed, unless they are named: they may lead anywhere, and in circles. ``passed_by`` is
    told of every such link that leads to an environment that was not found otherwise, and of every Python file beside
    them that seems to make an environment.
    """
    found: dict[str, Path] = {}
    links: list[Path] = []

    def pass_by(path: Path) -> None:
        if not _is(Path.is_dir, path):
            passed_by(path)
        elif _is_environment(_names(path)):
            links.append(path)

    for given in list(paths) or ["."]:
        text = os.fspath(given)
        for path in _expand(text, pass_by):
            found.setdefault(os.path.realpath(path), path)
    for link in dict.fromkeys(links):
        if os.path.realpath(link) not in found:
            passed_by(link)
    return sorted(found.values(), key=lambda path: path.as_posix())


def _expand(text: str, passed_by: Callable[[Path], object]) -> list[Path]:
    path = Path(text)
    if os.path.lexists(path) or not text:
        return _named(path, text, passed_by)
    # Imported when needed, as difflib below: most runs name a folder that is there.
    from rollout.source.pattern import has_magic, matches_of

    if has_magic(text):
        matches = list(matches_of(path, is_passed_by=_is_passed_by, not_followed=passed_by))
        found = [each for match in matches for each in _matched(match, passed_by)]
        if not matches:
            raise SourceError(f"Nothing matches the pattern “{text}”.", _nearest_hint(path))
        if not found:
            raise SourceError(f"Nothing that matches the pattern “{text}” is an environment.", _WAY_OUT)
        return found
    raise SourceError(f"There is no “{_shown(text)}”.", _nearest_hint(path))


_WAY_OUT = (
    "An environment is a folder with an environment.yaml or environment.toml in it, or a Python file that makes an "
    "Environment. “rollout new workflow PATH” starts one."
)

_OF_A_RUN = (
    "It is what rollout wrote of a run. “rollout traces” and “rollout test --resume” take the folder of one."
)


def _named(path: Path, text: str, passed_by: Callable[[Path], object]) -> list[Path]:
    """What a path given by itself leads to; raises SourceError when that is nothing."""
    if _is(Path.is_dir, path):
        names = _names(path)
        if _is_environment(names):
            return [path]
        found = list(_inside(path, passed_by))
        if found or _is_broken_environment(names):
            return found or [path]
        python = sorted(name for name in names if name.endswith(".py"))
        if python:
            shown = (path / python[0]).as_posix()
            raise SourceError(
                f"There is no environment in “{_shown(text)}”, only Python files.",
                f"Reading a Python file runs it, so name it: “{shown}”, or “{(path / '*.py').as_posix()}” for all.",
            )
        hint = _OF_A_RUN if "run.json" in names and _is_written(path / "run.json") else _WAY_OUT
        raise SourceError(f"There is no environment in “{_shown(text)}”.", hint)
    if not _is(Path.exists, path):
        raise SourceError(f"“{_shown(text)}” is a link that leads nowhere.", None)
    if not _is(Path.is_file, path):
        raise SourceError(f"“{_shown(text)}” is neither a file nor a folder.", _WAY_OUT)
    owner = _owner(path)
    if owner is not None:
        return [owner]
    if _is_written(path):
        raise SourceError(f"There is no environment in “{_shown(text)}”.", _OF_A_RUN)
    if path.suffix.lower() == ".py" or path.suffix.lower().removeprefix(".") in STRUCTURED:
        return [path]
    raise SourceError(f"“{_shown(text)}” is not an environment.", _WAY_OUT)


def find_changed(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """The environments that changed files belong to, sorted, each once; none for a file that belongs to none.

    A file belongs to the environment that it is, or in whose folder it lies, whatever its name; and to single files
    beside it, or up to three folders above, whose functions may run it. It need not be there any more. A folder stands
    for the environments in it. Raises SourceError where a folder cannot be looked through.
    """
    found: dict[str, Path] = {}
    for given in paths:
        path = Path(given)
        for each in _inside_or_itself(path) if _is(Path.is_dir, path) else _belonging(path):
            found.setdefault(os.path.realpath(each), each)
    return sorted(found.values(), key=lambda path: path.as_posix())


def environment_around(file: Path) -> Path | None:
    """The environment that ``file`` is, or in whose folder it lies or would lie; None where it stands by itself.

    It need not be there. Links are followed, and the path that is given back has none.
    """
    try:
        real = Path(os.path.realpath(file))
    except ValueError:
        return None  # With a zero byte in it, it is the name of nothing.
    if _is_single_file(real) or (real.suffix.lower() == ".py" and makes_environment(_head(real))):
        return real
    return next((above for above in real.parents if _has_environment_file(above)), None)


def environment_that_reads(file: Path) -> Path | None:
    """The environment that ``file`` is or would be a source of, as far as names tell; None where it is of none."""
    home = environment_around(file)
    if home is None:
        return None
    within = Path(os.path.realpath(file)).relative_to(home).parts
    is_source = not within or within[0] in known_names(None) or within[-1].lower().endswith(".py")
    return home if is_source else None


def _has_environment_file(folder: Path) -> bool:
    # Files of that name are conda's, too, and have none of the keys.
    return any(_TOP_KEY.search(_head(folder / name)) for name in ENVIRONMENT_FILES)


def _inside_or_itself(folder: Path) -> Iterable[Path]:
    return [folder] if _is_environment(_names(folder)) else _inside(folder)


def _belonging(file: Path) -> list[Path]:
    if (owner := _owner(file)) is not None:
        return [owner]
    if _is_single_file(file) or (file.suffix.lower() == ".py" and makes_environment(_head(file))):
        return [file]
    for above in file.parents:
        if _is_environment(_names(above)):
            return [above]
    beside = (folder / name for folder in list(file.parents)[:4] for name in sorted(_names(folder)))
    return [each for each in beside if _is_single_file(each) and b"function" in _head(each)]


def _matched(path: Path, passed_by: Callable[[Path], object]) -> list[Path]:
    """What one match of a pattern leads to: nothing where a path given by itself would be an error."""
    if _is(Path.is_dir, path):
        return [path] if _is_environment(_names(path)) else list(_inside(path, passed_by))
    if not _is(Path.is_file, path):
        return []
    owner = _owner(path)
    if owner is not None:
        return [owner]
    if path.suffix.lower() == ".py":
        return [path] if makes_environment(_head(path)) else []
    return [path] if _is_single_file(path) else []


def _is(question: Callable[[T], bool], item: T) -> bool:
    try:
        return question(item)
    except OSError:
        # Such as a link that leads to itself, or to a name that is too long: nothing is there.
        return False


def _inside(folder: Path, passed_by: Callable[[Path], object] = lambda path: None) -> Iterator[Path]:
    """The environments below ``folder``, at any depth, but not inside one another; and folders that nobody may read."""
    Path.cwd()  # Raises where it is gone; its entries would only seem to be none.
    pending = [folder]
    seen = 1
    while pending:
        current = pending.pop()
        below: list[Path] = []
        try:
            with os.scandir(current) as items:
                entries = sorted(items, key=lambda item: item.name)
        except OSError as error:
            if current is folder:
                raise SourceError(
                    f"The folder “{_shown(str(current))}” cannot be read: {error.strerror}."
                ) from None
            if not isinstance(error, FileNotFoundError):
                # What it holds nobody knows; reading it says why, and the rest is looked at all the same.
                yield current
            continue
        for item in entries:
            if _is_passed_by(item.name):
                continue
            path = Path(item.path)
            if item.is_symlink() and _is(os.DirEntry.is_dir, item):
                passed_by(path)
            elif _is(os.DirEntry.is_dir, item):
                below.append(path)
            elif _is_single_file(path):
                yield path
            elif path.suffix == ".py" and makes_environment(_head(path)):
                passed_by(path)
        for path in below:
            seen += 1
            if seen > MAX_FOLDERS:
                raise SourceError(
                    f"There are more than {MAX_FOLDERS:,} folders in “{_shown(str(folder))}”.",
                    "Name the folder that holds the environments.",
                )
            if _is_environment(_names(path)):
                yield path
            else:
                pending.append(path)


def _is_passed_by(name: str) -> bool:
    return is_skipped(name) or name in _SKIPPED


def _owner(file: Path) -> Path | None:
    """The environment folder that ``file`` is a part of; None when it stands by itself."""
    folder = file.parent
    if _is_environment(_names(folder)):
        own = {*ENVIRONMENT_FILES, *known_names(None)}
        if file.name in own or file.suffix.lower() not in (".py", *(f".{suffix}" for suffix in STRUCTURED)):
            return folder
        return None
    absolute = file if file.is_absolute() else Path.cwd() / file
    below = absolute.parent
    for above in absolute.parents[1:100]:
        if below.name in _folder_names() and _is_environment(_names(above)):
            return above if file.is_absolute() else Path(os.path.relpath(above))
        below = above
    return None


def _is_environment(names: frozenset[str]) -> bool:
    if any(name in names for name in ENVIRONMENT_FILES):
        return True
    # Without its environment file a folder still shows what it is; reading it says what is missing.
    parts = _sibling_names() & names
    return len(parts) >= 2 and any(name.startswith(("tasks.", "verifier.")) for name in parts)


def _is_broken_environment(names: frozenset[str]) -> bool:
    """Whether a folder that was named is most likely meant to be an environment."""
    from difflib import get_close_matches

    files = [name.casefold() for name in names if name.rpartition(".")[2].lower() in STRUCTURED]
    near = (get_close_matches(name, ENVIRONMENT_FILES, n=1, cutoff=0.85) for name in files)
    return bool(_sibling_names() & names) or any(near)


def _sibling_names() -> frozenset[str]:
    return frozenset(name for group in siblings().values() for name in group)


def _folder_names() -> frozenset[str]:
    return frozenset({"tasks", *spreads(None)})


def _is_single_file(path: Path) -> bool:
    """Whether a YAML, TOML or JSON file has at least two of the payload's keys at its top."""
    if path.suffix.lower().removeprefix(".") not in STRUCTURED or path.stem == "environment":
        return False
    return says_environment(_head(path))


def says_environment(head: bytes) -> bool:
    """Whether a YAML, TOML or JSON text begins with at least two of the payload's keys at its top."""
    return len(set(_TOP_KEY.findall(head))) >= 2 and not _WRITTEN.match(head)


def _is_written(path: Path) -> bool:
    """Whether ``rollout`` wrote a file: of a run, or as the answer of a command."""
    return path.suffix.lower() == ".json" and _WRITTEN.match(_head(path)) is not None


def makes_environment(code: bytes) -> bool:
    """Whether a Python text has the words in it that one needs to make an environment."""
    return b"rollout" in code and b"Environment" in code


def _head(path: Path) -> bytes:
    # Opening a named pipe would wait for somebody to write into it.
    if not _is(Path.is_file, path):
        return b""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""


def _names(folder: Path) -> frozenset[str]:
    try:
        return frozenset(path.name for path in folder.iterdir())
    except OSError:
        return frozenset()


def _nearest_hint(path: Path) -> str | None:
    """Did-you-mean for the first part of ``path`` that does not exist, among what lies beside it."""
    from difflib import get_close_matches

    folder = Path()
    for part in path.parts:
        step = folder / part
        if os.path.lexists(step):
            folder = step
            continue
        names = [name for name in _names(folder or Path()) if not is_skipped(name)]
        near = get_close_matches(part, names, n=1)
        if near:
            return f"Did you mean “{(folder / near[0]).as_posix()}”?"
        shown = "the current folder" if folder == Path() else f"“{folder.as_posix()}”"
        environments = sorted(name for name in names if _is_environment(_names(folder / name)))
        if not environments:
            return _WAY_OUT
        listed = ", ".join(f"“{name}”" for name in environments[:8])
        return f"The environments in {shown}: {listed}{' and more' if len(environments) > 8 else ''}."
    return None


def _shown(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


__all__ = [
    "SourceError",
    "environment_around",
    "environment_that_reads",
    "find",
    "find_changed",
    "makes_environment",
]
