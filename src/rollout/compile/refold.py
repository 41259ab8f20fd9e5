"""An environment's files so that they say another version: what says the same stays as it is, byte for byte.

A file is changed where it says something else, and written anew where that cannot be done. Ids, solutions and ``x-``
keys, which no version from elsewhere has, stay with what they belong to.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from rollout.check.report import environment_in
from rollout.compile.merging import merge
from rollout.compile.payload import Compiled, compile_environment
from rollout.compile.refold_tasks import choose, in_files, in_lines, one_line
from rollout.compile.spread import spread
from rollout.compile.toml_patch import patch_toml
from rollout.compile.toml_text import write_toml
from rollout.compile.yaml_patch import exact, patch
from rollout.compile.yaml_text import write_yaml
from rollout.source.document import Document, TaskRecord
from rollout.source.formats import reader
from rollout.source.layout import ENVIRONMENT_FILES, STRUCTURED, siblings, spreads
from rollout.source.place import Parsed, Place, Problem
from rollout.source.text import SourceFile

_BOM = "\ufeff"
_NOT_IN_A_FILE = re.compile("^\ufeff|[\0\r\ud800-\udfff]")


class RefoldError(Exception):
    """Files that cannot be changed so; the text is a sentence."""


@dataclass(slots=True)
class Refolded:
    """What is to be written: ``texts`` has the bytes of each file, None where it goes. ``anew`` are the files of which
    comments are lost, ``changed_tasks`` the tasks that have a solution for what they said before."""

    texts: dict[Path, bytes | None] = field(default_factory=dict)
    anew: list[Path] = field(default_factory=list)
    changed_tasks: list[str] = field(default_factory=list)


def refold(document: Document, wanted: Compiled) -> Refolded:
    """The changes that make the files of ``document`` say ``wanted``. Raises RefoldError where it is not known how.

    Whoever writes them reads the files again, and holds what they compile to against ``wanted``.
    """
    environment = environment_in(document)
    was = compile_environment(environment)
    if was.digest == wanted.digest:
        return Refolded()
    return _Refolding(document, was, wanted).result


class _Refolding:
    def __init__(self, document: Document, was: Compiled, wanted: Compiled) -> None:
        self.document = document
        self.result = Refolded()
        self.folder = document.root
        self.fresh = spread({"environment": wanted.environment, "verifier": wanted.verifier})
        before, after = _whole(was), _whole(wanted)
        self.raw = document.value
        self.new = merge(self.raw, before, after)
        self.template = after["template"]
        if before["template"] != self.template:
            raise RefoldError("It is of another template now, so that nothing of it is as it was.")
        root = self._root()
        taken = self._siblings()
        taken |= self._spreads()
        tasks = self._tasks(was, wanted)
        self._rest(root, taken, tasks)

    def _root(self) -> Path:
        place = self.document.place.source.path
        if place.is_file():
            return place
        for name in ENVIRONMENT_FILES:
            if (self.folder / name).is_file():
                return self.folder / name
        raise RefoldError("There is no environment file.")

    def _home(self, key: str) -> Path | None:
        """The sibling file that a top-level key is read from."""
        if self._root().parent != self.folder or self._root().name not in ENVIRONMENT_FILES:
            return None
        found = [self.folder / name for name in siblings()[key] if (self.folder / name).is_file()]
        return found[0] if found else None

    def _siblings(self) -> set[str]:
        """Files that are one top-level key. The config's is done with what it holds of what can be spread."""
        taken: set[str] = set()
        for key in siblings():
            home = self._home(key)
            if home is None or key in ("tasks", "config"):
                continue
            is_text = home.suffix in (".md", ".sql")
            if key in self.new and is_text and _NOT_IN_A_FILE.search(self.new[key]):
                # It goes into the environment's own file.
                self.result.texts[home] = None
                continue
            taken.add(key)
            if key not in self.new:
                self.result.texts[home] = None
            elif exact(self.raw[key]) != exact(self.new[key]):
                if is_text:
                    self._put(home, f"{self.new[key]}\n")
                else:
                    self._rewrite(home, self.new[key])
        return taken

    def _spreads(self) -> set[str]:
        """Keys of the config that are in files of their own; returns them as ``config.KEY``."""
        taken: set[str] = set()
        raw, new = self.raw.get("config"), self.new.get("config")
        place = self.document.place.child("config")
        if not isinstance(raw, dict) or not isinstance(new, dict) or place is None:
            return taken
        for key, kind in spreads(self.template).items():
            its_place = place.child(key)
            folder = self.folder / key
            files = [self.folder / f"{key}.{suffix}" for suffix in STRUCTURED]
            file = next((each for each in files if each.is_file()), None)
            if its_place is None or (file is None and not folder.is_dir()):
                continue
            if file is not None and file.suffix == ".toml" and new.get(key) == {} and not folder.is_dir():
                self.result.texts[file] = None
                continue
            if file is None and kind != "page" and new.get(key) == {}:
                # No folder says that: it is written where the rest of the config is.
                self._members(key, kind, its_place, raw[key], {})
                continue
            taken.add(f"config.{key}")
            if file is not None:
                if folder.is_dir():
                    raise RefoldError(f"“{key}” is in a file and in a folder.")
                if key not in new:
                    self.result.texts[file] = None
                elif exact(raw[key]) != exact(new[key]):
                    self._rewrite(file, new[key])
            elif kind == "page":
                self._pages(its_place, raw[key], new.get(key, []))
            else:
                self._members(key, kind, its_place, raw[key], new.get(key, {}))
        return taken

    def _members(self, key: str, kind: str, place: Place, raw: Any, new: Any) -> None:
        if not isinstance(new, dict) or not isinstance(place.children, dict):
            raise RefoldError(f"“config.{key}” has no members.")
        for name, child in place.children.items():
            path = child.source.path
            if not path.is_relative_to(self.folder / key):
                raise RefoldError(f"Some of “config.{key}” is in the folder “{key}”, and some elsewhere.")
            if name not in new:
                self.result.texts[path] = None
            elif exact(raw[name]) != exact(new[name]):
                if kind == "text":
                    self.result.texts[path] = str(new[name]).encode()
                elif new[name] == {} and path.suffix == ".toml":
                    self.result.texts[path] = None  # an empty TOML file says nothing
                    self._add_member(key, kind, name, new[name])
                else:
                    self._rewrite(path, new[name])
        for name in new:
            if name not in place.children:
                self._add_member(key, kind, name, new[name])

    def _add_member(self, key: str, kind: str, name: str, value: Any) -> None:
        if kind == "text":
            if f"{key}/{name}" not in self.fresh:
                raise RefoldError(f"“{name}” cannot be the name of a file.")
            self.result.texts[self.folder / key / name] = str(value).encode()
            return
        for path, text in self.fresh.items():
            if path.startswith(f"{key}/{name}.") and Path(path).stem == name:
                self._put(self.folder / path, text)
                return
        raise RefoldError(f"“{name}” cannot be the name of a file.")

    def _pages(self, place: Place, raw: Any, new: Any) -> None:
        children = place.children
        assert isinstance(children, list)
        if len(raw) == len(new):
            for child, before, after in zip(children, raw, new, strict=True):
                if exact(before) == exact(after):
                    continue
                if child.source.path.suffix == ".html":
                    if {**before, "html": ""} != {**after, "html": ""}:
                        raise RefoldError(f"“{child.source.label}” cannot say all that the page has.")
                    self._put(child.source.path, after["html"])
                else:
                    self._rewrite(child.source.path, after)
            return
        fresh = {path: text for path, text in self.fresh.items() if path.startswith("pages/")}
        if not fresh:
            raise RefoldError("The pages cannot be files any more.")
        for child in children:
            self.result.texts[child.source.path] = None
            self.result.anew.append(child.source.path)
        for path, text in fresh.items():
            self._put(self.folder / path, text)

    def _tasks(self, was: Compiled, wanted: Compiled) -> list[Any] | None:
        """Changes tasks that have files of their own; else gives them, to stand in the environment's file."""
        records = list(self.document.tasks.read([]))
        chosen, self.result.changed_tasks = choose(records, was.environment, wanted.environment)
        home = self._home("tasks")
        whole = self.folder / "tasks"
        if home is not None and home.suffix != ".jsonl":
            values = [value for value, _ in chosen]
            if exact(values) != exact([record.value for record in records]):
                parsed = self._read(home, self._text(home))
                is_list = isinstance(parsed.value, list)
                self._rewrite(home, values if is_list else {**parsed.value, "tasks": values})
        elif home is not None:
            self.result.texts |= in_lines(home, records, chosen)
        elif whole.is_dir() and self._root().parent == self.folder and "tasks" not in self._inline():
            self.result.texts |= in_files(whole, records, chosen, self._homes(records))
        else:
            return [value for value, _ in chosen]
        return None

    def _homes(self, records: list[TaskRecord]) -> dict[int, Path]:
        homes: dict[int, Path] = {}
        for record in records:
            place = self.document.tasks.place(record.index)
            if place is None:
                raise RefoldError("The tasks have changed since they were read.")
            homes[record.index] = place.source.path
        return homes

    def _inline(self) -> dict[str, Any]:
        root = self._root()
        value = self._read(root, self._text(root)).value
        return value if isinstance(value, dict) else {}

    def _rest(self, root: Path, taken: set[str], tasks: list[Any] | None) -> None:
        """The environment's own file and the config's, which have whatever has no file of its own."""
        parsed = self._read(root, self._text(root))
        held: dict[str, Any] = parsed.value
        config_home = self._home("config")
        spread_keys = {key.partition(".")[2] for key in taken if key.startswith("config.")}
        values = {key: value for key, value in self.new.items() if key not in taken}
        if tasks is not None and (tasks or "tasks" in held):
            values["tasks"] = tasks
        config = values.pop("config", None)
        if isinstance(config, dict):
            config = {key: value for key, value in config.items() if key not in spread_keys}
            if config_home is not None:
                there = self._read(config_home, self._text(config_home)).value
                if exact(there) != exact(config):
                    self._rewrite(config_home, config)
            elif "config" in held or not self._is_folder(root):
                values["config"] = config
            elif config:
                self._put(self.folder / "config.yaml", write_yaml(config))
        elif config_home is not None:
            self.result.texts[config_home] = None
        if self._is_folder(root):
            for key in [key for key in values if key not in held]:
                for name in siblings()[key]:
                    if name in self.fresh and key != "tasks":
                        self._put(self.folder / name, self.fresh[name])
                        del values[key]
        # As it stands there, with what is new behind it.
        ordered = {key: values[key] for key in held if key in values}
        wanted = {**ordered, **values}
        if exact(wanted) != exact(held):
            self._rewrite(root, wanted)

    def _is_folder(self, root: Path) -> bool:
        return root.name in ENVIRONMENT_FILES

    def _put(self, path: Path, text: str) -> None:
        self.result.texts[path] = text.encode()

    def _text(self, path: Path) -> str:
        try:
            return path.read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise RefoldError(f"“{path}” cannot be read: {error}.") from None

    def _read(self, path: Path, text: str) -> Parsed:
        problems: list[Problem] = []
        found = reader(path.suffix.lower())(SourceFile(path, path.name, text.removeprefix(_BOM)), problems)
        if found is None:
            raise RefoldError(f"“{path}” cannot be read.")
        return found

    def _rewrite(self, path: Path, wanted: Any) -> None:
        """Has a file of data say ``wanted``, in its place where that can be, or else anew."""
        suffix = path.suffix.lower()
        if suffix in (".jsonl", ".csv"):
            self._rows(path, wanted)
            return
        text = self._text(path)
        bom, text = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
        parsed = self._read(path, text)
        # TOML says a list under the file's own name.
        whole = {path.stem: wanted} if suffix == ".toml" and isinstance(wanted, list) else wanted
        if suffix != ".json":
            edited = patch_toml if suffix == ".toml" else patch
            changed = edited(text, parsed.place, parsed.value, whole)
            if self._says(path, changed, whole):
                self._put(path, bom + changed)
                return
        head = "".join(_head(text)) if suffix != ".json" else ""
        try:
            written = {
                ".json": lambda: f"{json.dumps(wanted, ensure_ascii=False, indent=2, allow_nan=False)}\n",
                ".toml": lambda: write_toml(whole),
            }.get(suffix, lambda: write_yaml(wanted))()
        except ValueError as error:
            raise RefoldError(f"“{path}” cannot say it: {error}") from None
        if suffix != ".json":
            self.result.anew.append(path)
        self._put(path, f"{bom}{head}{written}")

    def _says(self, path: Path, text: str, wanted: Any) -> bool:
        problems: list[Problem] = []
        found = reader(path.suffix.lower())(SourceFile(path, path.name, text), problems)
        return found is not None and not problems and exact(found.value) == exact(wanted)

    def _rows(self, path: Path, wanted: Any) -> None:
        """A table: lines of JSON as they are where they say the same. What CSV is, is not to be said in CSV again."""
        if path.suffix.lower() == ".csv":
            self.result.texts[path] = None
            self.result.anew.append(path)
            self._add_member(path.parent.name, "data", path.stem, wanted)
            return
        if not isinstance(wanted, list):
            raise RefoldError(f"“{path}” is to hold something else than a list.")
        lines: dict[str, list[str]] = defaultdict(list)
        for line in self._text(path).removeprefix(_BOM).split("\n"):
            if line.strip():
                lines[exact(json.loads(line))].append(line)
        kept = [lines[key].pop(0) if lines[key := exact(row)] else one_line(row) for row in wanted]
        self._put(path, "".join(f"{line}\n" for line in kept))


def _whole(compiled: Compiled) -> dict[str, Any]:
    whole = {key: value for key, value in compiled.environment.items() if key != "tasks"}
    if compiled.verifier is not None:
        whole["verifier"] = compiled.verifier
    return whole


def _head(text: str) -> Iterator[str]:
    """The comments that a file begins with."""
    for line in StringIO(text, newline=""):
        if not line.startswith("#"):
            return
        yield line


__all__ = ["RefoldError", "Refolded", "refold"]
