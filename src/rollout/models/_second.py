"""Asks a second time where an answer takes far longer than all those before it, and takes whichever comes first.

A request that a server has lost is told from a slow one only by how long others took. So nothing is given up: the first
request goes on, and its answer counts if it comes first. See “The Tail at Scale”, Dean and Barroso, 2013
(https://doi.org/10.1145/2408776.2408794), on hedged requests and on why there may only be few of them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from rollout.models._http import Response, WireError
from rollout.models._waiting import asked_wait

TIMES = 4.0
"""How many times the slowest of the last answers a request has to take."""

LEAST = 0.5
"""How many seconds it has to take at least."""

FEWEST = 30
"""How many answers have to be known before anything is said of the next."""

NOT_ANSWERED = "was not answered"
"""What is told of a second request that was dropped for a third."""

_LAST = 100
_LOOKS = 0.1

Post = Callable[[bytes, float], Awaitable[Response]]


def most_seconds(concurrency: int) -> int:
    """How many second requests there are at once: a server that is slow for all is not to be asked twice for all."""
    return max(1, concurrency // 10)


@dataclass(slots=True, eq=False)
class _Asked:
    """A request under way: who waits for it, when it was begun and last asked, and what its second one came to."""

    body: bytes
    deadline: float
    task: asyncio.Task[object]
    began: float
    since: float
    waits: tuple[tuple[float, str], ...] = ()
    second: asyncio.Task[None] | None = None
    answer: Response | None = None
    is_open: bool = True

    def refused(self, clause: str, since: float) -> None:
        """Its second request came to nothing; another may follow."""
        self.waits = (*self.waits[:-1], (self.waits[-1][0], clause))
        self.since, self.second = since, None


class SecondAsker:
    """Sends requests by ``post``, and by ``post_again`` a second time where one is late.

    ``concurrency`` is how many are sent at once.
    """

    def __init__(self, post: Post, post_again: Post, *, concurrency: int) -> None:
        self._post = post
        self._post_again = post_again
        self._most = most_seconds(concurrency)
        self._last: deque[float] = deque(maxlen=_LAST)
        self._open: set[_Asked] = set()
        self._seconds: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def post(self, body: bytes, within: float) -> Response:
        """The answer that comes first. Raises WireError as the first request does."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        began, cancelled = loop.time(), task.cancelling()
        asked = _Asked(body, began + within, task, began, began)
        self._open.add(asked)
        if self._timer is None:
            self._timer = loop.call_later(_LOOKS, self._look, loop)
        try:
            response = await self._post(body, within)
            if response.status == 200:
                self._last.append(loop.time() - began)
        except asyncio.CancelledError:
            # The second request interrupts the first; whoever gives up both has cancelled once more.
            if asked.answer is None or task.uncancel() > cancelled:
                raise
            response = asked.answer
        finally:
            asked.is_open = False
            self._open.discard(asked)
            if asked.second is not None:
                asked.second.cancel()
        return replace(response, waits=asked.waits) if asked.waits else response

    def close(self) -> None:
        """Looks no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(_LOOKS, self._look, loop) if self._open else None
        if len(self._last) < FEWEST:
            return
        late = max(LEAST, TIMES * max(self._last))
        now = loop.time()
        for asked in self._open:
            if now - asked.since < late:
                continue
            if asked.second is not None:
                # Lost as well: the one after it takes its place.
                asked.second.cancel()
                asked.refused(NOT_ANSWERED, now)
            elif len(self._seconds) >= self._most:
                continue
            asked.waits += ((now - asked.began, ""),)
            asked.since = now
            asked.second = loop.create_task(self._ask_again(asked, loop))
            self._seconds.add(asked.second)
            asked.second.add_done_callback(self._seconds.discard)

    async def _ask_again(self, asked: _Asked, loop: asyncio.AbstractEventLoop) -> None:
        began = loop.time()
        try:
            response = await self._post_again(asked.body, max(0.001, asked.deadline - began))
        except WireError as error:
            return asked.refused(str(error), loop.time())
        if response.status != 200:
            # It may be asked once more, but not sooner than it wishes.
            wished = asked_wait(response.headers) or 0.0
            return asked.refused(f"was answered {response.status}", loop.time() + wished)
        self._last.append(loop.time() - began)
        if asked.is_open:
            asked.answer, asked.second = response, None
            asked.task.cancel()
        return None


__all__ = ["FEWEST", "LEAST", "NOT_ANSWERED", "TIMES", "SecondAsker", "most_seconds"]
