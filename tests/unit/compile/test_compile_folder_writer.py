"""Folders and files are written whole or not at all, and nothing that exists is overwritten unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rollout.compile.folder_writer import WriteError, write_file, write_folder

FILES = {"environment.yaml": "template: sql\n", "fixtures/a.yaml": "1\n"}


def contents(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    write_folder(tmp_path / "a" / "b", FILES)
    assert contents(tmp_path / "a" / "b") == FILES


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    target = tmp_path / "empty"
    target.mkdir()
    write_folder(target, FILES)
    assert contents(target) == FILES


def test_a_folder_that_holds_anything_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(WriteError, match=r"“notes\.txt”"):
        write_folder(tmp_path, FILES)
    assert contents(tmp_path) == {"notes.txt": "mine"}


def test_replacing_takes_the_old_environment_away_and_leaves_the_rest(tmp_path: Path) -> None:
    old = {
        "environment.toml": "old",
        "fixtures/b.yaml": "old",
        "README.md": "mine",
        ".keep": "mine",
        "x/y": "mine",
    }
    for name, text in old.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    write_folder(tmp_path, FILES, replace=True)
    assert contents(tmp_path) == {**FILES, "README.md": "mine", ".keep": "mine", "x/y": "mine"}


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("mine")
    with pytest.raises(WriteError, match="is a file, not a folder"):
        write_folder(target, FILES, replace=True)
    assert target.read_text() == "mine"


def test_a_dangling_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(WriteError, match="leads nowhere"):
        write_folder(tmp_path / "link", FILES)


@pytest.mark.parametrize("exists", [False, True])
def test_when_inspection_fails_nothing_is_left(tmp_path: Path, exists: bool) -> None:
    target = tmp_path / "env"
    if exists:
        target.mkdir()
        (target / "environment.yaml").write_text("old")

    def refuse(folder: Path) -> None:
        assert contents(folder) == FILES
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        write_folder(target, FILES, replace=True, inspect=refuse)
    assert contents(tmp_path) == ({"env/environment.yaml": "old"} if exists else {})


def test_when_moving_fails_half_way_the_old_folder_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"environment.yaml": "old", "fixtures/a.yaml": "old", "tasks.jsonl": "old"}
    for name, text in old.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    real = Path.rename
    moved: list[str] = []

    def rename(self: Path, target: Path) -> Path:
        if target == tmp_path / "fixtures" and len(moved) == 4:
            moved.append("failed")
            raise OSError(28, "No space left on device")
        moved.append(self.name)
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(WriteError, match="No space left"):
        write_folder(tmp_path, FILES, replace=True)
    assert "failed" in moved
    assert contents(tmp_path) == old


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/tmp/evil-of-rollout"])
def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(WriteError, match="does not stay in the folder"):
        write_folder(tmp_path / "env", {name: "x"})
    assert contents(tmp_path) == {}


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(b"old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_file(tmp_path / "link.json", b"new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"


def test_a_device_is_written_to() -> None:
    write_file(Path(os.devnull), b"gone")
    assert Path(os.devnull).is_char_device()


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="cannot be written: No such file"):
        write_file(tmp_path / "no" / "out.json", b"x")
    with pytest.raises(WriteError, match="is a folder"):
        write_file(tmp_path, b"x")
