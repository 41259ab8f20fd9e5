"""An environment's tasks so that they say another version: each stays in its file, as it was where it says the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rollout.compile.json_edit import dump_json
from rollout.compile.merging import merge
from rollout.compile.payload import environment_of
from rollout.compile.task_pairs import pair_tasks
from rollout.compile.yaml_patch import exact
from rollout.source.document import TaskRecord

Chosen = list[tuple[dict[str, Any], TaskRecord | None]]
"""Each task that is wanted, as its author would write it, and the record of the one that it was."""


def choose(
    records: list[TaskRecord], was: Mapping[str, Any], wanted: Mapping[str, Any]
) -> tuple[Chosen, list[str]]:
    """The tasks that are wanted, and those that have a solution for what they said before."""
    before, after = was["tasks"], wanted["tasks"]
    home = _homes(was, wanted)
    chosen: Chosen = []
    changed: list[str] = []
    for index, task in enumerate(after):
        if index not in home:
            chosen.append((_authored(task), None))
            continue
        record = records[home[index]]
        same_task = before[home[index]]
        if exact(same_task) == exact(task):
            chosen.append((record.value, record))
            continue
        if "solution" in record.value and exact({**same_task, "split": None}) != exact(
            {**task, "split": None}
        ):
            changed.append(str(record.value.get("id", home[index])))
        chosen.append((_changed(record, same_task, task), record))
    return chosen, changed


def _homes(was: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[int, int]:
    """Which task each that is wanted was, by their numbers; none for a new one."""
    before, after = was["tasks"], wanted["tasks"]
    waiting: dict[str, list[int]] = defaultdict(list)
    for index, task in enumerate(before):
        waiting[exact(task)].append(index)
    home: dict[int, int] = {}
    for index, task in enumerate(after):
        if same := waiting.get(exact(task)):
            home[index] = same.pop(0)
    found = set(home.values())
    old = [index for index in range(len(before)) if index not in found]
    new = [index for index in range(len(after)) if index not in home]
    tasks_before = environment_of({"environment": was}).tasks
    tasks_after = environment_of({"environment": wanted}).tasks
    for pair in pair_tasks([tasks_before[each] for each in old], [tasks_after[each] for each in new]):
        if pair.before is not None and pair.after is not None:
            home[new[pair.after]] = old[pair.before]
    return home


def in_lines(path: Path, records: list[TaskRecord], chosen: Chosen) -> dict[Path, bytes]:
    """The file of lines that says the tasks; nothing where it says them already."""
    if [record for _, record in chosen] == records and all(
        value is record.value for value, record in chosen if record is not None
    ):
        return {}
    lines = [_line(value, record) for value, record in chosen]
    return {path: b"".join(line + b"\n" for line in lines)}


def in_files(
    folder: Path, records: list[TaskRecord], chosen: Chosen, homes: Mapping[int, Path]
) -> dict[Path, bytes]:
    """The files of a folder that say the tasks; a new task goes where the one before it is. ``homes`` has the file of
    each record by its index."""
    by_path: dict[Path, Chosen] = {path: [] for path in sorted(folder.iterdir()) if path.suffix == ".jsonl"}
    path = next(iter(by_path))
    for value, old in chosen:
        path = homes[old.index] if old is not None else path
        by_path[path].append((value, old))
    texts: dict[Path, bytes] = {}
    for path, its in by_path.items():
        texts |= in_lines(path, [record for record in records if homes[record.index] == path], its)
    return texts


def _authored(task: Mapping[str, Any]) -> dict[str, Any]:
    return {"hidden_ground_truth" if key == "hiddenGroundTruth" else key: task[key] for key in task}


def _changed(record: TaskRecord, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """A task as its author wrote it, but for what is wanted otherwise."""
    value = dict(record.value)
    for key in ("instruction", "hiddenGroundTruth", "split", "input"):
        if exact(before.get(key)) == exact(after.get(key)):
            continue
        written = record.truth_key if key == "hiddenGroundTruth" else key
        if key in after:
            value[written] = merge(value.get(written), before.get(key), after[key])
        else:
            value.pop(written, None)
    return value


def _line(value: dict[str, Any], record: TaskRecord | None) -> bytes:
    if record is not None and record.line is not None and value is record.value:
        return record.line.rstrip(b"\r\n")
    return one_line(value).encode()


def one_line(value: Any) -> str:
    """A value as a line of a file."""
    return dump_json(value, spaced=True)


__all__ = ["Chosen", "choose", "in_files", "in_lines", "one_line"]
