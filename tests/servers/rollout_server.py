"""`rollout serve` as a process of its own, which can be killed and started again on the same data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

_ADDRESS = re.compile(r"Serving at (http://\S+)\.")
_KEY = re.compile(r"\b(rk_[A-Za-z0-9_-]+)")


class Platform:
    """A server over the data in a folder, or over a database. ``address`` and ``key`` are there once it listens; the
    key is that of the first start."""

    def __init__(self, data: Path, *arguments: str, **variables: str) -> None:
        self.data = data
        self.key = ""
        self.address = ""
        self.said: list[str] = []
        self._arguments = arguments
        self._variables = variables

    def __enter__(self) -> Platform:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def start(self) -> None:
        """Starts it, and waits until it listens."""
        self._process = self._launched()
        self.address, first = "", not self.key
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.said.append(line)
            if found := _ADDRESS.search(line):
                self.address = found[1]
                if not first:
                    break
            if first and (found := _KEY.search(line)):
                self.key = found[1]
                break
        if not self.address:
            self._process.wait(60)
            self._process.stderr.close()
            raise AssertionError("".join(self.said))
        self._reading = Thread(target=self._read, daemon=True)
        self._reading.start()

    def stumble(self, seconds: float) -> None:
        """Starts it, and kills it after so many seconds, wherever its start is by then."""
        process = self._launched()
        with suppress(subprocess.TimeoutExpired):
            _, said = process.communicate(timeout=seconds)
            raise AssertionError(f"It ended by itself: {said}")
        process.kill()
        process.communicate()

    def kill(self) -> None:
        """Kills it, as when its machine loses power."""
        self._process.kill()
        self._ended()

    def end(self) -> int:
        """Asks it to end, and waits; its exit code."""
        self.ask_to_end()
        return self._ended()

    def ask_to_end(self) -> None:
        """Asks it to end, and does not wait."""
        if self._process.poll() is None:
            self._process.terminate()

    def _launched(self) -> subprocess.Popen[str]:
        where = () if "--database" in self._arguments else ("--data", str(self.data))
        return subprocess.Popen(
            [sys.executable, "-m", "rollout", "serve", "--port", "0", *where, *self._arguments],
            env={**os.environ, **self._variables},
            cwd=self.data.parent,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _ended(self) -> int:
        code = self._process.wait(60)
        self._reading.join(10)
        assert self._process.stderr is not None
        self._process.stderr.close()
        return code

    def _read(self) -> None:
        assert self._process.stderr is not None
        self.said += list(self._process.stderr)
