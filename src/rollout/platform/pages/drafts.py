"""An environment that somebody writes in a form: a text for each file of the folder that it would be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rollout.check import Report, check
from rollout.compile import Compiled, compile_environment
from rollout.compile.file_name import can_be_path, fit_together
from rollout.compile.scaffold import scaffold
from rollout.compile.yaml_text import write_yaml
from rollout.diagnostics import Diagnostic
from rollout.platform.pages.visiting import Form
from rollout.platform.server.http import ApiError
from rollout.scratch import scratch
from rollout.source.contract import templates
from rollout.source.folder import read_folder

ABOUT = "environment.yaml"
"""The file that the form's own fields make."""

LABEL = "environment"
"""What the folder is called in what is said of it."""

_NAME, _SLUG = "Example", "example"
_SUFFIXES = frozenset((".csv", ".html", ".json", ".jsonl", ".md", ".sql", ".toml", ".yaml", ".yml"))
_ANY_SUFFIX = ("files", "hidden_files")
_MOST_FILES = 200
_ABOUT_LINE = re.compile(r"(?m)^(slug|name|description|template):")


class File(NamedTuple):
    """A file of the folder: its path, and what is in it."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What the form holds."""

    template: str
    slug: str
    name: str
    description: str
    files: Sequence[File]


@dataclass(frozen=True, slots=True)
class Looked:
    """What the checker finds of a draft; ``compiled`` is None as long as there are errors."""

    diagnostics: Sequence[Diagnostic]
    compiled: Compiled | None


def first_draft(template: str) -> Draft:
    """The working defaults of a template: those that `rollout new` begins with. Raises ApiError for none of them."""
    _expect(template)
    files = scaffold(template, slug=_SLUG, name=_NAME)
    about = files.pop(ABOUT)
    description = re.search(r"(?m)^description: (.*)$", about)
    return Draft(
        template,
        _SLUG,
        _NAME,
        description[1] if description else "",
        [File(path, text) for path, text in sorted(files.items(), key=_order)],
    )


def draft_in(form: Form) -> Draft:
    """The draft that a form was sent with. Raises ApiError for paths that no folder could hold."""
    template = form.get("template")
    _expect(template)
    files = [
        # Browsers end lines as the network does.
        File(path.strip(), text.replace("\r\n", "\n"))
        for path, text in zip_longest(form.all("path"), form.all("text"), fillvalue="")
        if path.strip()
    ]
    for file in files:
        if not _can_be(file.path):
            raise ApiError(
                400, f"“{file.path[:200]}” cannot be a file here.", "Name it as fixtures/orders.yaml is."
            )
    paths = [ABOUT, *(file.path for file in files)]
    if len(files) > _MOST_FILES or len(fit_together(paths)) != len(paths):
        raise ApiError(400, "Some of the files cannot lie beside each other.", "Give each another name.")
    fields = {name: form.get(name).strip() for name in ("slug", "name", "description")}
    return Draft(template, **fields, files=files)


def look(draft: Draft) -> Looked:
    """Checks a draft as `rollout validate` would the folder, and compiles it."""
    with scratch("draft") as made:
        folder = Path(made)
        _write(draft, folder)
        report: Report = check(read_folder(folder, LABEL))
        compiled = compile_environment(report.environment()) if report.ok else None
        return Looked(report.diagnostics, compiled)


def file_of(diagnostic: Diagnostic) -> str:
    """The file that a finding is in, or the field that stands for its line."""
    path = diagnostic.span.path.removeprefix(f"{LABEL}/")
    if path == ABOUT and (field := _ABOUT_LINE.match(diagnostic.span.text)):
        return field[1]
    return path if path != LABEL else ""


def _write(draft: Draft, folder: Path) -> None:
    said = {"slug": draft.slug, "name": draft.name, "template": draft.template}
    about = write_yaml({**said, **({"description": draft.description} if draft.description else {})})
    for path, text in (File(ABOUT, about), *draft.files):
        if text.strip():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")


def _can_be(path: str) -> bool:
    named = PurePosixPath(path)
    if not can_be_path(path) or str(named.with_suffix("")) == "environment":
        return False
    return named.suffix.lower() in _SUFFIXES or (len(named.parts) > 1 and named.parts[0] in _ANY_SUFFIX)


def _expect(template: str) -> None:
    if template not in templates():
        known = ", ".join(templates())
        raise ApiError(404, f"There is no template “{template[:80]}”.", f"Choose one of these: {known}.")


def _order(file: tuple[str, str]) -> tuple[int, str]:
    """What the agent gets comes first, then tasks, then how it is judged."""
    path = file[0]
    last = {"tasks.jsonl": 1, "verifier.yaml": 2}
    return last.get(path, 0), path


__all__ = ["ABOUT", "Draft", "File", "Looked", "draft_in", "file_of", "first_draft", "look"]
