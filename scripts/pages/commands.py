"""The page of all commands: what each does, its arguments and options, as the functions themselves say."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

from typer import Typer
from typer.models import ArgumentInfo

from pages import NOTICE
from pages.markdown import code, table
from rollout.cli import COMMANDS, CommandGroup
from rollout.family import member

INTRODUCTION = """`--json` prints one envelope on stdout, `{"schema_version": 1, "command": …, "data": …}`; what is
said to people beside it goes to stderr. A command that comes to nothing prints the same envelope with
`"error": {"message": …, "help": …, "diagnostics": […]}` in place of `data`: `help` is the way out, or null, and
`diagnostics` are those that kept it from its work, as `validate --json` has them. Colour is for terminals; `NO_COLOR`
and `FORCE_COLOR` decide otherwise.

| exit status | what it says |
| --- | --- |
| 0 | fine |
| 1 | findings, differences that were asked for, a task that failed, broke or was not done, as when no model answers |
| 2 | wrong usage, or a spec that cannot be read |
| 3 | the platform or a cluster is not there, or refuses, a file cannot be written at the end, or a fault of our own |
| 130 | interrupted |"""


def pages(root: Path) -> dict[str, str]:
    parts = ["# Commands", NOTICE, INTRODUCTION]
    for name in CommandGroup().list_commands(None):
        module = member(COMMANDS, name)
        assert module is not None
        parts += _written(name, getattr(module, name.replace("-", "_")))
    return {"cli.md": "\n\n".join(parts) + "\n"}


def _written(name: str, written: Any) -> list[str]:
    """The parts of a command, or of one that has others beneath it."""
    if not isinstance(written, Typer):
        return _command(name, written)
    parts = [f"## rollout {name}", _paragraphs(written.info.help or "")]
    for each in written.registered_commands:
        assert each.callback is not None
        parts += _command(f"{name} {each.name or each.callback.__name__}", each.callback, heading="###")
    return parts


def _command(name: str, function: Callable[..., Any], *, heading: str = "##") -> list[str]:
    hints = get_type_hints(function, include_extras=True)
    arguments, options = [], []
    for key, parameter in inspect.signature(function).parameters.items():
        takes, info = get_args(hints[key])[:2]
        kind = arguments if isinstance(info, ArgumentInfo) else options
        kind.append((key, takes, info, parameter.default))
    shown = [_placeholder(*argument) for argument in arguments]
    rows = [[code(_placeholder(*argument)), argument[2].help or ""] for argument in arguments]
    rows += [[_names(*option), _words(*option)] for option in options]
    parts = [
        f"{heading} rollout {name}",
        f"    rollout {' '.join([name, *shown, '[OPTIONS]'])}",
        _paragraphs(inspect.getdoc(function) or ""),
    ]
    return [*parts, table(["", ""], rows)] if rows else parts


def _paragraphs(text: str) -> str:
    return "\n\n".join(re.sub(r"\s*\n\s*", "\n", block) for block in re.split(r"\n\s*\n", text.strip()))


def _placeholder(key: str, takes: Any, info: Any, default: Any) -> str:
    name = info.metavar or key.upper()
    return name if default is inspect.Parameter.empty or name.startswith("[") else f"[{name}]"


def _names(key: str, takes: Any, info: Any, default: Any) -> str:
    # Within Annotated, typer takes the first name for the default and sorts it out later.
    declared = [name for name in (info.default, *(info.param_decls or ())) if isinstance(name, str)]
    declared = declared or [f"--{key.replace('_', '-')}"]
    names = ", ".join(code(part) for name in declared for part in name.split("/"))
    if takes is bool:
        return names
    return f"{names} {code(info.metavar or _kind(takes))}"


def _kind(takes: Any) -> str:
    inner = [member for member in get_args(takes) if member is not type(None)] or [takes]
    if all(isinstance(member, str) for member in inner):
        return "|".join(inner)
    if inner != [takes]:
        return _kind(inner[0])
    if isinstance(takes, type) and issubclass(takes, Enum):
        return "|".join(str(member.value) for member in takes)
    return {int: "INTEGER", float: "NUMBER", Path: "PATH"}.get(takes, "TEXT")


def _words(key: str, takes: Any, info: Any, default: Any) -> str:
    words = (info.help or "").strip()
    if default is None or default is inspect.Parameter.empty or default in ((), [], False, True, ""):
        return words
    return f"{words} Unless given: {code(str(default))}.".strip()
