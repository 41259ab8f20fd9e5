"""Server-sent events out of the bytes of a stream, as the HTML standard says (section 9.2, “Server-sent events”)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 1 << 26
"""Bytes that an event has at most, its unfinished line included."""


class TooLongError(ValueError):
    """An event is longer than :data:`LONGEST`."""


class Message(NamedTuple):
    """One event. ``last_id`` is the id it has, or that of the last before it that had one; ``data`` may be empty."""

    kind: str
    data: str
    last_id: str


class EventStream:
    """One connection's stream. ``last_id`` is where an earlier one ended."""

    def __init__(self, last_id: str = "") -> None:
        self._line = bytearray()
        self._is_after_return = False
        self._is_first = True
        self._size = 0
        self._id = last_id
        self._begin()

    def read(self, piece: bytes) -> Iterator[Message]:
        """Takes the next bytes of the stream. Raises TooLongError."""
        # A line ends at CR, LF or both; nothing else of what text calls a line break ends one.
        if self._is_after_return and piece:
            piece = piece.removeprefix(b"\n")
        self._is_after_return = piece.endswith(b"\r") or (self._is_after_return and not piece)
        for part in piece.splitlines(keepends=True):
            self._line += part
            self._size += len(part)
            if self._size > LONGEST:
                raise TooLongError
            if part.endswith((b"\r", b"\n")):
                line = self._line.decode(errors="replace").rstrip("\r\n")
                self._line.clear()
                if self._is_first:
                    self._is_first, line = False, line.removeprefix("\ufeff")
                if line:
                    self._take(line)
                else:
                    yield Message(self._kind, "\n".join(self._data), self._id)
                    self._begin()

    def _take(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._kind = value
        elif name == "id" and "\0" not in value:
            self._id = value

    def _begin(self) -> None:
        self._data: list[str] = []
        self._kind = "message"
        self._size = 0


__all__ = ["LONGEST", "EventStream", "Message", "TooLongError"]
