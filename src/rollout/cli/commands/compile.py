"""`rollout compile`: writes the platform's JSON of an environment, the same bytes on every machine, and its digest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rollout.compile.payload import Compiled
    from rollout.source.document import Document


def compile(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="The environment: a folder, a file, or a Python file.")
    ],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write there; - is stdout.")
    ] = None,
    only_digest: Annotated[bool, typer.Option("--digest", help="Print the digest, not the JSON.")] = False,
    slug: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Which environment, where there are several.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON envelope about the result, not the result.")
    ] = False,
) -> None:
    """Write an environment as the platform's canonical JSON.

    What means the same is the same JSON, byte for byte. The environment is checked first. What is only local (ids,
    solutions, x- keys) is left out.

    Example: `rollout compile envs/refund -o refund.json`

    Exit code 0: compiled. 1: the environment has errors. 2: a path or a file that cannot be read or written.
    """
    import sys

    from rollout.cli.inputs import sound_environment
    from rollout.cli.output import fail, note, show, show_json, visible
    from rollout.compile.folder_writer import WriteError, write_file
    from rollout.compile.payload import compile_environment

    report, environment = sound_environment(path, slug=slug)
    try:
        compiled = compile_environment(environment)
    except ValueError as error:
        fail(str(error))
    target = None if output in (None, "-") else Path(str(output))
    if target is not None:
        try:
            if _is_of_environment(target, report.document):
                fail(
                    f"“{output}” is a file of the environment itself, or would be taken for one.",
                    "Name a file outside its folder.",
                )
            write_file(target, compiled.data)
        except WriteError as error:
            fail(str(error), error.hint)
    if as_json:
        show_json("compile", _describe(compiled, target))
    elif only_digest:
        show(compiled.digest)
    elif target is None:
        sys.stdout.buffer.write(compiled.data)
        sys.stdout.buffer.flush()
    else:
        note(
            f"{visible(str(target))}: {_count(len(compiled.environment['tasks']), 'task')}, {compiled.digest}"
        )


def _is_of_environment(target: Path, document: Document) -> bool:
    """Whether a file is one that the environment is read from, by whatever name, or lies in its folder."""
    if target.suffix == ".py":
        return True
    is_folder = any(source.path.stem == "environment" for source in document.sources)
    if is_folder and target.resolve().is_relative_to(document.root.resolve()):
        return True
    return any(
        target.exists() and source.path.exists() and target.samefile(source.path)
        for source in document.sources
    )


def _describe(compiled: Compiled, target: Path | None) -> dict[str, Any]:
    environment, verifier = compiled.environment, compiled.verifier
    config = environment.get("config", {})
    splits: dict[str, int] = {}
    for task in environment["tasks"]:
        splits[task["split"]] = splits.get(task["split"], 0) + 1
    counted = {key: len(config[key]) for key in ("tools", "fixtures", "files", "pages") if key in config}
    return {
        "slug": environment["slug"],
        "name": environment["name"],
        "template": environment["template"],
        "digest": compiled.digest,
        "bytes": len(compiled.data),
        "counts": {
            "tasks": len(environment["tasks"]),
            **counted,
            "primitives": len(verifier["primitives"]) if verifier else 0,
        },
        "splits": dict(sorted(splits.items())),
        "output": None if target is None else str(target),
    }


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


__all__ = ["compile"]
