"""A folder is read as it was at one moment, or not at all, whoever writes there meanwhile."""

from __future__ import annotations

import itertools
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from rollout.check import check
from rollout.compile.folder_writer import write_folder
from rollout.compile.scaffold import scaffold
from rollout.source import SourceError, read_one
from rollout.source import folder as folder_module
from rollout.source.document import Document
from rollout.source.formats import read_data
from rollout.source.snapshot import ChangedError, look_at

ONE = scaffold("custom", slug="desk", name="One")
TWO = {**ONE, "environment.yaml": ONE["environment.yaml"].replace("One", "Two")}
TWO["tasks.jsonl"] = TWO["tasks.jsonl"].replace('"instruction": "Make ', '"instruction": "Keep ')


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    write_folder(tmp_path / "desk", ONE)
    return tmp_path / "desk"


def said(document: Document) -> tuple[str, str]:
    report = check(document)
    environment = report.environment()
    return environment.name, environment.tasks[0].instruction[:4]


def meanwhile(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Does ``change`` each time when the first file has been read, and before the next is."""

    def reading(path: Path, *arguments: object) -> object:
        found = read_data(path, *arguments)  # type: ignore[arg-type]
        if path.stem == "environment":
            change()
        return found

    monkeypatch.setattr(folder_module, "read_data", reading)


def test_a_folder_that_changes_while_it_is_read_is_read_anew(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = iter([TWO])

    def replace() -> None:
        if (files := next(changes, None)) is not None:
            write_folder(desk, files, replace=True)

    meanwhile(monkeypatch, replace)
    assert said(read_one(desk)) == ("Two", "Keep")


@pytest.mark.parametrize("name", ["config.yaml", "verifier.toml", "pages", "tasks.jsonl"])
def test_one_that_never_stays_as_it_is_cannot_be_read(
    desk: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count()

    def change() -> None:
        if name == "pages":
            (desk / name).mkdir(exist_ok=True)
            (desk / name / f"{next(numbers)}.yaml").touch()
        else:
            with (desk / name).open("a") as file:
                file.write("\n" + "#" * next(numbers) + "\n")

    meanwhile(monkeypatch, change)
    with pytest.raises(SourceError, match="changed while it was read, again and again"):
        read_one(desk)


def test_what_is_no_part_of_the_environment_may_change_as_it_likes(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count()
    meanwhile(monkeypatch, lambda: (desk / f"run-{next(numbers)}.log").touch())
    assert said(read_one(desk)) == ("One", "Make")


def test_tasks_that_change_before_they_are_streamed_take_the_rest_along(desk: Path) -> None:
    document = read_one(desk)
    write_folder(desk, TWO, replace=True)
    assert said(document) == ("Two", "Keep")


def test_tasks_that_change_after_the_check_are_not_taken_unchecked(desk: Path) -> None:
    report = check(read_one(desk))
    write_folder(desk, TWO, replace=True)
    with pytest.raises(ChangedError):
        report.environment()


def test_tasks_that_are_gone_when_they_are_streamed_are_noticed(desk: Path) -> None:
    document = read_one(desk)
    (desk / "tasks.jsonl").unlink()
    assert [found.slug for found in check(document).diagnostics] == ["no-tasks"]


def test_every_reader_meets_the_old_environment_or_the_new_one(desk: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        for files in itertools.cycle((TWO, ONE)):
            write_folder(desk, files, replace=True)
            if stop.wait(0.002):
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        met = set()
        for _ in range(60):
            try:
                met.add(said(read_one(desk)))
            except ChangedError:
                continue
    finally:
        stop.set()
        writer.join()
    assert met <= {("One", "Make"), ("Two", "Keep")}
    assert met


def test_looking_ends_where_folders_link_in_a_circle(desk: Path) -> None:
    (desk / "files").mkdir()
    (desk / "files" / "again").symlink_to(desk / "files")
    (desk / "files" / "all").symlink_to(desk)
    assert os.fspath(desk / "config.yaml") in look_at(desk)
    shutil.rmtree(desk)
    assert look_at(desk) == {}
