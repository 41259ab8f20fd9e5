"""Connections of a server: how long one may take over a request, and which goes when there are too many.

uvicorn limits neither how long the first request of a connection takes to come in, nor how long its answer may lie
untaken, and a limit of its connections counts those that ask nothing. Here one that asks nothing is closed, and where
there are too many, the one that has done so for longest makes room.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Answer = Callable[[Message, Receive, Send], Awaitable[None]]

SECONDS_TO_ASK = 15.0
"""How long the head of a request may take to come in, and how long a connection is held open for another one."""

SECONDS_TO_TAKE = 60.0
"""How long whoever asked may leave an answer lying."""

_MOST = 4096
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 2\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
)


def most_connections() -> int:
    """How many connections this process can hold: half of the files that it may have open."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ImportError:
        # Windows has no such limit.
        return _MOST
    soft, _ = getrlimit(RLIMIT_NOFILE)
    return _MOST if soft == RLIM_INFINITY else max(16, min(_MOST, soft // 2))


@dataclass(slots=True)
class Held:
    """The connections that are held. Those that can make room come first that have been waited for longest."""

    most: int = field(default_factory=most_connections)
    seconds_to_ask: float = SECONDS_TO_ASK
    seconds_to_take: float = SECONDS_TO_TAKE
    all: set[Any] = field(default_factory=set)
    asking_nothing: dict[Any, None] = field(default_factory=dict)
    bringing_bodies: dict[Any, None] = field(default_factory=dict)

    def make_room(self) -> bool:
        """Closes a connection where there are as many as can be; False where all of them are being answered."""
        if len(self.all) < self.most:
            return True
        for waiting in (self.asking_nothing, self.bringing_bodies):
            if waiting:
                oldest = next(iter(waiting))
                self.forget(oldest)
                oldest.transport.abort()
                return True
        return False

    def forget(self, connection: Any) -> None:
        """It is held no more."""
        self.all.discard(connection)
        self.asking_nothing.pop(connection, None)
        self.bringing_bodies.pop(connection, None)


def protocol(held: Held) -> type[asyncio.Protocol]:
    """uvicorn's protocol, with a watch on each connection."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    base: Any = AutoHTTPProtocol

    class Watched(base):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            self._answer: Answer = self.app
            self.app: Answer = self._answered
            self._under_way = 0
            self._is_silent = True
            self._clock: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:
            if not held.make_room():
                transport.write(_FULL)
                transport.close()
            held.all.add(self)
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            if self._is_silent and not self._under_way:
                self._wait()
                self._is_silent = False
            super().data_received(data)

        def connection_lost(self, error: Exception | None) -> None:
            held.forget(self)
            self._stop_clock()
            super().connection_lost(error)

        def _wait(self) -> None:
            self._is_silent = True
            self._stop_clock()
            if self in held.all:
                held.asking_nothing.pop(self, None)
                held.asking_nothing[self] = None
                self._clock = self.loop.call_later(held.seconds_to_ask, self._close)

        def _close(self) -> None:
            self.transport.close()
            # What is closed is kept until all that was written is taken.
            self._clock = self.loop.call_later(held.seconds_to_take, self.transport.abort)

        def _stop_clock(self) -> None:
            if self._clock is not None:
                self._clock.cancel()
                self._clock = None

        async def _answered(self, scope: Message, receive: Receive, send: Send) -> None:
            self._under_way += 1
            self._stop_clock()
            held.asking_nothing.pop(self, None)
            is_whole = False

            async def received() -> Message:
                nonlocal is_whole
                if is_whole or self not in held.all:
                    return await receive()
                held.bringing_bodies[self] = None
                try:
                    message = await receive()
                finally:
                    held.bringing_bodies.pop(self, None)
                is_whole = not message.get("more_body", False)
                return message

            async def taken(message: Message) -> None:
                try:
                    async with asyncio.timeout(held.seconds_to_take):
                        await send(message)
                except TimeoutError:
                    self.transport.abort()
                if self.transport.is_closing():
                    # What goes on to send is to learn that nobody hears it.
                    await asyncio.sleep(0)

            try:
                await self._answer(scope, received, taken)
            finally:
                self._under_way -= 1
                if not self._under_way:
                    self._wait()

    return Watched


__all__ = ["SECONDS_TO_ASK", "SECONDS_TO_TAKE", "Held", "most_connections", "protocol"]
