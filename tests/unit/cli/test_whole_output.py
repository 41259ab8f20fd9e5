"""What is printed arrives whole, however slowly and by whatever pipe it is read."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path
from threading import Event

import pytest

ENVIRONMENT = Path(__file__).parents[3] / "environments" / "refund"
PIPE_HOLDS = 65_536


def large(folder: Path) -> Path:
    """An environment whose compiled file is larger than what a pipe holds."""
    path = folder / "large.json"
    compiled = subprocess.run(
        [sys.executable, "-m", "rollout", "compile", str(ENVIRONMENT)], capture_output=True, check=True
    )
    value = json.loads(compiled.stdout)
    value["environment"]["config"]["fixtures"]["notes"] = {f"n{n}": "x" * 90 for n in range(3000)}
    path.write_text(json.dumps({**value["environment"], "verifier": value["verifier"]}))
    return path


def waiting(pipe: int) -> int:
    return int(struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0])


@pytest.mark.parametrize("refuses_what_does_not_fit", [False, True])
@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_pipe_that_is_read_late_gets_all_of_it(
    tmp_path: Path, unbuffered: bool, refuses_what_does_not_fit: bool
) -> None:
    path = large(tmp_path)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    if unbuffered:
        environment["PYTHONUNBUFFERED"] = "1"
    read, write = os.pipe()
    os.set_blocking(write, not refuses_what_does_not_fit)
    running = subprocess.Popen(
        [sys.executable, "-m", "rollout", "compile", str(path)], stdout=write, env=environment
    )
    os.close(write)
    pause = Event()
    while waiting(read) < PIPE_HOLDS and running.poll() is None:
        pause.wait(0.05)
    # A process that is stopped while it writes has written a part when it goes on.
    for kind in (signal.SIGSTOP, signal.SIGCONT):
        with suppress(ProcessLookupError):
            running.send_signal(kind)
        pause.wait(0.2)
    with open(read, "rb") as file:  # noqa: PTH123
        arrived = file.read()
    assert running.wait(60) == 0
    assert len(json.loads(arrived)["environment"]["config"]["fixtures"]["notes"]) == 3000
