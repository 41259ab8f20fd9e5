"""The code that judges on this machine: what the functions of an environment's python primitives are run from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from rollout.compile.file_access import may_read_files
from rollout.environment import Environment
from rollout.source.author_files import NoFunctionError, author_files
from rollout.source.find import makes_environment, says_environment
from rollout.source.layout import ENVIRONMENT_FILES, STRUCTURED, known_names, spreads

_STRUCTURED = tuple(f".{suffix}" for suffix in STRUCTURED)


@dataclass(frozen=True, slots=True)
class JudgingCode:
    """The texts that a function runs or names, by path.

    ``beside`` are those that it can read too, by a name that it works out: nothing says whether it does. ``missing``
    are the functions whose file cannot be had.
    """

    files: dict[str, str] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    @property
    def all_files(self) -> dict[str, str]:
        """All the texts that it can read."""
        return self.beside | self.files


def judging_code(environment: Environment) -> JudgingCode:
    """What decides how the functions judge, as far as files do.

    That is each function's file; the other Python files in the folder, which it may import, but for those that make
    environments and that no code speaks of; and what else the code speaks of by name, such as a list of prices. What
    the environment itself is read from is left out, and so are other environments, unless the code speaks of them or
    may read files whose names it works out; and what a folder says of itself to people (README, LICENSE), unless the
    code speaks of it.
    """
    functions = list(
        dict.fromkeys(
            str(each["function"])
            for each in (environment.verifier or {}).get("primitives") or ()
            if each.get("type") == "python" and "function" in each
        )
    )
    if not functions or environment.folder is None:
        return JudgingCode(missing=tuple(functions))
    near: dict[str, str] = {}
    code: dict[str, str] = {}
    missing = list(functions)
    for function in functions:
        with suppress(NoFunctionError):
            found = author_files(environment.folder, function.partition(":")[0])
            first = next(iter(found))
            code[first] = found[first]
            near |= found
            missing.remove(function)
    # What is compiled as it stands is compared as a part of the environment.
    texts = {top for top, kind in spreads(environment.template).items() if kind == "text"}
    near = {path: text for path, text in near.items() if path in code or _top(path) not in texts}
    names = known_names(environment.template)
    own = {path for path in near if not path.endswith(".py") and _top(path) in names}
    for path, text in near.items():
        if path.endswith(".py") and not makes_environment(text.encode()):
            code[path] = text
    while spoken_of := [path for path in near if path not in code and _is_spoken_of(path, code)]:
        code |= {path: near[path] for path in spoken_of}
    rest = {path: text for path, text in near.items() if path not in code and not _is_for_people(path)}
    if not may_read_files(code):
        rest = _belonging_to_none({path: text for path, text in rest.items() if path not in own})
    return JudgingCode(dict(sorted(code.items())), rest, tuple(missing))


def _belonging_to_none(files: dict[str, str]) -> dict[str, str]:
    """Those that make or are of no environment."""
    homes = {name.parent.as_posix() for name in map(PurePosixPath, files) if name.name in ENVIRONMENT_FILES}
    return {
        path: text
        for path, text in files.items()
        if not path.endswith(".py") and not any(path.startswith(f"{home}/") for home in homes)
        if not (path.endswith(_STRUCTURED) and says_environment(text.encode()))
    }


def _top(path: str) -> str:
    return path.partition("/")[0]


def _is_for_people(path: str) -> bool:
    return path.partition(".")[0].upper() in ("README", "LICENSE", "CHANGELOG", "CONTRIBUTING")


def _is_spoken_of(path: str, code: dict[str, str]) -> bool:
    name = PurePosixPath(path)
    word = name.stem if name.suffix == ".py" else name.name
    return any(word in text for text in code.values())


__all__ = ["JudgingCode", "judging_code"]
