"""A file lies in the environment's folder that nobody reads.

A typing error in a file's name is the worst kind: with `verifer.yaml` the environment works, but without its
verifier. So whatever is not read is told of. Correct the name, move the file elsewhere, or begin its name with `x-`
if it is meant to be there. Readmes, licences, other documents (`.md`, `.txt`), Python and hidden files are let be.

All that lies below `files/` and `hidden/` is read, `.gitignore` and `.github/` too, but for what belongs to a tool:
`.git/`, `node_modules/` and `.venv/`, and without a warning `.DS_Store`, `Thumbs.db`, `__pycache__/` and the caches
of test runners.

Before:

    $ ls environments/refund
    config.yaml  environment.yaml  fixture/  tasks.jsonl  verifer.yaml

After:

    $ ls environments/refund
    config.yaml  environment.yaml  fixtures/  tasks.jsonl  verifier.yaml
"""

from __future__ import annotations

from rollout.check.wording import closest, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.source.contract import schema, schema_names
from rollout.source.place import Problem

CODE = "RL136"
SEVERITY = Severity.WARNING


def describe(problem: Problem) -> tuple[str, str | None]:
    name, is_folder = problem.facts["name"], problem.facts["is_folder"]
    message = f"The {'folder' if is_folder else 'file'} {quoted(name + '/' * is_folder)} is not read."
    if problem.facts.get("suffixes") == ():
        return (
            message,
            "It belongs to a tool, not to what the agent works on; keep it outside the environment.",
        )
    if "suffixes" in problem.facts:
        if is_folder:
            return message, "Put its files one folder up; only files are read here."
        *others, last = (f".{suffix}" for suffix in problem.facts["suffixes"] if suffix != "yml")
        return (
            message,
            f"What is read here ends in {', '.join(others)} or {last}."
            if others
            else f"What is read here ends in {last}.",
        )
    return message, _way_out(name, is_folder, problem.facts["known"], problem.facts["template"])


def _way_out(name: str, is_folder: bool, known: tuple[str, ...], template: str | None) -> str:
    stem, _, suffix = name.partition(".")
    if template is not None and _is_key_of_config(stem, template):
        return f"{quoted(stem)} is a key of config: write it in config.yaml."
    if (near := closest(name, [each for each in known if is_folder != ("." in each)])) is not None:
        return suggestion(near, name, near + "/" * is_folder)
    endings = [each.partition(".")[2] for each in known if each.startswith(f"{stem}.")]
    if suffix and endings:
        return f"{quoted(stem)} is read from a file that ends in {', '.join(f'.{each}' for each in endings)}."
    if template is not None and (others := [each for each in schema_names() if _spreads(each, stem)]):
        return f"Only the template {quoted(others[0])} reads it; this one is {quoted(template)}."
    return "Move it elsewhere, or begin its name with “x-” to keep it here."


def _is_key_of_config(stem: str, template: str) -> bool:
    found = schema(template).get("properties", {}).get(stem) if template in schema_names() else None
    return template != "sql" and found is not None and "x-spread" not in found and stem != "description"


def _spreads(template: str, stem: str) -> bool:
    found = schema(template).get("properties", {}).get(stem)
    return isinstance(found, dict) and "x-spread" in found


__all__ = ["CODE", "SEVERITY", "describe"]
