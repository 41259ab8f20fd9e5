"""The page of all commands: what each does, its arguments and options, as its own help has them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from pages import NOTICE
from pages.markdown import code, table
from rollout.cli import app

INTRODUCTION = """`--json` prints one envelope on stdout, `{"schema_version": 1, "command": …, "data": …}`; what is
said to people beside it goes to stderr. Colour is for terminals; `NO_COLOR` and `FORCE_COLOR` decide otherwise.

| exit status | what it says |
| --- | --- |
| 0 | fine |
| 1 | findings, failed tasks, or differences that were asked for |
| 2 | wrong usage, or a spec that cannot be read |
| 3 | the platform, the network, or a fault of rollout's own |
| 130 | interrupted |"""


def pages(root: Path) -> dict[str, str]:
    group: Any = typer.main.get_command(app)
    context = group.make_context("rollout", [], resilient_parsing=True)
    parts = ["# Commands", NOTICE, INTRODUCTION]
    for name in group.list_commands(context):
        parts += _command(name, group.get_command(context, name))
    return {"cli.md": "\n\n".join(parts) + "\n"}


def _command(name: str, command: Any) -> list[str]:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    shown = [_placeholder(argument) for argument in arguments]
    parts = [
        f"## rollout {name}",
        f"    rollout {' '.join([name, *shown, '[OPTIONS]'])}",
        _paragraphs(command.help or ""),
    ]
    rows = [[code(_placeholder(argument)), _words(argument)] for argument in arguments]
    rows += [[_names(option), _words(option)] for option in options if option.name != "help"]
    if rows:
        parts.append(table(["", ""], rows))
    return parts


def _paragraphs(text: str) -> str:
    return "\n\n".join(re.sub(r"\s*\n\s*", "\n", block) for block in re.split(r"\n\s*\n", text.strip()))


def _placeholder(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _names(option: Any) -> str:
    names = ", ".join(code(name) for name in [*option.opts, *option.secondary_opts])
    if option.is_flag:
        return names
    return f"{names} {code(option.metavar or option.type.name.upper())}"


def _words(parameter: Any) -> str:
    words = (parameter.help or "").strip()
    default = parameter.default
    if default is None or callable(default) or default in ((), [], False, True, ""):
        return words
    return f"{words} Unless given: {code(str(default))}.".strip()
