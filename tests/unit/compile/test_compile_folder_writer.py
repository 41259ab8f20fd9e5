"""Folders and files are written whole or not at all, and nothing that exists is overwritten unasked."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rollout.compile import folder_writer
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
    monkeypatch.setattr(folder_writer, "exchange", lambda *_: False)
    real = Path.rename
    moved: list[str] = []

    def rename(self: Path, target: Path) -> Path:
        if target == tmp_path / "fixtures" and len(moved) == 3:
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


def test_folders_above_a_file_are_made_and_what_is_in_their_place_is_a_sentence(tmp_path: Path) -> None:
    write_file(tmp_path / "new" / "er" / "out.json", b"x")
    assert (tmp_path / "new" / "er" / "out.json").read_bytes() == b"x"
    with pytest.raises(WriteError, match=r"cannot be written: “.*/out.json” is no folder"):
        write_file(tmp_path / "new" / "er" / "out.json" / "x.json", b"x")
    with pytest.raises(WriteError, match="cannot be written: No such file or directory"):
        write_file(Path("/proc/no/out.json"), b"x")
    with pytest.raises(WriteError, match="is a folder"):
        write_file(tmp_path, b"x")


def test_a_file_that_came_to_be_there_meanwhile_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "n.yaml"
    real = os.link

    def link(source: Path, target: Path) -> None:
        path.write_text("theirs")
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    with pytest.raises(WriteError, match="exists already"):
        write_file(path, b"ours", replace=False)
    assert contents(tmp_path) == {"n.yaml": "theirs"}


def test_without_hard_links_a_file_is_made_all_the_same_and_none_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    write_file(tmp_path / "n.yaml", b"ours", replace=False)
    with pytest.raises(WriteError, match="exists already"):
        write_file(tmp_path / "n.yaml", b"more", replace=False)
    assert contents(tmp_path) == {"n.yaml": "ours"}


KILLED = """
import os, sys
from pathlib import Path
from rollout.compile import folder_writer
left, target, is_one_step = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "True"
def watch(event, arguments):
    global left
    if event in ("os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "open", "ctypes.dlopen"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)
if not is_one_step:
    folder_writer.exchange = lambda *_: False
sys.addaudithook(watch)
names = ("environment.yaml", "fixtures/a.yaml", "config.yaml")
folder_writer.write_folder(target, dict.fromkeys(names, "new"), replace=True)
"""
OLD = {"environment.yaml": "old", "fixtures/b.yaml": "old", "tasks.jsonl": "old"}
NEW = {"environment.yaml": "new", "fixtures/a.yaml": "new", "config.yaml": "new"}
MINE = {"notes.txt": "mine", "more/x.txt": "mine"}


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("one_step", [True, False])
def test_whenever_it_is_killed_the_old_environment_is_there_or_the_new_one_and_never_a_mix(
    tmp_path: Path, one_step: bool
) -> None:
    seen = set()
    for moment in range(1, 200, 4):
        home = tmp_path / str(moment)
        target = home / "env"
        fill(target, {**OLD, **MINE})
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(moment), str(target), str(one_step)], check=False
        )
        held = {name: text for name, text in contents(target).items() if not name.startswith(".env.")}
        assert MINE.items() <= held.items()
        own = {name: text for name, text in held.items() if name not in MINE}
        if one_step or "environment.yaml" in own:
            assert own in (OLD, NEW)
        seen.add(own.get("environment.yaml"))
        write_folder(target, NEW, replace=True)
        assert contents(home) == {f"env/{name}": text for name, text in (NEW | MINE).items()}
        if done.returncode == 0:
            break
    assert {"old", "new"} <= seen


def test_what_another_run_is_using_is_left_alone_and_taken_away_once_that_has_ended(tmp_path: Path) -> None:
    target, stage = tmp_path / "env", tmp_path / ".env.abcdefgh"
    fill(target, OLD)
    fill(stage / "environment", NEW)
    in_use = os.open(stage, os.O_RDONLY)
    fcntl.flock(in_use, fcntl.LOCK_EX)
    write_folder(target, NEW, replace=True)
    assert contents(stage / "environment") == NEW
    os.close(in_use)
    write_folder(target, NEW, replace=True)
    assert contents(target) == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["env"]


AT_ONCE = """
import sys
from pathlib import Path
from rollout.compile.folder_writer import WriteError, write_folder
mark, target, replace = sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "True"
files = {name: mark for name in ("environment.yaml", "config.yaml", f"fixtures/{mark}.yaml")}
print("ready", flush=True)
sys.stdin.readline()
try:
    write_folder(target, files, replace=replace)
except WriteError as error:
    print(error)
    sys.exit(2)
"""


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("before", ["nothing", "an empty folder", "an environment"])
@pytest.mark.parametrize("attempt", range(3))
def test_of_several_that_write_at_once_one_is_there_whole(
    tmp_path: Path, before: str, replace: bool, attempt: int
) -> None:
    target = tmp_path / "env"
    if before != "nothing":
        target.mkdir()
    if before == "an environment":
        fill(target, OLD)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", AT_ONCE, str(number), str(target), str(replace)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("\n")
        run.stdin.flush()
    said = [run.communicate()[0] for run in runs]
    wrote = [number for number, run in enumerate(runs) if run.returncode == 0]
    wholes = [
        dict.fromkeys(("environment.yaml", "config.yaml", f"fixtures/{number}.yaml"), str(number))
        for number in wrote
    ]
    if replace:
        assert wrote == [0, 1, 2, 3], said
    elif before == "an environment":
        assert wrote == [], said
        wholes = [OLD]
    else:
        assert len(wrote) == 1, said
    assert all("is not empty" in said[number] for number in range(4) if number not in wrote)
    assert contents(target) in wholes
    assert [path.name for path in tmp_path.iterdir()] == ["env"]


def test_when_another_program_keeps_the_place_to_itself_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_writer, "_PATIENCE_SECONDS", 0)
    held = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.raises(WriteError, match="another program holds the folder"):
        write_folder(tmp_path / "env", NEW)
    os.close(held)
    assert contents(tmp_path) == {}


def test_an_entry_that_came_to_be_there_meanwhile_is_not_moved_over(tmp_path: Path) -> None:
    target = tmp_path / "env"
    target.mkdir()

    def inspect(folder: Path) -> None:
        (target / "config.yaml").write_text("theirs")

    with pytest.raises(WriteError, match="File exists"):
        write_folder(target, NEW, inspect=inspect)
    assert contents(target) == {"config.yaml": "theirs"}


def test_a_folder_below_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(WriteError, match="cannot be written"):
        write_folder(tmp_path / "loop" / "env", NEW)


def test_who_works_in_the_folder_stays_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "env", {**OLD, **MINE})
    monkeypatch.chdir(tmp_path / "env")
    write_folder(Path(), NEW, replace=True)
    assert contents(Path.cwd()) == {**NEW, **MINE}
    assert [path.name for path in tmp_path.iterdir()] == ["env"]
