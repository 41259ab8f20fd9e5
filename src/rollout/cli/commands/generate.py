"""`rollout generate`: has a model write an environment, and writes down what is checked and proved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rollout.cli import completions
from rollout.cli.asking import Where

if TYPE_CHECKING:
    from rollout.platform.drafting import Examined

FORMATS = ("folder", "python", "json")


def generate(
    description: Annotated[
        str | None,
        typer.Argument(
            metavar="DESCRIPTION", help="What the environment is to be, in plain words.", show_default=False
        ),
    ] = None,
    template: Annotated[
        str,
        typer.Option(
            "--template",
            "-t",
            metavar="TEMPLATE",
            autocompletion=completions.templates,
            help="What kind of world it is: browser, code-editing, custom, sql or workflow.",
            show_default=False,
        ),
    ] = "",
    from_file: Annotated[
        str | None,
        typer.Option(
            "--from-file", metavar="FILE", help="The description, in a file; - is stdin.", show_default=False
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="PATH",
            help="The folder, else one called SLUG; the file of --format python or json, else stdout.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help="folder, python, or json: the platform's envelope."),
    ] = "folder",
    slug: Annotated[
        str | None,
        typer.Option(metavar="SLUG", help="What it is known by; else the name of PATH.", show_default=False),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="What people call it.", show_default=False)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="Who writes it, as PROVIDER/MODEL; the hosted platform has one of its own.",
            show_default=False,
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0.0, metavar="DOLLARS", help="Ask no more when so much is used.", show_default=False
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave what does not hold in PATH.rejected, to look at.")
    ] = False,
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Have a model write an environment from a description.

    What it writes is checked by all rules and proved: each of its solutions must reach the top score, and doing
    nothing or the wrong thing must not pass. What is found wrong it is told, three rounds at most. What does not hold
    then is shown as that, and nothing is written. Read what holds before you use it: a proof does not say that it is
    what you meant.

    On `local` the model is asked with your key, on a server with the server's.

    Example: `rollout generate "A desk that refunds orders" -t workflow -m openai/gpt-4o -o envs/refund`

    Exit code 0: written. 1: what the model wrote does not hold. 2: wrong usage, or a place that cannot be written to.
    3: the platform refused, or could not be asked.
    """
    from rollout.cli.asking import asking
    from rollout.cli.generated import Generation, check_money, envelope, tell_warnings, wish_of
    from rollout.cli.output import fail, show, show_json, visible
    from rollout.cli.outputs import refuse_source
    from rollout.compile.folder_writer import WriteError
    from rollout.platform.author import titled

    wish = wish_of(description, from_file, "description")
    _check_template(template)
    if form not in FORMATS:
        fail(f"There is no format “{form}”.", f"Choose one of {', '.join(FORMATS)}.")
    check_money(max_cost)
    slug = _slug(slug, output)
    target = Path(output) if output is not None else Path(slug) if form == "folder" else None
    _check_free(target, form)
    rejected = None
    if keep:
        rejected = Path(f"{target if target is not None else slug}.rejected")
        _check_free(rejected, "folder")
    refuse_source(target, rejected)
    with asking(endpoint) as client:
        generation = Generation(
            client, template, slug=slug, name=name or titled(slug), model=model, max_cost=max_cost
        )
        generation.prepare()
        examined = generation.generate(wish)
    if not generation.holds(examined):
        generation.refuse(examined, rejected)
    try:
        text, files = _write(examined, target, form)
    except (WriteError, ValueError) as error:
        fail(str(error), getattr(error, "hint", None))
    tell_warnings(examined.diagnostics, slug)
    generation.tell_use()
    assert examined.compiled is not None
    if as_json:
        data = {
            "endpoint": client.endpoint,
            "slug": slug,
            "template": template,
            "digest": examined.compiled.digest,
            "path": None if target is None else str(target),
            "files": files,
            "environment": envelope(examined),
            "usage": generation.used or None,
        }
        show_json("generate", data)
    elif target is None:
        _print(text, form)
    else:
        tasks = len(examined.draft.said["tasks"])
        show(f"{visible(str(target))}: {tasks} task{'s' * (tasks != 1)}, proved, {examined.compiled.digest}")


def _write(examined: Examined, target: Path | None, form: str) -> tuple[str, list[str]]:
    """Writes it, or gives the text of it; the paths that were written. Raises WriteError."""
    from rollout.cli.generated import json_text
    from rollout.compile.folder_writer import write_file, write_folder
    from rollout.compile.python_source import python_source

    if form == "folder":
        assert target is not None
        write_folder(target, examined.files)
        return "", [(target / path).as_posix() for path in sorted(examined.files)]
    if form == "json":
        text = json_text(examined)
    else:
        assert examined.environment is not None
        text = python_source(examined.environment)
        _compiles_alike(text, examined)
    if target is None:
        return text, []
    write_file(target, text.encode(), replace=False)
    return text, [str(target)]


def _print(text: str, form: str) -> None:
    """Writes the text as it is to stdout, where nothing in it is a command to the runner of GitHub Actions."""
    import os
    import sys

    if os.environ.get("GITHUB_ACTIONS") == "true":
        # It stands in strings only, and means the same so.
        text = text.replace("##[", "#\\u0023[")
    sys.stdout.buffer.write(text.encode())


def _compiles_alike(text: str, examined: Examined) -> None:
    import tempfile

    from rollout.check.report import environment_in
    from rollout.compile import compile_environment
    from rollout.source import read_one

    with tempfile.TemporaryDirectory(prefix="rollout-python-") as scratch:
        file = Path(scratch, "environment.py")
        file.write_text(text, encoding="utf-8", newline="")
        again = compile_environment(environment_in(read_one(file)))
    assert examined.compiled is not None
    if again.digest != examined.compiled.digest:
        raise ValueError(
            "Nothing was written: the Python file would say something else. This is a fault in rollout; please report "
            "it."
        )


def _check_template(template: str) -> None:
    from rollout.check.wording import closest
    from rollout.cli.output import fail
    from rollout.source.contract import templates

    if not template:
        fail("No template is given.", f"Say --template and one of {', '.join(templates())}.")
    if template not in templates():
        near = closest(template, list(templates()))
        fail(
            f"There is no template “{template}”.",
            f"Did you mean “{near}”?" if near else f"Choose one of {', '.join(templates())}.",
        )


def _slug(given: str | None, output: str | None) -> str:
    """The slug that is given, or that PATH has. Ends the command where it is none."""
    import re

    from rollout.cli.output import fail
    from rollout.platform.author import STAND_IN

    if given is None and output is None:
        return STAND_IN
    place = Path(output or "")
    stem = place.stem if place.suffix.lower() in (".py", ".json") else place.resolve().name
    slug = given if given is not None else stem.replace("_", "-")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", slug):
        fail(
            f"“{slug}” cannot be an environment's slug: letters, digits, “.”, “_” and “-” make one, 100 at most, "
            "and a letter or digit comes first.",
            "Name one with --slug, such as --slug my-environment.",
        )
    return slug


def _check_free(target: Path | None, form: str) -> None:
    """Ends the command where the target cannot be written to: a model costs money, and is not asked for nothing."""
    from rollout.cli.output import fail

    if target is None or not (target.exists() or target.is_symlink()):
        return
    if form == "folder" and target.is_dir() and not any(target.iterdir()):
        return
    fail(f"There is something at “{target}” already.", "Name a place with -o where there is nothing yet.")


__all__ = ["generate"]
