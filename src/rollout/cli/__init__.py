"""The `rollout` command: finds each command in its own file and runs it; the only package that prints."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
from io import BufferedIOBase, BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

import rollout
from rollout.cli.envelope import envelope_of, keep_error
from rollout.cli.output import Exit, discard, note, tell_error, visible
from rollout.family import member, members

COMMANDS = "rollout.cli.commands"
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for a command line that it cannot understand; it has no public name of its own."""


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
        written = getattr(module, cmd_name)
        if isinstance(written, typer.Typer):
            group = typer.main.get_command(written)
            group.name = cmd_name
            return group
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        app.command(name=cmd_name)(written)
        return typer.main.get_command(app)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; where `--json` asks for an envelope, it ends in one whatever comes of it."""
        words = [*getattr(ctx, "_protected_args", ()), *ctx.args]
        if "--json" not in words:
            return super().invoke(ctx)
        with envelope_of(_command_in(words)):
            try:
                return super().invoke(ctx)
            except UsageError as error:
                keep_error(*_words(error))
                raise


def _command_in(words: list[str]) -> str:
    """The command that is asked for, with the one beneath it where it has some: `keys create`."""
    named = [word for word in words if not word.startswith("-")][:2]
    module = member(COMMANDS, named[0]) if named else None
    has_more = module is not None and isinstance(getattr(module, named[0]), typer.Typer)
    return " ".join(named if has_more else named[:1])


_ORDER = (
    "new",
    "generate",
    "refine",
    "validate",
    "explain",
    "schema",
    "compile",
    "unpack",
    "diff",
    "prove",
    "test",
    "play",
    "compare",
    "regrade",
    "traces",
    "login",
    "logout",
    "whoami",
    "push",
    "pull",
    "envs",
    "run",
    "runs",
    "show",
    "cancel",
    "resume",
    "serve",
    "keys",
)

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
    _prepare_streams()
    code = _run(arguments)
    if code == Exit.INTERRUPTED:
        # Pressed once more while the interpreter shuts down, it would end as if killed, and not with this code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def _run(arguments: list[str] | None) -> int:
    try:
        ended = app(args=arguments, prog_name="rollout", standalone_mode=False)
        sys.stdout.flush()
        return ended if isinstance(ended, int) else Exit.FINE
    except UsageError as error:
        if (message := str(error)).startswith("Usage:"):  # called without a command: the answer is the help
            note(message)
            return Exit.USAGE
        tell_error(*_words(error))
        return Exit.USAGE
    except (KeyboardInterrupt, typer.Abort):
        return Exit.INTERRUPTED
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not _has_current_folder():
            tell_error("The current folder is gone.", "Change to a folder that there is, and say it again.")
            return Exit.PLATFORM
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP) and isinstance(error.filename, str):
            tell_error(f"“{visible(error.filename)}” cannot be the name of a file: {error.strerror}.")
            return Exit.USAGE
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG):
            raise
        discard(sys.stdout)
        tell_error(f"The output could not be written: {error.strerror}.")
        return Exit.PLATFORM


def _has_current_folder() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _words(error: Exception) -> tuple[str, str | None]:
    """What is wrong with a command line, in our words where it is a command that there is not."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "rollout"
    message = str(getattr(error, "format_message", lambda: error)()).strip()
    wrong = _NO_COMMAND.match(message)
    if wrong is not None and wrong["name"] in _NOT_YET:
        return (
            f"“{wrong['name']}” is not part of this version yet.",
            f"Until then it is in 0.2.0; put that into a virtual environment of its own: {rollout.LAST_WITH_TRAINING}",
        )
    if wrong is not None:
        from difflib import get_close_matches

        close = get_close_matches(wrong["name"], members(COMMANDS), n=1)
        hint = f"Did you mean “{close[0]}”?" if close else "“rollout --help” lists the commands."
        return f"There is no command “{wrong['name']}”.", hint
    message = _QUOTED.sub(r"“\1”", message)
    return message if message.endswith(
        (".", ")")
    ) else f"{message}.", f"“{path} --help” shows how it is used."


_NOT_YET = frozenset(("improve", "job", "jobs"))
_QUOTED = re.compile(r"'([^']*)'")
_NO_COMMAND = re.compile(r"No such command '(?P<name>.*?)'")


def _prepare_streams() -> None:
    # A stream that was closed before we began (`>&-`) takes everything and keeps nothing.
    sys.stdout = Path(os.devnull).open("w") if sys.stdout is None else _whole(sys.stdout)  # noqa: SIM115
    sys.stderr = Path(os.devnull).open("w") if sys.stderr is None else _whole(sys.stderr)  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open()  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal without UTF-8 shows “?” for what it cannot; that is no reason to end in a traceback.
            stream.reconfigure(errors="replace")


def _whole(stream: TextIO) -> TextIO:
    """One in its place that writes all of what it is given, as long as somebody reads it."""
    if not isinstance(stream, TextIOWrapper):
        return stream
    try:
        # With PYTHONUNBUFFERED a write is one call of the system, which may take a part only, and says so to nobody;
        # and whoever shares a pipe may have made it one that refuses what does not fit.
        os.set_blocking(stream.fileno(), True)
        file = _Leavable(stream.fileno(), "w", closefd=False)
    except (OSError, ValueError):
        return stream
    is_raw = not isinstance(stream.buffer, BufferedIOBase)
    return TextIOWrapper(
        BufferedWriter(file),
        stream.encoding,
        stream.errors,
        line_buffering=stream.line_buffering or is_raw,
        write_through=stream.write_through or is_raw,
    )


class _Leavable(FileIO):
    """A file whose reader may leave early, as in `rollout validate | head`: the command goes on, and its exit code says
    how it ended."""

    def write(self, data: Any, /) -> int:
        """As :class:`FileIO`, but what nobody reads any more is not kept."""
        try:
            return super().write(data)
        except BrokenPipeError:
            discard(self)
            return memoryview(data).nbytes


__all__ = ["CommandGroup", "app", "main"]
