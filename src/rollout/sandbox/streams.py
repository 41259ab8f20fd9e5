"""What comes out of a running command: what it prints, and what a witness reports."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from rollout.sandbox.folder import Folder

_KEPT_HEAD, _KEPT_TAIL = 64 * 1024, 192 * 1024
_MOST_REPORT = 32 * 1024 * 1024
_READS_AT_ONCE = 64


class Printed:
    """What a command prints: its beginning and end are kept; ``on_too_much`` is called above ``most`` bytes."""

    def __init__(self, most: int, on_too_much: Callable[[], None]) -> None:
        self._most, self._on_too_much = most, on_too_much
        self._head, self._tail, self._total = bytearray(), bytearray(), 0

    async def pump(self, stream: asyncio.StreamReader) -> None:
        """Takes all that comes until the stream ends."""
        while chunk := await stream.read(65536):
            self.add(chunk)

    def add(self, chunk: bytes) -> None:
        """Takes one piece."""
        self._total += len(chunk)
        room = _KEPT_HEAD - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * _KEPT_TAIL:
            del self._tail[:-_KEPT_TAIL]
        if self._total > self._most:
            self._on_too_much()

    def text(self) -> str:
        """What was kept, with a line that says how much was not."""
        tail = self._tail[-_KEPT_TAIL:]
        left_out = self._total - len(self._head) - len(tail)
        gap = f"\n[… {left_out} bytes left out …]\n".encode() if left_out else b""
        return (bytes(self._head) + gap + bytes(tail)).decode("utf-8", "replace")


class Pipes:
    """The pipes of a witness: its key, which the first who reads it has to himself, and what is reported."""

    def __init__(self, folder: Folder, key: bytes | None) -> None:
        self.data = bytearray()
        self._pipes: list[int] = []
        if key is not None:
            self._pipes = [folder.pipe("key"), folder.pipe("report")]
            os.write(self._pipes[0], key)
            asyncio.get_running_loop().add_reader(self._pipes[1], self.drain)

    def drain(self) -> None:
        """Reads what there is. What is reported beyond any measure is dropped, and with it the report's end."""
        if not self._pipes:
            return
        with suppress(BlockingIOError):
            # Whoever floods the pipe does not keep the event loop to himself.
            for _ in range(_READS_AT_ONCE):
                chunk = os.read(self._pipes[1], 65536)
                if len(self.data) <= _MOST_REPORT:
                    self.data += chunk

    def close(self) -> None:
        """Gives the pipes back."""
        if self._pipes:
            asyncio.get_running_loop().remove_reader(self._pipes[1])
        for descriptor in self._pipes:
            os.close(descriptor)
        self._pipes = []


__all__ = ["Pipes", "Printed"]
