"""`rollout new`: starts an environment with a small one that works, and comments that teach the format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from rollout.cli import completions
from rollout.source.contract import templates

_INITIALISMS = {word.lower(): word for word in ("AI", "API", "CRM", "FAQ", "HR", "HTML", "JS", "SQL", "URL")}
_OTHER_FILES = frozenset(
    (".csv", ".html", ".ipynb", ".js", ".json", ".jsonl", ".md", ".py", ".sql", ".ts", ".txt", ".xml", ".zip")
)


def new(
    template: Annotated[
        str,
        typer.Argument(
            metavar="TEMPLATE",
            autocompletion=completions.templates,
            help=f"{', '.join(templates()[:-1])} or {templates()[-1]}.",
        ),
    ],
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="The folder to make; its name is the slug. With .yaml or .toml at its end, a single file.",
        ),
    ],
    toml: Annotated[bool, typer.Option("--toml", help="TOML instead of YAML.")] = False,
    one_file: Annotated[bool, typer.Option("--one-file", help="Everything in one environment file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Start an environment from a small working example.

    It validates, and is there for you to rewrite piece by piece. Nothing that exists is overwritten.

    The examples are proved as they come: `rollout prove` plays their solutions. Rewrite a task without its solution,
    and prove fails until the new one is there. Commands of code-editing run in a sandbox, such as bubblewrap, with the
    Python that runs rollout; its tests are unittest's, since pytest would have to be installed first.

    The first line of environment, config and verifier files names their JSON Schema, for completion and hover in
    editors. Offline, point the editor at what `rollout schema NAME` prints: `environment` for environment.yaml, the
    template's name for config.yaml, `verifier` for verifier.yaml.

    Example: `rollout new workflow envs/refund`
    """
    from rollout.cli.output import fail, show, show_json, visible
    from rollout.cli.outputs import refuse_source
    from rollout.compile.folder_writer import WriteError, write_file, write_folder
    from rollout.compile.scaffold import scaffold

    if template not in templates():
        _refuse_template(template)
    target = Path(path)
    if target.suffix.lower() in _OTHER_FILES:
        fail(
            f"“{path}” is the name of a {target.suffix.lower()} file; an environment is started as a folder, or as one "
            "YAML or TOML file.",
            f"Write “{target.with_suffix('')}” for a folder, or “{target.with_suffix('.yaml')}” for one file.",
        )
    is_file = target.suffix.lower() in (".yaml", ".yml", ".toml")
    is_toml = toml or target.suffix.lower() == ".toml"
    if is_file and is_toml != (target.suffix.lower() == ".toml"):
        fail(
            f"“{path}” is the name of a YAML file, but --toml was given.",
            "Name it .toml, or leave --toml out.",
        )
    slug = _slug(target, is_file)
    refuse_source(None if target.exists() else target)
    files = scaffold(template, slug=slug, name=_title(slug), toml=is_toml, one_file=one_file or is_file)
    try:
        if is_file:
            write_file(target, next(iter(files.values())).encode("utf-8"), replace=False)
        else:
            write_folder(target, files)
    except WriteError as error:
        fail(str(error), error.hint)
    except OSError as error:
        fail(f"“{path}” cannot be written: {error.strerror or error}.")
    written = [str(target)] if is_file else [(target / name).as_posix() for name in sorted(files)]
    if as_json:
        show_json("new", {"slug": slug, "template": template, "path": str(target), "files": written})
        return
    for each in written:
        show(f"  {visible(str(each))}")
    show(f"\nThis {template} environment works as it is: rewrite it piece by piece.")
    shown = visible(str(path))
    show(f"Check it with “rollout validate {shown}”, prove it with “rollout prove {shown}”.")


def _slug(target: Path, is_file: bool) -> str:
    """The slug that the path gives; ends the command with a better name where it is none."""
    import re

    name = target.stem if is_file else target.resolve().name
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        _refuse_name(name, target, is_file)
    return name


def _refuse_name(name: str, target: Path, is_file: bool) -> NoReturn:
    import re

    from rollout.cli.output import fail

    better = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:100].strip("-")
    rest = target.with_name(better + (target.suffix if is_file else "")) if better and target.name else None
    fail(
        f"“{name}” cannot be an environment's slug: letters, digits, “.”, “_” and “-” make one, 100 at most, "
        "and a letter or digit comes first.",
        f"How about “{rest}”?" if rest else "Choose another name for the folder, such as “my-environment”.",
    )


def _title(slug: str) -> str:
    import re

    words = [word for word in re.split(r"[-_.]+", slug) if word]
    return " ".join(_INITIALISMS.get(word, word[0].upper() + word[1:]) for word in words) or slug


def _refuse_template(template: str) -> None:
    from difflib import get_close_matches

    from rollout.cli.output import fail

    near = get_close_matches(template.lower().replace("_", "-"), templates(), n=1)
    fail(
        f"There is no template “{template}”.",
        f"Did you mean “{near[0]}”?" if near else f"Choose one of {', '.join(templates())}.",
    )


__all__ = ["new"]
