"""`rollout compile`: writes the platform's JSON of environments, the same bytes on every machine, and its digest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rollout.check import Report
    from rollout.compile.payload import Compiled
    from rollout.environment import Environment
    from rollout.source.document import Document


def compile(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH…",
            help="The environment: a folder, a file, or a Python file; or several, folders of them, and globs.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write there; - is stdout. For several environments it is a folder, of a SLUG.json each.",
        ),
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

    Examples: `rollout compile envs/refund -o refund.json`, `rollout compile envs --digest`

    Exit code 0: compiled. 1: an environment has errors; others are compiled all the same. 2: a path or a file that
    cannot be read or written.
    """
    from rollout.cli.inputs import found_environments, refuse_empty, sound
    from rollout.cli.output import show, show_json

    refuse_empty(output)
    found = found_environments(paths, slug=slug)
    if len(found) > 1:
        raise typer.Exit(_compile_all(found, output, only_digest=only_digest, as_json=as_json))
    target = None if output in (None, "-") else Path(str(output))
    if target is not None:
        _refuse_sources([target], [found[0].document])
    _, environment = sound(found[0])
    compiled = _compiled(environment)
    if target is not None:
        _write(target, compiled)
    if as_json:
        show_json("compile", _describe(compiled, target))
    elif only_digest:
        show(compiled.digest)
    elif target is None:
        import sys

        sys.stdout.buffer.write(compiled.data)
        sys.stdout.buffer.flush()
    else:
        _note_written(target, compiled)


def _compile_all(found: Sequence[Report], output: str | None, *, only_digest: bool, as_json: bool) -> int:
    """Compiles several environments into a folder, or shows their digests; returns the worst exit code."""
    from rollout.cli.envelope import take_error
    from rollout.cli.inputs import sound
    from rollout.cli.output import Exit, fail, show, show_json, visible

    if output is None and not (only_digest or as_json):
        listed = ", ".join(report.document.slug for report in found[:5]) + (", …" if len(found) > 5 else "")
        fail(
            f"There are {len(found)} environments, which are not one JSON: {listed}.",
            "Name a folder with -o DIR, ask for --digest, or name one with --slug.",
        )
    if output == "-":
        fail(f"There are {len(found)} environments, which are not one JSON.", "Name a folder with -o DIR.")
    slugs = [report.document.slug for report in found]
    twice = next((each for each in slugs if slugs.count(each) > 1), None)
    if output is not None and twice is not None:
        fail(
            f"Two of the environments have the slug “{twice}”, so both would be “{twice}.json”.",
            "Compile them one by one.",
        )
    targets = [None if output is None else Path(output, f"{slug}.json") for slug in slugs]
    _refuse_sources([target for target in targets if target], [report.document for report in found])
    worst, told, left = int(Exit.FINE), [], []
    for report, target in zip(found, targets, strict=True):
        try:
            compiled = _compiled(sound(report)[1])
        except typer.Exit as ended:
            worst = max(worst, ended.exit_code)
            left.append(
                {"environment": report.document.slug, "path": report.document.label, "error": take_error()}
            )
            continue
        if target is not None:
            _write(target, compiled)
        if only_digest and not as_json:
            show(f"{compiled.digest}  {visible(report.document.label)}")
        elif target is not None and not as_json:
            _note_written(target, compiled)
        told.append({"path": report.document.label, **_describe(compiled, target)})
    if as_json:
        show_json("compile", {"environments": told, "not_compiled": left})
    return worst


def _compiled(environment: Environment) -> Compiled:
    from rollout.cli.output import fail
    from rollout.compile.payload import compile_environment

    try:
        return compile_environment(environment)
    except ValueError as error:
        fail(str(error))


def _refuse_sources(targets: Sequence[Path], documents: Sequence[Document]) -> None:
    """Ends the command, before anything is written, where a target is or would be a file of any environment."""
    import os

    from rollout.cli.output import fail
    from rollout.source.find import environment_around

    for target in targets:
        home = environment_around(target)
        if any(_is_of_environment(target, document) for document in documents):
            what = "the environment itself" if len(documents) == 1 else "one of the environments"
        elif home is not None:
            what = f"the environment “{os.path.relpath(home)}”"
        else:
            continue
        fail(f"“{target}” is a file of {what}, or would be taken for one.", "Name a file outside its folder.")


def _write(target: Path, compiled: Compiled) -> None:
    from rollout.cli.output import fail
    from rollout.compile.folder_writer import WriteError, write_file

    try:
        write_file(target, compiled.data)
    except WriteError as error:
        fail(str(error), error.hint)


def _note_written(target: Path, compiled: Compiled) -> None:
    from rollout.cli.output import note, visible

    note(f"{visible(str(target))}: {_count(len(compiled.environment['tasks']), 'task')}, {compiled.digest}")


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
