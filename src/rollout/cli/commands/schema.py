"""`rollout schema`: prints one of the JSON Schemas that are the format's contract, or lists them."""

from __future__ import annotations

from typing import Annotated

import typer

from rollout.cli import completions


def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            autocompletion=completions.schemas,
            help="environment, task, verifier, a template, … as the list shows them.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Print a JSON Schema of the format, or list all.

    What one refers to is in it, so that editors and validators need no other file and no network. `environment` is for
    environment.yaml, a template's name for its config.yaml, `verifier` for verifier.yaml, `task` for one line of
    tasks.jsonl, `settings` for rollout.toml.

    Example: `rollout schema verifier > verifier.schema.json`
    """
    import json

    from rollout.cli.output import show, show_json
    from rollout.source.contract import bundled, schema_names
    from rollout.source.contract import schema as contract

    names = schema_names()
    if name is None:
        entries = [_entry(each, contract(each)) for each in names]
        if as_json:
            show_json("schema", entries)
        else:
            widest = max(map(len, names))
            show("\n".join(f"{entry['name']:<{widest}}  {entry['title']}" for entry in entries))
        return
    chosen = name.strip().removesuffix(".schema.json").replace("_", "-")
    if chosen not in names:
        _refuse(name, names)
    if as_json:
        show_json("schema", {**_entry(chosen, contract(chosen)), "schema": bundled(chosen)})
    else:
        show(json.dumps(bundled(chosen), ensure_ascii=False, indent=2))


def _entry(name: str, contract: dict[str, object]) -> dict[str, object]:
    return {"name": name, "title": contract.get("title", name), "id": contract.get("$id")}


def _refuse(wanted: str, names: tuple[str, ...]) -> None:
    from rollout.check.wording import closest
    from rollout.cli.output import fail

    near = closest(wanted, names)
    fail(
        f"There is no schema “{wanted}”.",
        f"Did you mean “{near}”?" if near else f"The schemas are {', '.join(names)}.",
    )


__all__ = ["schema"]
