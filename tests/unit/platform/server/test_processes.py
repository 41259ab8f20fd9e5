"""Whether a process is gone is only told of those that are seen from here by the same numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rollout.platform.server import processes
from rollout.platform.server.processes import host, is_gone, this_process

BOOT, NUMBERS = "0a4e1c9e-7f0e-4a0b-9d56-6a1f0c1f5a11", "pid:[4026531836]"


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that has ended."""
    done = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def proc(folder: Path, boot: str | None = BOOT, numbers: str | None = NUMBERS) -> Path:
    """What a kernel tells of itself."""
    if boot is not None:
        told = folder / "sys" / "kernel" / "random"
        told.mkdir(parents=True)
        (told / "boot_id").write_text(f"{boot}\n")
    if numbers is not None:
        (folder / "self" / "ns").mkdir(parents=True)
        (folder / "self" / "ns" / "pid").symlink_to(numbers)
    return folder


def named(where: str, pid: int) -> str:
    return f"{this_process().partition(' ')[0]} {where} {pid} 0a1b2c3d"


def test_a_process_that_was_killed_here_is_gone(dead: int) -> None:
    assert is_gone(named(host(), dead))
    assert is_gone(named(host(), os.getpid()))
    assert not is_gone(named(host(), os.getppid()))
    assert not is_gone(this_process())


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"numbers": "pid:[4026532254]"},
        {"boot": "5f1c8f0e-2a70-4f9d-8f33-2f8f7be0c0de"},
        {"numbers": None},
        {"boot": None},
    ],
    ids=["another namespace", "another machine", "no namespace", "no boot"],
)
def test_of_a_process_of_another_host_nothing_is_known(
    tmp_path: Path, dead: int, elsewhere: dict[str, str | None]
) -> None:
    """It has the same host name, as containers of one service may, and numbers that are free or taken here."""
    there = host(proc(tmp_path / "there", **elsewhere))
    assert there != host(proc(tmp_path / "here"))
    for pid in (dead, 1, os.getpid()):
        assert not is_gone(named(there, pid))


def test_where_a_host_cannot_be_told_from_others_nobody_is_taken_for_gone(
    dead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = named(host(), dead)
    monkeypatch.setattr(processes, "_HOST", "")
    assert not is_gone(name)


def test_the_name_of_an_owner_has_room_in_its_column() -> None:
    longest = named(host(), 4_194_304)
    assert len(f"local {longest} 00000000") <= 64
