"""Following a run: the events that a server sends, or where it sends none, a look at the run now and then.

Nothing here touches a network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from rollout.platform.calls import path_of_events, read_rollout, read_run
from rollout.platform.conversation import not_as_published
from rollout.platform.endpoints import Endpoint
from rollout.platform.errors import RolloutError
from rollout.platform.event_stream import LONGEST, EventStream, Message, TooLongError
from rollout.platform.shapes import AnswerError, parse

Kind = Literal["progress", "rollout", "end"]

OVER = ("done", "failed", "cancelled", "completed", "error")
"""The status of a run of which nothing more comes, here and on the hosted platform."""

_SECONDS_BETWEEN_LOOKS = 2.0
_SECONDS_WITHOUT_A_WORD = 60.0
_TRIES = 6
_SHOWN = 500
_FOR_NOW = (408, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that befell a run: ``data`` is the run (``progress``, ``end``), or a finished rollout (``rollout``)."""

    kind: Kind
    data: Mapping[str, Any]


class Watch:
    """One run that is followed. The client sends the requests, and hands on what comes."""

    def __init__(self, run_id: str, endpoint: Endpoint) -> None:
        self.path = path_of_events(run_id)
        self._endpoint = endpoint
        self.over = False
        self.looks = False
        self.pause = 0.0
        self.timeout = httpx.Timeout(_SECONDS_WITHOUT_A_WORD, connect=10.0)
        self._has_no_events = False
        self._last_id = ""
        # What has come under this id comes again where the connection breaks off within it.
        self._told: set[str] = set()
        self._broken = 0
        self._empty = 0
        self._stream = EventStream()

    @property
    def headers(self) -> dict[str, str]:
        """What is sent along, so that nothing is told twice."""
        headers = {"accept": "text/event-stream"}
        # Another's id may be what no header can hold.
        if self._last_id and self._last_id.isascii() and self._last_id.isprintable():
            headers["last-event-id"] = self._last_id
        return headers

    def accepts(self, answer: httpx.Response) -> bool:
        """Whether events follow. From a server that has none, the run is asked for now and then instead.

        Raises httpx.HTTPError, as for a connection that broke off, for a server that cannot answer for now.
        """
        kind = answer.headers.get("content-type", "")
        if answer.status_code == 200 and kind.startswith("text/event-stream"):
            self._stream = EventStream(self._last_id)
            self._empty += 1
            return True
        if answer.status_code in _FOR_NOW:
            raise httpx.RemoteProtocolError(f"HTTP {answer.status_code}")
        self.looks = self._has_no_events = True
        return False

    def read(self, piece: bytes) -> Iterator[Event]:
        """Takes the next bytes of the stream.

        Raises RolloutError for an event that is not as it should be, and where nobody executes the run.
        """
        try:
            for message in self._stream.read(piece):
                yield from self._take(message)
        except TooLongError:
            raise RolloutError(
                0,
                f"{self._endpoint.url} sends an event of more than {LONGEST >> 20} MB, which is none of a platform.",
                hint="Is the endpoint right?",
            ) from None

    def _take(self, message: Message) -> Iterator[Event]:
        if message.last_id != self._last_id:
            self._last_id, self._told = message.last_id, set()
        self._broken, self.pause = 0, 0.0
        kind = message.kind
        if not message.data or kind not in ("progress", "rollout", "end", "left"):
            return
        self._empty = 0
        try:
            said: Any = parse(message.data.encode())
        except ValueError as error:
            wrong = error if isinstance(error, AnswerError) else _no_json(kind)
            raise not_as_published(wrong, self._endpoint, message.data[:_SHOWN]) from None
        if kind == "left":
            raise _left(said)
        try:
            told = read_rollout(said) if kind == "rollout" else read_run(said)
        except AnswerError as error:
            raise not_as_published(error, self._endpoint, said) from None
        if kind == "rollout":
            if told["id"] in self._told:
                return
            self._told.add(told["id"])
        self.over = kind == "end"
        yield Event(kind, told)  # type: ignore[arg-type]

    def looked(self, run: Any) -> Iterator[Event]:
        """Takes the run as it is now."""
        self.pause = _SECONDS_BETWEEN_LOOKS
        self.looks = self._has_no_events
        self.over = run.get("status") in OVER
        yield Event("end" if self.over else "progress", run)

    def broken(self, error: httpx.HTTPError) -> None:
        """Takes a connection that broke off. Raises RolloutError when it has done so too often in a row."""
        self._broken += 1
        self.pause = _pause(self._broken)
        if self._broken >= _TRIES:
            raise RolloutError(
                0,
                f"{self._endpoint.url} does not answer any more: {str(error).rstrip('.') or type(error).__name__}.",
                hint="The run goes on there. Look at it later with `rollout show`.",
            ) from error

    def ended(self) -> None:
        """Takes the end of a stream, which the server may break off at any time.

        One that told nothing says no more than that the run is to be looked at; too many of them, that there are none.
        """
        if self.over or self._has_no_events:
            return
        self.pause = max(self.pause, 0.5)
        if self._empty:
            self.looks, self._has_no_events = True, self._empty >= _TRIES
            self.pause = _pause(self._empty)


def _pause(times: int) -> float:
    return min(10.0, 0.5 * 2.0**times)


def _no_json(kind: str) -> AnswerError:
    return AnswerError(f"JSON was expected in its event “{kind}”")


def _left(said: Any) -> RolloutError:
    known = said if isinstance(said, dict) else {}
    words = [text if isinstance(text := known.get(name), str) else None for name in ("error", "hint")]
    return RolloutError(409, words[0] or "Nobody executes this run.", said, hint=words[1])


__all__ = ["OVER", "Event", "Kind", "Watch"]
