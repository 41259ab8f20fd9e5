"""`rollout unpack`: writes the folder that compiles to a given platform JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rollout.compile.wire import Wire


def unpack(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Compiled JSON, or an environment as the platform gives it; - is stdin."
        ),
    ],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to write.")],
    toml: Annotated[bool, typer.Option("--toml", help="TOML where TOML can say it; YAML elsewhere.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the environment that is in DIR; other files there stay.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Turn platform JSON back into a folder to review.

    Compiling that folder gives the same bytes: it is written whole or not at all, and only after it was compiled and
    compared.

    Example: `rollout unpack refund.json -o envs/refund`

    Exit code 0: written. 1: written, but it has errors that `rollout validate` tells. 2: nothing was written.
    """
    from rollout.check import check
    from rollout.check.report import environment_in
    from rollout.cli.inputs import refuse_empty, tell_diagnostics
    from rollout.cli.output import Exit, fail, note, show, show_json, visible
    from rollout.cli.outputs import refuse_source
    from rollout.compile.folder_writer import WriteError, write_folder
    from rollout.compile.payload import compile_environment
    from rollout.compile.spread import spread
    from rollout.compile.wire import says_no_environment

    refuse_empty(source, output)
    refuse_source(output)
    wire = _read(source)
    report = check(wire.document)
    if says_no_environment(report):
        tell_diagnostics([report])
        fail("Nothing was written: this is not the JSON of an environment.")
    try:
        compiled = compile_environment(environment_in(wire.document))
    except ValueError as error:
        fail(str(error))
    files = spread({"environment": compiled.environment, "verifier": compiled.verifier}, toml=toml)

    def inspect(folder: Path) -> None:
        from rollout.source import read_one

        again = compile_environment(environment_in(read_one(folder)))
        if again.digest != compiled.digest:
            fail(
                "Nothing was written: the folder would compile to other bytes than the JSON that was given.",
                "This is a fault in rollout; please report it with the JSON.",
                code=Exit.PLATFORM,
            )

    target = Path(output)
    try:
        write_folder(target, files, replace=force, inspect=inspect)
    except WriteError as error:
        fail(str(error), error.hint)
    for key in wire.left_out:
        note(f"note: “{visible(key)}” is the platform's own and was left out.")
    if as_json:
        data = {
            "slug": compiled.environment["slug"],
            "digest": compiled.digest,
            "folder": str(target),
            "files": sorted(files),
            "left_out": list(wire.left_out),
            "errors": report.errors,
        }
        show_json("unpack", data)
    else:
        show(f"{visible(str(target))}: {len(files)} files, {compiled.digest}")
    if not report.ok:
        note(
            f"It has {report.errors} {'error' if report.errors == 1 else 'errors'}: run “rollout validate {target}”."
        )
        raise typer.Exit(Exit.FINDINGS)


def _read(source: str) -> Wire:
    import sys

    from rollout.cli.output import fail
    from rollout.compile.wire import read_wire_file, read_wire_stream

    if source == "-":
        return read_wire_stream(sys.stdin.buffer, "<stdin>")
    path = Path(source)
    if path.is_dir():
        fail(f"“{source}” is a folder.", "“rollout unpack” takes the JSON that “rollout compile” wrote.")
    if not path.exists():
        fail(f"There is no “{source}”.", "Name a JSON file, or - to read from stdin.")
    return read_wire_file(path, source)


__all__ = ["unpack"]
