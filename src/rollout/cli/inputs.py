"""What commands are given: paths found, read and checked, with the diagnostics shown when they do not hold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from rollout.check import Report, check, check_all
from rollout.check.rulebook import find_rules, rules
from rollout.cli.output import Exit, fail, note, tell_found
from rollout.diagnostics._visible import visible
from rollout.environment import Environment
from rollout.source import SourceError, find, read
from rollout.source.document import Document
from rollout.source.find import find_changed
from rollout.source.snapshot import ChangedError, settled

if TYPE_CHECKING:
    from rollout.settings import Settings


def find_paths(paths: Sequence[str]) -> list[Path]:
    """The environments at `paths`; ends the command with a sentence when there are none."""
    refuse_empty(*paths)
    left_out: list[Path] = []
    try:
        found = find(paths, passed_by=left_out.append)
    except SourceError as error:
        fail(str(error), error.hint)
    named = {path.resolve() for path in found}
    links = [visible(path.as_posix()) for path in left_out if path.is_dir()]
    if links:
        more = f" and {len(links) - 3} more links" if len(links) > 3 else ""
        note(f"Not followed: {', '.join(links[:3])}{more}. A link may lead anywhere, so name it.")
    python = [
        visible(path.as_posix()) for path in left_out if not path.is_dir() and path.resolve() not in named
    ]
    if python:
        more = f" and {len(python) - 3} more Python files" if len(python) > 3 else ""
        note(f"Not read: {', '.join(python[:3])}{more}. Reading a Python file runs it, so name it.")
    return found


def refuse_empty(*paths: str | None) -> None:
    """Ends the command where a path that was given has nothing in it, which would be taken for the current folder."""
    if any(path is not None and not path.strip() for path in paths):
        fail("A path is empty.", "Name a folder or a file; “.” is the current folder.")


def reports(
    paths: Sequence[str],
    *,
    slug: str | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    changed: bool = False,
) -> Iterator[Report]:
    """Reads and checks every environment at `paths`, one after the other.

    With `changed` they are names of files, which may belong to none.
    """
    selected = rule_slugs(select) if select else None
    ignored = rule_slugs(ignore)
    try:
        yield from check_all(_documents(paths, slug, changed=changed), select=selected, ignore=ignored)
    except ChangedError as error:
        fail(str(error), error.hint)


def _changed_paths(paths: Sequence[str]) -> list[Path]:
    try:
        return find_changed(paths)
    except SourceError as error:
        fail(str(error), error.hint)


def _documents(paths: Sequence[str], slug: str | None, *, changed: bool = False) -> Iterator[Document]:
    known: list[str] = []
    unread: list[Document] = []
    found = False
    for path in _changed_paths(paths) if changed else find_paths(paths):
        try:
            documents = read(path)
        except SourceError as error:
            fail(str(error), error.hint)
        for document in documents:
            known.append(document.slug)
            if slug is None or document.slug == slug:
                found = True
                yield document
            elif not document.readable:
                unread.append(document)
    if not found and unread:
        # It may be one of these: what is wrong with them is what there is to say.
        yield from unread
    elif not found and slug is not None:
        fail(f"There is no environment “{slug}” here.", f"There are {', '.join(known)}." if known else None)


def rule_slugs(selectors: Sequence[str]) -> frozenset[str]:
    """The slugs that codes, beginnings of codes and slugs (comma-separated or one by one) name."""
    found: set[str] = set()
    for joined in selectors:
        if not joined.replace(",", "").strip():
            fail(f"“{joined}” names no rule.", "Name rules by code or slug, or leave the option out for all.")
    for selector in (part.strip() for joined in selectors for part in joined.split(",")):
        if not selector:
            continue
        named = find_rules(selector)
        if not named:
            refuse_rule(selector)
        found |= {known.slug for known in named}
    return frozenset(found)


def refuse_rule(wanted: str) -> NoReturn:
    """Ends the command over a code or slug of no rule, with those that were perhaps meant."""
    from rollout.check.rulebook import near_rules
    from rollout.check.wording import closest, listed

    word = wanted.strip().replace("_", "-").lower()
    if beginnings := near_rules(word):
        hint = f"Codes begin with {listed(beginnings, 'or')}."
    elif begun := [known.slug for known in rules() if known.slug.startswith(word)]:
        hint = f"Did you mean {listed(begun, 'or')}?"
    elif near := closest(word, [known.slug for known in rules()]):
        hint = f"Did you mean “{near}”?"
    else:
        hint = "“rollout explain” lists all rules."
    fail(f"There is no rule “{wanted}”.", hint)


def sound_environments(
    paths: Sequence[str], *, slug: str | None = None
) -> Iterator[tuple[Report, Environment]]:
    """The environments at `paths` that hold. The first one that does not ends the command with its diagnostics."""
    for report in reports(paths, slug=slug):
        yield sound(report)


def sound_environment(path: str, *, slug: str | None = None) -> tuple[Report, Environment]:
    """The one environment at `path`; several without a `--slug` end the command with the choices."""
    return sound(_only(list(reports([path], slug=slug)), path))


def found_environments(paths: Sequence[str], *, slug: str | None = None) -> list[Report]:
    """All environments at `paths`, for a command that takes several.

    A file that holds several has to be told which by `--slug`, where it is the only path.
    """
    found = list(reports(paths, slug=slug))
    if len(paths) == 1 and Path(paths[0]).is_file():
        return [_only(found, paths[0])]
    return found


def _only(found: Sequence[Report], path: str) -> Report:
    if len(found) > 1 and not any(report.document.readable for report in found):
        tell_diagnostics(found)
        raise typer.Exit(exit_code(found))
    if len(found) > 1:
        slugs = ", ".join(report.document.slug for report in found)
        fail(
            f"There are {len(found)} environments at “{path}”: {slugs}.",
            "Name one with --slug, or give its own path.",
        )
    return found[0]


def sound(report: Report) -> tuple[Report, Environment]:
    """The environment of a report; when it has errors, ends the command with its diagnostics."""

    def environment(document: Document) -> tuple[Report, Environment]:
        fresh = report if document is report.document else check(document)
        if not fresh.ok:
            tell_diagnostics([fresh])
            raise typer.Exit(exit_code([fresh]))
        return fresh, fresh.environment()

    try:
        return settled(report.document, environment)
    except ChangedError as error:
        fail(str(error), error.hint)


def project_settings() -> Settings:
    """The settings of the project that this runs in; mistakes in them end the command with their diagnostics."""
    from rollout.settings import Settings, SettingsError, find_settings, read_settings

    path = find_settings(Path.cwd())
    if path is None:
        return Settings()
    label = os.path.relpath(path)
    try:
        return read_settings(path, label)
    except SettingsError as error:
        tell_found(error.diagnostics, checked=[])
        raise typer.Exit(Exit.USAGE) from None


def tell_diagnostics(found: Sequence[Report], *, among: Sequence[Report] = ()) -> None:
    """Shows the diagnostics of `found` on stderr, as text; `among` are all that were checked, where that is more."""
    # Two environments of a Python file may share a mistake: it is one, at one place.
    diagnostics = [*dict.fromkeys(diagnostic for report in found for diagnostic in report.diagnostics)]
    tell_found(diagnostics, checked=[report.document.label for report in among or found])


def in_sandbox(kind: str | None) -> AbstractContextManager[None]:
    """Runs commands in the sandbox that `--sandbox` names; ends the program when there is none of that name."""
    from rollout.sandbox import SandboxError, asked_for, chosen

    try:
        with chosen(kind):
            asked_for()
    except SandboxError as error:
        fail(str(error))
    return chosen(kind)


def exit_code(found: Sequence[Report], *, strict: bool = False) -> Exit:
    """2 when something could not be read, else 1 when there is an error (or under strict a warning), else 0."""
    if not all(report.is_whole for report in found):
        return Exit.USAGE
    if any(report.errors or (strict and report.warnings) for report in found):
        return Exit.FINDINGS
    return Exit.FINE


__all__ = [
    "exit_code",
    "find_paths",
    "found_environments",
    "project_settings",
    "refuse_empty",
    "refuse_rule",
    "reports",
    "rule_slugs",
    "sound",
    "sound_environment",
    "sound_environments",
    "tell_diagnostics",
]
