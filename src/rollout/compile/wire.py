"""Reads platform JSON — a compiled file, or what the platform answers — as a document that can be checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rollout.check.report import Report
from rollout.compile.wire_tasks import PackedTasks, split_tasks
from rollout.diagnostics import Severity
from rollout.source.contract import schema, templates
from rollout.source.document import Document
from rollout.source.file import decode, read_bytes, whole
from rollout.source.folder import leaving_paths
from rollout.source.place import Parsed, Place, Problem
from rollout.source.tasks import InlineTasks
from rollout.source.text import SourceFile

MAX_BYTES = 1024 * 1024 * 1024
"""How large a compiled file may be that is read as a whole."""

_LARGE = 1 << 20

_TASK_KEYS = ("instruction", "hiddenGroundTruth", "hidden_ground_truth", "split", "input")


@dataclass(frozen=True, slots=True)
class Wire:
    """A payload as a document. ``left_out`` are the keys that are the platform's own, such as ``createdAt``."""

    document: Document
    left_out: tuple[str, ...]


def read_wire_file(path: Path, label: str) -> Wire:
    """Reads the file at ``path``; what is wrong with it is in the document's problems."""
    problems: list[Problem] = []
    data = read_bytes(path, label, problems, max_bytes=MAX_BYTES)
    if data is None:
        return _unreadable(path, label, problems)
    return read_wire(data, label, path=path)


def read_wire_stream(stream: BinaryIO, label: str) -> Wire:
    """Reads what is piped in, no more than may be in a file."""
    chunks: list[bytes] = []
    size = 0
    while size <= MAX_BYTES and (chunk := stream.read(_LARGE)):
        chunks.append(chunk)
        size += len(chunk)
        if b"\0" in chunk:
            # No text has it, so the rest need not be waited for.
            break
    if size > MAX_BYTES:
        facts = {"bytes": size, "max_bytes": MAX_BYTES}
        return _unreadable(Path(label), label, [Problem("huge-file", whole(label), facts)])
    return read_wire(b"".join(chunks), label)


def read_wire(data: bytes, label: str, *, path: Path | None = None) -> Wire:
    """Reads JSON of any of these shapes; null stands for a key that is not there.

    - ``{"environment": {…}, "verifier": {…} | null}``, as ``rollout compile`` writes it,
    - ``{slug, name, template, …, tasks, verifier?}``, the environment itself, as the platform answers it.

    Never raises for what the data holds: it is in the document's problems, and ``readable`` is False.
    """
    from rollout.source.json import parse

    path = path or Path(label)
    problems: list[Problem] = []
    text = decode(data, label, problems)
    if text is None:
        return _unreadable(path, label, problems)
    split = split_tasks(text) if len(text) > _LARGE else None
    source = SourceFile(path, label, text if split is None else split.rest)
    parsed = parse(source, problems)
    if split is not None and problems:
        # Something is wrong outside the tasks: the whole text may say it better.
        split, problems = None, []
        parsed = parse(SourceFile(path, label, text), problems)
    if parsed is None:
        return _unreadable(path, label, problems)
    if not isinstance(parsed.value, dict):
        facts = {"type": type(parsed.value).__name__}
        problems.append(Problem("environment-not-an-object", parsed.place.span(), facts))
        return _unreadable(path, label, problems)
    if split is not None:
        source.restore(text)
        parsed.value["environment"]["tasks"] = split.tasks
    return _document(parsed, path, label, problems, packed=split is not None)


def says_no_environment(report: Report) -> bool:
    """Whether a report's document cannot be taken for an environment at all.

    Broken references, and names of files that no folder could hold, are errors too; but they are errors of an
    environment, which can be compiled, compared and mended.
    """
    return not report.document.readable or any(
        found.severity is Severity.ERROR and found.code < "RL3" and found.slug != "path-leaves-folder"
        for found in report.diagnostics
    )


def looks_like_wire(path: Path) -> bool:
    """Whether a file is most likely a compiled file: JSON that begins with the key ``environment``."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(256)
    return head.removeprefix(b"\xef\xbb\xbf").split(b":", 1)[0].split() in (
        [b'{"environment"'],
        [b"{", b'"environment"'],
    )


def _document(
    parsed: Parsed, path: Path, label: str, problems: list[Problem], *, packed: bool = False
) -> Wire:
    outer, home = parsed.value, parsed.place
    inner = outer.get("environment")
    is_wrapped = isinstance(inner, dict)
    said = inner if is_wrapped else outer
    place = home.child("environment") or home if is_wrapped else home
    known = [key for key in schema("payload")["$defs"]["environment"]["properties"] if key != "tasks"]
    value = {key: said[key] for key in known if said.get(key) is not None}
    children = _children(place)
    places = {key: children[key] for key in value}
    for each, its_place in ((outer, home), (said, place)):
        if each.get("verifier") is not None:
            value["verifier"], places["verifier"] = each["verifier"], _children(its_place)["verifier"]
    left_out = list(_strangers(outer, said, is_wrapped, known))
    tasks, tasks_place, more = _tasks(said, place)
    whole_place = Place(place.source, place.start, place.end, places, place.key_start, place.key_end)
    problems += _missing(value, said, place)
    template = value.get("template")
    problems += leaving_paths(value, whole_place, template if template in templates() else None)
    document = Document(
        root=path.parent,
        label=label,
        value=value,
        place=whole_place,
        tasks=PackedTasks(tasks, tasks_place, ("environment", "tasks"))
        if packed
        else InlineTasks(Parsed(tasks, tasks_place)),
        sources=(place.source,),
        problems=tuple(problems),
        stem=path.stem,
    )
    return Wire(document, tuple(dict.fromkeys([*left_out, *more])))


def _missing(value: dict[str, Any], said: dict[str, Any], place: Place) -> Iterator[Problem]:
    # In a folder these have defaults; on the wire nothing stands in for them.
    wanted = schema("payload")["$defs"]["environment"]
    optional_in_a_folder = set(wanted["required"]) - set(schema("environment")["required"])
    given = {*value, *(["tasks"] if said.get("tasks") is not None else [])}
    missing = tuple(key for key in wanted["required"] if key in optional_in_a_folder and key not in given)
    if missing:
        about = {key: schema("environment")["properties"][key]["description"] for key in missing}
        facts = {"section": "the environment", "keys": missing, "about": about, "guess": None, "allowed": ()}
        yield Problem("missing-key", place.span("key"), facts)


def _strangers(outer: Any, said: Any, is_wrapped: bool, known: list[str]) -> Iterator[str]:
    own = {*known, "tasks", "verifier"}
    yield from (key for key in said if key not in own)
    if is_wrapped:
        yield from (key for key in outer if key not in ("environment", "verifier"))


def _tasks(said: dict[str, Any], place: Place) -> tuple[Any, Place, list[str]]:
    tasks, home = said.get("tasks"), place.child("tasks")
    if tasks is None or home is None:
        return [], Place(place.source, place.start, place.start), []
    if not isinstance(tasks, list):
        return tasks, home, []
    strangers: dict[str, None] = {}
    kept = []
    for task in tasks:
        if isinstance(task, dict):
            strangers |= dict.fromkeys(f"tasks[].{key}" for key in task if key not in _TASK_KEYS)
            task = {key: task[key] for key in _TASK_KEYS if task.get(key) is not None}
        kept.append(task)
    return kept, home, list(strangers)


def _children(place: Place) -> dict[str, Place]:
    return place.children if isinstance(place.children, dict) else {}


def _unreadable(path: Path, label: str, problems: list[Problem]) -> Wire:
    source = SourceFile(path, label, "")
    nothing = Place(source, 0, 0, {})
    document = Document(
        root=path.parent,
        label=label,
        value={},
        place=nothing,
        tasks=InlineTasks(Parsed([], Place(source, 0, 0))),
        problems=tuple(problems) or (Problem("unreadable-file", whole(label), {"reason": "missing"}),),
        readable=False,
        unread=frozenset(schema("environment")["properties"]),
        stem=path.stem,
    )
    return Wire(document, ())


__all__ = [
    "MAX_BYTES",
    "Wire",
    "looks_like_wire",
    "read_wire",
    "read_wire_file",
    "read_wire_stream",
    "says_no_environment",
]
