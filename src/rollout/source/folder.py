"""Puts an environment together from the files of its folder, or from one file that has everything inline.

One rule: ``environment.yaml`` is the payload; any top-level key may live in a sibling file named after it, and any
config key that the template marks as spreadable in a sibling file or folder named after that. A key that is given
in two places is a problem, and so is a file that nobody reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any, TypeVar

from rollout.diagnostics import Span
from rollout.source.contract import schema, templates
from rollout.source.document import Document, Tasks
from rollout.source.file import opening, read_source, whole
from rollout.source.formats import read_data
from rollout.source.gather import Gathering, key_in_two_places
from rollout.source.layout import ENVIRONMENT_FILES, STRUCTURED, known_names, siblings, spreads
from rollout.source.listing import Entry, Listing, join_label
from rollout.source.place import Parsed, Place, Problem
from rollout.source.snapshot import Mark, read_settled
from rollout.source.stray import unread_files
from rollout.source.tasks import InlineTasks, JsonlTasks
from rollout.source.text import SourceFile

T = TypeVar("T")

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def read_folder(folder: Path, label: str) -> Document:
    """The environment in ``folder``, which a person knows as ``label``. Never raises for what the files hold.

    All of it is as it was at one moment. Raises ChangedError when the files change all the time.
    """
    stem = Path(folder).resolve().name
    return read_settled(folder, label, lambda marks: _Assembly(folder, label, stem, marks).assemble())


def read_file(path: Path, label: str) -> Document:
    """The environment that is one YAML, TOML or JSON file with everything inline."""

    def read(marks: Mapping[str, Mark]) -> Document:
        assembly = _Assembly(path.parent, label, path.stem, marks)
        assembly.take_root(read_data(path, label, assembly.problems), label, path)
        return assembly.document()

    return read_settled(path, label, read)


class _Assembly:
    def __init__(self, folder: Path, label: str, stem: str, marks: Mapping[str, Mark]) -> None:
        self.marks = marks
        self.folder = folder
        self.label = label
        self.stem = stem
        self.problems: list[Problem] = []
        self.listing = Listing(folder, label, self.problems)
        self.gathering = Gathering(self.listing, self.problems)
        self.value: dict[str, Any] = {}
        self.places: dict[str, Place] = {}
        self.root = Place(SourceFile(folder, label, ""), 0, 0, self.places)
        self.tasks: Tasks | None = None
        self.unread: set[str] = set()
        self.is_readable = True

    def assemble(self) -> Document:
        entries = {entry.name: entry for entry in self.listing.entries()}
        used = self.refuse_folders(entries)
        used |= self.read_environment_file(entries)
        used |= self.read_siblings(entries)
        used |= self.read_tasks_folder(entries)
        used |= self.read_spreads(entries)
        self.note_refused()
        self.problems += unread_files(
            [entry for name, entry in entries.items() if name not in used],
            [*self.gathering.stray, *((entry, ()) for entry in self.listing.left_out)],
            known=known_names(self.template),
            template=self.template,
        )
        return replace(self.document(), again=partial(read_folder, self.folder, self.label))

    def document(self) -> Document:
        self.problems += leaving_paths(self.value, self.root, self.template)
        self.check_stem()
        if "tasks" in self.value:
            inline = InlineTasks(Parsed(self.value.pop("tasks"), self.places.pop("tasks")))
            self.tasks = self.tasks or inline
        self.root.children = self.places
        return Document(
            root=self.folder,
            label=self.label,
            value=self.value,
            place=self.root,
            tasks=self.tasks
            or InlineTasks(Parsed([], Place(self.root.source, self.root.start, self.root.start))),
            sources=tuple(self.gathering.sources),
            problems=tuple(self.problems),
            readable=self.is_readable and self.gathering.is_whole and self.listing.is_complete,
            unread=frozenset(self.unread),
            stem=self.stem,
        )

    @property
    def template(self) -> str | None:
        name = self.value.get("template")
        return name if isinstance(name, str) and name in templates() else None

    # The files

    def refuse_folders(self, entries: dict[str, Entry]) -> set[str]:
        """Tells of folders under the names of files, whose content nobody can read."""
        files = {name for name in known_names(None) if "." in name}
        found = {name for name, entry in entries.items() if entry.is_folder and name in files}
        for name in sorted(found):
            facts = {"reason": "not-a-file", "kind": "folder"}
            self.problems.append(Problem("unreadable-file", whole(entries[name].label), facts))
            self.is_readable = False
        self.listing.refused |= found
        return found

    def read_environment_file(self, entries: dict[str, Entry]) -> set[str]:
        names = [name for name in ENVIRONMENT_FILES if name in entries and not entries[name].is_folder]
        if not names:
            from difflib import get_close_matches

            near = [
                name for name in entries if get_close_matches(name.casefold(), ENVIRONMENT_FILES, 1, 0.85)
            ]
            # A file that is there but leads out of the folder has been told of already, and so has the whole folder.
            told = {problem.span.path for problem in self.problems}
            if (self.label or ".") not in told and not any(
                PurePosixPath(path).name in ENVIRONMENT_FILES for path in told
            ):
                facts = {"names": ENVIRONMENT_FILES, "near": near}
                self.problems.append(Problem("no-environment-file", whole(self.label), facts))
            name = ENVIRONMENT_FILES[0]
            self.take_root(None, join_label(self.label, name), self.folder / name)
            return set(near)
        first = entries[names[0]]
        self.take_root(read_data(first.path, first.label, self.problems), first.label, first.path)
        for name in names[1:]:
            second = entries[name]
            self.refuse_second(
                "environment", opening(second.path, second.label), opening(first.path, first.label)
            )
            self.unread |= set(schema("environment")["properties"])
            self.is_readable = False  # Which of them is meant, nobody knows, and only one was read.
        return set(names)

    def take_root(self, parsed: Parsed | None, label: str, path: Path) -> None:
        """Takes what the environment file holds as the payload's top level."""
        if parsed is not None and not isinstance(parsed.value, dict):
            facts = {"type": type(parsed.value).__name__}
            self.problems.append(Problem("environment-not-an-object", parsed.place.span(), facts))
            self.gathering.sources.append(parsed.place.source)
            parsed = None
        elif parsed is not None and _is_compiled(parsed.value):
            slug = parsed.value["environment"].get("slug")
            folder = slug if isinstance(slug, str) and _SLUG.fullmatch(slug) else "FOLDER"
            home = parsed.place.child("environment") or parsed.place
            self.problems.append(Problem("compiled-file", home.span("key"), {"folder": folder}))
            self.gathering.sources.append(parsed.place.source)
            parsed = None
        if parsed is None:
            self.is_readable = False
            self.unread |= set(schema("environment")["properties"])
            self.root = Place(SourceFile(path, label, ""), 0, 0, self.places)
            return
        self.gathering.sources.append(parsed.place.source)
        self.value = parsed.value
        self.root = parsed.place
        self.places = parsed.place.children if isinstance(parsed.place.children, dict) else {}

    def read_siblings(self, entries: dict[str, Entry]) -> set[str]:
        used: set[str] = set()
        for key, names in siblings().items():
            for name in names:
                entry = entries.get(name)
                if entry is None or entry.is_folder:
                    continue
                used.add(name)
                first = self.given_at(key)
                if entry.suffix == "jsonl":
                    if first is None:
                        self.tasks = JsonlTasks([(entry.path, entry.label)], self.marks)
                        self.unread.discard(key)
                    else:
                        self.refuse_second(key, opening(entry.path, entry.label), first)
                    continue
                parsed = self.read_entry(entry)
                if first is None:
                    self.take(key, parsed)
                else:
                    here = whole(entry.label) if parsed is None else parsed.place.span()
                    self.refuse_second(key, here, first)
        return used

    def refuse_second(self, key: str, here: Span, first: Span) -> None:
        """Tells of a key that stands at ``first`` already. Which of the two is meant, nobody knows: it is unread."""
        self.problems.append(key_in_two_places(key, here, first))
        self.unread.add(key.partition(".")[0])

    def note_refused(self) -> None:
        """What a link that is not followed would have given may be missing for no other reason."""
        refused = self.listing.refused
        self.unread |= {key for key, names in siblings().items() if not refused.isdisjoint(names)}
        if "tasks" in refused:
            self.unread.add("tasks")
        if any(not refused.isdisjoint((key, *_files_named(key))) for key in spreads(self.template)):
            self.unread.add("config")
        if not refused.isdisjoint(ENVIRONMENT_FILES):
            self.unread |= set(schema("environment")["properties"])

    def read_entry(self, entry: Entry) -> Parsed | None:
        if entry.suffix in STRUCTURED:
            return self.gathering.read_file(entry)
        source = read_source(entry.path, entry.label, self.problems)
        if source is None:
            self.is_readable = False
            return None
        self.gathering.sources.append(source)
        text = source.text.rstrip("\r\n")
        return Parsed(text.replace("\r\n", "\n"), Place(source, 0, len(text)))

    def take(self, key: str, parsed: Parsed | None) -> None:
        if parsed is None:
            self.unread.add(key)
            return
        self.unread.discard(key)
        self.value[key], self.places[key] = parsed.value, parsed.place

    def read_tasks_folder(self, entries: dict[str, Entry]) -> set[str]:
        folder = entries.get("tasks")
        if folder is None or not folder.is_folder:
            return set()
        inside, unread = self.listed_whole(lambda: self.listing.entries(folder))
        files = [entry for entry in inside if entry.suffix == "jsonl"]
        self.gathering.stray += [(entry, ("jsonl",)) for entry in inside if entry.suffix != "jsonl"]
        first = self.given_at("tasks")
        if files and first is not None:
            self.refuse_second("tasks", opening(files[0].path, files[0].label), first)
        elif files:
            self.tasks = JsonlTasks([(entry.path, entry.label) for entry in files], self.marks)
            self.unread.discard("tasks")
        if unread:
            self.unread.add("tasks")
        return {"tasks"}

    def listed_whole(self, look: Callable[[], T]) -> tuple[T, bool]:
        """What ``look`` finds in the listing, and whether some of it was refused on the way."""
        was_complete, self.listing.is_complete = self.listing.is_complete, True
        found, refused = look(), not self.listing.is_complete
        self.listing.is_complete = was_complete and not refused
        return found, refused

    def read_spreads(self, entries: dict[str, Entry]) -> set[str]:
        used: set[str] = set()
        for key, kind in spreads(self.template).items():
            for name in (*_files_named(key), key):
                entry = entries.get(name)
                if entry is None or entry.is_folder != (name == key):
                    continue
                used.add(name)
                known, was_whole = len(self.problems), self.gathering.is_whole
                self.gathering.is_whole = True
                if entry.is_folder:
                    look = partial(self.gathering.read, kind, key, entry)
                    parsed, refused = self.listed_whole(look)
                    if refused:
                        self.unread.add("config")
                else:
                    parsed = self.gathering.read_file(entry)
                told = any(problem.slug == "key-in-two-places" for problem in self.problems[known:])
                if told or not self.gathering.is_whole:
                    self.unread.add("config")
                self.gathering.is_whole &= was_whole
                if parsed is not None:
                    self.take_spread(key, parsed)
        return used

    def take_spread(self, key: str, parsed: Parsed) -> None:
        """Puts what was gathered under ``config``; where some stands there already, what is not there yet."""
        if "config" not in self.places:
            self.value["config"] = {}
            self.places["config"] = Place(parsed.place.source, 0, 0, {})
        config, places = self.value["config"], self.places["config"].children
        if not isinstance(config, dict) or not isinstance(places, dict):
            return
        if key not in places:
            config[key], places[key] = parsed.value, parsed.place
            return
        there, there_places = config[key], places[key].children
        new_places = parsed.place.children
        told = False
        if isinstance(there, dict) and isinstance(parsed.value, dict):
            assert isinstance(there_places, dict) and isinstance(new_places, dict)
            for name, place in new_places.items():
                if name in there_places:
                    first = there_places[name].span("key")
                    self.refuse_second(f"config.{key}.{name}", place.span(), first)
                    told = True
                else:
                    there[name], there_places[name] = parsed.value[name], place
        if not told:
            self.refuse_second(f"config.{key}", _first(parsed), places[key].span("key"))

    def check_stem(self) -> None:
        """The name of the folder or file has to do as a slug when none is given."""
        if "slug" in self.value or "slug" in self.unread or _SLUG.fullmatch(self.stem):
            return
        self.problems.append(Problem("name-is-no-slug", self.root.span("key"), {"name": self.stem}))

    def given_at(self, key: str) -> Span | None:
        """Where the top-level ``key`` stands already; None when it has not been given yet."""
        if key == "tasks" and self.tasks is not None:
            home = self.tasks.home
            return opening(home.source.path, home.source.label) if not home.source.text else home.span("key")
        place = self.places.get(key)
        return None if place is None else place.span("key")


def leaving_paths(value: dict[str, Any], place: Place, template: str | None) -> Iterator[Problem]:
    """The paths in a spec that do not stay in its folder: keys of a config key that maps paths to text."""
    config = value.get("config")
    for key, kind in spreads(template).items():
        texts = config.get(key) if isinstance(config, dict) else None
        if kind == "text" and isinstance(texts, dict):
            for path in texts:
                if leaves_folder(path):
                    found, _ = place.nearest(("config", key, path))
                    yield Problem("path-leaves-folder", found.span("key"), {"path": path, "kind": "path"})


def leaves_folder(path: str) -> bool:
    """Whether a path written in a spec is absolute, climbs out with ``..``, or names a Windows drive."""
    parts = normpath(path.replace("\\", "/")).split("/")
    return path != "" and (parts[0] in ("", "..") or re.match(r"[A-Za-z]:", path) is not None)


def _is_compiled(value: dict[str, Any]) -> bool:
    """Whether an environment file holds what ``rollout compile`` writes."""
    return isinstance(value.get("environment"), dict) and value.keys() <= {"environment", "verifier"}


def _files_named(key: str) -> tuple[str, ...]:
    return tuple(f"{key}.{suffix}" for suffix in STRUCTURED)


def _first(parsed: Parsed) -> Span:
    children = parsed.place.children
    places = list(children.values()) if isinstance(children, dict) else children
    return (places[0] if places and parsed.place.end == 0 else parsed.place).span()


__all__ = ["leaves_folder", "leaving_paths", "read_file", "read_folder"]
