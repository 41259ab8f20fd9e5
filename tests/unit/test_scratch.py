"""Temporary folders are gone with what made them, and those of a killed process with the next that makes some."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_HOLD = """
import sys
from rollout.scratch import scratch
with scratch("job") as made:
    open(made + "/secret.txt", "w").close()
    print(made, flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(temporary: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process in the midst of using one, and where it lies."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLD],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdin is not None
    with process:
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def end(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=60)
    return process.returncode


def test_nothing_is_left_of_a_process_that_ended(tmp_path: Path) -> None:
    with held(tmp_path) as (process, folder):
        assert (folder / "secret.txt").is_file()
        assert folder.is_relative_to(tmp_path)
        assert end(process) == 0
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next(tmp_path: Path) -> None:
    with held(tmp_path) as (process, left):
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    assert (left / "secret.txt").is_file()
    with held(tmp_path) as (process, folder):
        assert not left.parent.exists()
        assert (folder / "secret.txt").is_file()


def test_what_another_uses_is_left_alone(tmp_path: Path) -> None:
    with held(tmp_path) as (_, theirs), held(tmp_path) as (process, _):
        assert (theirs / "secret.txt").is_file()
        assert end(process) == 0
        assert (theirs / "secret.txt").is_file()


@pytest.mark.parametrize("made", ["empty", "file", "link"])
def test_what_is_not_of_a_process_is_left_alone(tmp_path: Path, made: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "held").touch()
    other = tmp_path / "rollout-other"
    if made == "empty":
        other.mkdir()
    elif made == "file":
        other.touch()
    else:
        other.symlink_to(elsewhere)
    with held(tmp_path):
        assert other.exists()
        assert (elsewhere / "held").exists()


def test_a_process_that_was_forked_has_a_place_of_its_own(tmp_path: Path) -> None:
    code = (
        "import os; from rollout.scratch import scratch\n"
        "with scratch('job') as ours:\n"
        "    if os.fork() == 0:\n"
        "        with scratch('job') as theirs:\n"
        "            print(os.path.dirname(theirs) != os.path.dirname(ours), flush=True)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "    print(os.path.isdir(ours))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stdout.split() == ["True", "True"]
