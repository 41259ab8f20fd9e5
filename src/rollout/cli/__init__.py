"""The `rollout` command: finds each command in its own file and runs it; the only package that prints."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Any

import typer
from typer.core import TyperGroup

import rollout
from rollout.cli.output import Exit
from rollout.family import member, members

COMMANDS = "rollout.cli.commands"


class CommandGroup(TyperGroup):
    """Commands by file name: `rollout validate` imports `cli/commands/validate.py` and nothing else."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All command names, in the order in which one meets them on the road."""
        order = {name: place for place, name in enumerate(_ORDER)}
        return sorted(members(COMMANDS), key=lambda name: (order.get(name, len(order)), name))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command called `cmd_name`, or None."""
        module = member(COMMANDS, cmd_name)
        if module is None:
            return None
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.command(name=cmd_name)(getattr(module, cmd_name))
        return typer.main.get_command(app)


_ORDER = ("new", "validate", "explain", "schema", "compile", "unpack", "diff", "prove", "test")

app = typer.Typer(
    cls=CommandGroup,
    name="rollout",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rollout {rollout.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", help="Show the version.", callback=_show_version, is_eager=True
    ),
) -> None:
    """Author, check, prove and run agent environments as folders of YAML or TOML.

    Start with `rollout new workflow envs/refund`, then `rollout validate envs/refund`.
    """


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and ends the process with one of the exit codes of :class:`Exit`."""
    # The collector has nothing to find in what a command builds once and keeps.
    import gc

    gc.set_threshold(100_000, 50, 50)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal without UTF-8 shows “?” for what it cannot; that is no reason to end in a traceback.
            stream.reconfigure(errors="replace")
    try:
        app(args=arguments, prog_name="rollout")
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone (as in `rollout explain | head`): there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(Exit.FINE)


__all__ = ["CommandGroup", "app", "main"]
