"""The code that judges on this machine: what the functions of an environment's python primitives are run from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

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
    the environment itself is read from is left out, and so are other environments and what a folder says of itself to
    people (README, LICENSE), unless the code speaks of them.
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
            own = next(iter(found))
            code[own] = found[own]
            near |= found
            missing.remove(function)
    rest = {
        path: text
        for path, text in near.items()
        if path not in code and not _is_of_environment(path, environment.template)
    }
    for path, text in rest.items():
        if path.endswith(".py") and not makes_environment(text.encode()):
            code[path] = text
    while spoken_of := [path for path in rest if path not in code and _is_spoken_of(path, code)]:
        code |= {path: rest[path] for path in spoken_of}
    return JudgingCode(dict(sorted(code.items())), _beside(rest, code), tuple(missing))


def _beside(rest: dict[str, str], code: dict[str, str]) -> dict[str, str]:
    homes = {name.parent.as_posix() for name in map(PurePosixPath, rest) if name.name in ENVIRONMENT_FILES}
    return {
        path: text
        for path, text in rest.items()
        if path not in code and not path.endswith(".py") and not _is_for_people(path)
        if not any(path.startswith(f"{home}/") for home in homes)
        if not (path.endswith(_STRUCTURED) and says_environment(text.encode()))
    }


def _is_of_environment(path: str, template: str) -> bool:
    top = path.partition("/")[0]
    if path.endswith(".py"):
        return spreads(template).get(top) == "text"
    return top in known_names(template)


def _is_for_people(path: str) -> bool:
    return path.partition(".")[0].upper() in ("README", "LICENSE", "CHANGELOG", "CONTRIBUTING")


def _is_spoken_of(path: str, code: dict[str, str]) -> bool:
    name = PurePosixPath(path)
    word = name.stem if name.suffix == ".py" else name.name
    return any(word in text for text in code.values())


__all__ = ["JudgingCode", "judging_code"]
