"""`rollout refine`: has a model change an environment, shows the change, and makes it when it is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollout.cli.asking import Where

if TYPE_CHECKING:
    from rollout.platform.drafting import Examined
    from rollout.platform.refining import Refined, Workplace


def refine(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="The environment: a folder or a file.", show_default=False)
    ],
    instruction: Annotated[
        str | None,
        typer.Argument(metavar="INSTRUCTION", help="What is to change, in plain words.", show_default=False),
    ] = None,
    from_file: Annotated[
        str | None,
        typer.Option(
            "--from-file", metavar="FILE", help="The instruction, in a file; - is stdin.", show_default=False
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write a new folder, and leave PATH as it is.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="Who changes it, as PROVIDER/MODEL; the hosted platform has one of its own.",
            show_default=False,
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0.0, metavar="DOLLARS", help="Ask no more when so much is used.", show_default=False
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before the files are changed.")
    ] = False,
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Have a model change an environment as an instruction says.

    As with `rollout generate`, what it writes is checked and proved, and it is told what is wrong, three rounds at
    most. Then the change is shown, and the files are changed when you agree. Comments, ids, solutions and whatever else
    the change does not touch stay as they are. Ids and solutions are not sent.

    Example: `rollout refine envs/refund "Add two tasks with an order that is not there" -m openai/gpt-4o`

    Exit code 0: changed, or there was nothing to change. 1: it does not hold, or you did not want it. 2: wrong usage,
    or a place that cannot be written to. 3: the platform refused, or could not be asked.
    """

    from rollout.cli.asking import asking, is_attended
    from rollout.cli.generated import Generation, check_money, tell_warnings, wish_of
    from rollout.cli.inputs import sound_environment
    from rollout.cli.output import Exit, fail, note, show, show_json, tell_found, visible, wants_color
    from rollout.cli.outputs import refuse_source
    from rollout.compile.review import Entry
    from rollout.compile.review_text import render as render_review
    from rollout.platform.drafting import DraftError, draft_of, read_draft
    from rollout.platform.refining import RefineError, workplace

    wish = wish_of(instruction, from_file, "instruction")
    check_money(max_cost)
    target = None if output is None else Path(output)
    if target is not None and (target.exists() or target.is_symlink()):
        fail(f"There is something at “{target}” already.", "Name a folder that does not exist yet.")
    refuse_source(target)
    if target is None and not yes and not is_attended():
        fail("Nobody is here to look at the change.", "Say --yes, or have it written elsewhere with -o DIR.")
    report, environment = sound_environment(path)
    document = report.document
    if document.place.source.path.suffix.lower() == ".py":
        fail(
            f"“{path}” is a Python file, which is not written to.",
            "Compile it, and refine the folder: rollout compile, then rollout unpack.",
        )
    if environment.dialect is not None or environment.now is not None or not environment.read_only:
        fail("dialect, now and readOnly of a sql environment stay here, so it cannot be tried elsewhere.")
    try:
        current = draft_of(environment)
        read_draft(current, environment.template)
    except (DraftError, ValueError) as error:
        fail(f"“{path}” cannot be changed by a model. {error}")
    with workplace(document, environment) as place:
        with asking(endpoint) as client:
            generation = Generation(
                client,
                environment.template,
                slug=environment.slug,
                name=environment.name,
                model=model,
                max_cost=max_cost,
            )
            generation.prepare()
            examined = generation.refine(current, wish)
        if not generation.holds(examined):
            generation.refuse(examined, None)
        try:
            refined = _changed(place, examined)
        except RefineError as error:
            if error.diagnostics:
                tell_found(error.diagnostics, checked=[path])
            generation.tell_use()
            fail(f"Nothing was written. {error}", error.hint, code=Exit.FINDINGS)
        if not as_json:
            show(render_review([Entry(document.label, refined.difference)], color=wants_color()))
        tell_warnings(refined.diagnostics, path)
        generation.tell_use()
        for each in refined.anew:
            note(f"note: “{visible(each)}” is written anew, so comments in it go.")
        written: list[str] = []
        if not refined.difference.is_empty and _is_wanted(path, yes or target is not None):
            try:
                written = place.take_over() if target is None else place.put_into(target)
            except RefineError as error:
                fail(str(error), error.hint)
        if as_json:
            show_json(
                "refine", _told(client.endpoint, target or place.original, refined, written, generation.used)
            )
        elif written:
            show(
                f"{visible(str(target or place.original))}: {len(written)} file{'s' * (len(written) != 1)} written"
            )
    if not refined.difference.is_empty and not written:
        raise typer.Exit(Exit.FINDINGS)


def _changed(place: Workplace, examined: Examined) -> Refined:
    from rollout.environment import Task

    assert examined.compiled is not None
    return place.change(
        examined.compiled, [Task.from_value(dict(task)) for task in examined.draft.said["tasks"]]
    )


def _is_wanted(path: str, yes: bool) -> bool:
    import sys

    from rollout.cli.output import note, visible
    from rollout.cli.terminal import Terminal

    if yes or Terminal(sys.stderr).agrees(f"Change “{visible(path)}” so?"):
        return True
    note("Nothing was written.")
    return False


def _told(
    endpoint: str, path: Path, refined: Refined, written: list[str], used: dict[str, Any]
) -> dict[str, Any]:
    from rollout.compile.review import Entry
    from rollout.compile.review_json import describe

    return {
        "endpoint": endpoint,
        "path": str(path),
        "digest": refined.compiled.digest,
        "written": written,
        "without_comments": list(refined.anew),
        "change": describe([Entry(str(path), refined.difference)])["environments"][0],
        "usage": used or None,
    }


__all__ = ["refine"]
