"""Following a run: the events that a server sends, or where it sends none, a look at the run now and then.

Server-sent events are read as the HTML standard says (section 9.2, “Server-sent events”), as far as the server uses it.
Nothing here touches a network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import httpx
import orjson

from rollout.platform.calls import path_of_events, read_rollout, read_run
from rollout.platform.conversation import not_as_published
from rollout.platform.endpoints import Endpoint
from rollout.platform.errors import RolloutError
from rollout.platform.shapes import AnswerError

Kind = Literal["progress", "rollout", "end"]

OVER = ("done", "failed", "cancelled", "completed", "error")
"""The status of a run of which nothing more comes, here and on the hosted platform."""

_SECONDS_BETWEEN_LOOKS = 2.0
_SECONDS_WITHOUT_A_WORD = 60.0
_TRIES = 6
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
        self.polls = False
        self.pause = 0.0
        self.timeout = httpx.Timeout(_SECONDS_WITHOUT_A_WORD, connect=10.0)
        self._last_id = ""
        # What has come under this id comes again where the connection breaks off within it.
        self._told: set[str] = set()
        self._broken = 0
        self._begin()

    @property
    def headers(self) -> dict[str, str]:
        """What is sent along, so that nothing is told twice."""
        headers = {"accept": "text/event-stream"}
        if self._last_id:
            headers["last-event-id"] = self._last_id
        return headers

    def accepts(self, answer: httpx.Response) -> bool:
        """Whether events follow. From a server that has none, the run is asked for now and then instead.

        Raises httpx.HTTPError, as for a connection that broke off, for a server that cannot answer for now.
        """
        kind = answer.headers.get("content-type", "")
        if answer.status_code == 200 and kind.startswith("text/event-stream"):
            self._begin()
            return True
        if answer.status_code in _FOR_NOW:
            raise httpx.RemoteProtocolError(f"HTTP {answer.status_code}")
        self.polls = True
        return False

    def line(self, line: str) -> Iterator[Event]:
        """Takes a line of the stream.

        Raises RolloutError for an event that is not as it should be, and where nobody executes the run.
        """
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                self._data.append(value)
            elif name == "event":
                self._kind = value
            elif name == "id":
                self._id = value
            return
        data, kind = "\n".join(self._data), self._kind
        if self._id != self._last_id:
            self._last_id, self._told = self._id, set()
        self._broken, self.pause = 0, 0.0
        self._begin()
        if not data or kind not in ("progress", "rollout", "end", "left"):
            return
        try:
            said: Any = orjson.loads(data)
        except ValueError:
            return
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

    def polled(self, run: Any) -> Iterator[Event]:
        """Takes the run as it is now."""
        self.pause = _SECONDS_BETWEEN_LOOKS
        self.over = run.get("status") in OVER
        yield Event("end" if self.over else "progress", run)

    def broken(self, error: httpx.HTTPError) -> None:
        """Takes a connection that broke off. Raises RolloutError when it has done so too often in a row."""
        self._begin()
        self._broken += 1
        self.pause = min(10.0, 0.5 * 2.0**self._broken)
        if self._broken >= _TRIES:
            raise RolloutError(
                0,
                f"{self._endpoint.url} does not answer any more: {str(error).rstrip('.') or type(error).__name__}.",
                hint="The run goes on there. Look at it later with `rollout show`.",
            ) from error

    def ended(self) -> None:
        """Takes the end of a stream, which the server may break off at any time."""
        if not self.over:
            self.pause = max(self.pause, 0.5)

    def _begin(self) -> None:
        self._data: list[str] = []
        self._kind = "message"
        self._id = self._last_id


def _left(said: Any) -> RolloutError:
    known = said if isinstance(said, dict) else {}
    words = [text if isinstance(text := known.get(name), str) else None for name in ("error", "hint")]
    return RolloutError(409, words[0] or "Nobody executes this run.", said, hint=words[1])


__all__ = ["OVER", "Event", "Kind", "Watch"]
