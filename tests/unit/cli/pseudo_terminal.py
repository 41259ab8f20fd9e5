"""A program at a real terminal: what is typed goes through the terminal's line discipline, as of a person."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_CONTROLLED = """import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
_EDITING = re.compile(r"\x1b\[(?:\?2004[hl]|K|[0-9]*[CDGP])")
"""What the line editor itself sends: bracketed paste on and off, erasing, moving within the line."""

PATIENCE = 60.0


class Terminal:
    """The person's side."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.output = ""
        self._master = master
        self._data = b""
        self._seen = 0

    def type(self, text: str) -> None:
        """Types keys; ``\\t`` is Tab, ``\\x04`` Ctrl-D; for Ctrl-C see :meth:`interrupt`."""
        os.write(self._master, text.encode())

    def interrupt(self) -> None:
        """Presses Ctrl-C, as a person does: once the program waits for them.

        A signal that comes after the prompt is drawn, and before readline waits, is heard at the next key only.
        """
        same = 0
        before = ""
        end = time.monotonic() + PATIENCE
        while same < 5:
            assert time.monotonic() < end, "the program does not come to rest"
            time.sleep(0.01)
            now = self._switches()
            same, before = (same + 1 if now == before else 0), now
        self.type("\x03")

    def _switches(self) -> str:
        """How often the program has gone to sleep; where the system does not say so, the time in tenths of a second."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return str(int(time.monotonic() * 10))
        lines = status.read_text().splitlines()
        return "\n".join(line for line in lines if line.startswith(("State", "voluntary", "nonvoluntary")))

    def expect(self, text: str) -> str:
        """Waits for ``text`` behind what was waited for before; what came up to its end."""
        end = time.monotonic() + PATIENCE
        while (at := self.output.find(text, self._seen)) < 0:
            if not self._read(end - time.monotonic()):
                raise AssertionError(f"“{text}” did not come; there was:\n{self.output[self._seen :]}")
        came, self._seen = self.output[self._seen : at + len(text)], at + len(text)
        return came

    def until(self, happened: Callable[[], bool]) -> None:
        """Waits for something outside of the terminal."""
        end = time.monotonic() + PATIENCE
        while not happened():
            self._read(0.01)
            assert time.monotonic() < end, f"it did not come about; there was:\n{self.output[self._seen :]}"

    def wait(self) -> int:
        """Waits for the end; the exit code."""
        end = time.monotonic() + PATIENCE
        while self._read(end - time.monotonic()):
            pass
        return self.process.wait(timeout=PATIENCE)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(seconds, 0))
        if not ready:
            return False
        data = b""
        with suppress(OSError):  # The other side is closed.
            data = os.read(self._master, 65_536)
        self._data += data
        # Decoded as a whole, since a character may come in two pieces.
        self.output = _EDITING.sub("", self._data.decode("utf-8", "ignore")).replace("\r\n", "\n")
        return bool(data)


@contextmanager
def at_terminal(*arguments: str, cwd: Path, out: Path | None = None, **variables: str) -> Iterator[Terminal]:
    """Runs ``rollout`` with ``arguments`` at a terminal of its own; its standard output goes to ``out`` if given."""
    master, slave = pty.openpty()
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR", "FORCE_COLOR")
    }
    stdout = slave if out is None else os.open(out, os.O_WRONLY | os.O_CREAT)
    process = subprocess.Popen(
        [sys.executable, "-c", _CONTROLLED, sys.executable, "-m", "rollout", *arguments],
        stdin=slave,
        stdout=stdout,
        stderr=slave,
        cwd=cwd,
        env={
            **inherited,
            "TERM": "xterm",
            "NO_COLOR": "1",
            "INPUTRC": os.devnull,
            "LC_ALL": "C.UTF-8",
            **variables,
        },
        start_new_session=True,
    )
    for descriptor in {slave, stdout}:
        os.close(descriptor)
    try:
        yield Terminal(process, master)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(master)
