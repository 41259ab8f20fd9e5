"""What befalls a run, told as it happens: server-sent events.

``progress`` has the run, at most a few times a second; ``rollout`` a finished rollout without its transcript; ``end``
the run when it is over, ``left`` that nobody executes it. An id is a time, so whoever lost the connection is told what
was finished since then.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as Asked

from rollout.platform.server.access import needs
from rollout.platform.server.http import ApiError
from rollout.platform.server.runs import in_words, not_one, shown_rollout
from rollout.platform.store import Store, rollouts, runs
from rollout.platform.store.keys import Scope
from rollout.platform.store.runs import NotOneError

_BETWEEN_LOOKS = 1.0
_BETWEEN_EVENTS = 0.2
_BETWEEN_WORDS = 15.0

_MOST_OF_A_KEY, _MOST = 64, 256
"""How many runs are followed at once. Whoever follows one has a connection, and others need some too."""


@needs(Scope.READ)
async def get_events(request: Request) -> Response:
    """The events of a run, until it is over."""
    store: Store = request.app.state.store
    start = request.path_params["run"]
    try:
        run = await store.aglance(runs.find, start)
    except NotOneError as error:
        raise not_one("run", start, error) from None
    # A browser cannot send the header with its first request.
    last = request.headers.get("last-event-id") or request.query_params.get("since", "")
    if last and not (last.isascii() and last.isdigit() and len(last) < 16):
        raise ApiError(400, "That is no id of an event.", pointer="Last-Event-ID")
    # Proxies that gather an answer before they pass it on are told not to.
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    told = _told(request, run.id, int(last or 0))
    return _Following(told, _followed(request), request.state.key.id, headers)


def _followed(request: Request) -> Counter[str]:
    """How many runs each key follows. Raises ApiError where there are as many as may be."""
    state, key_id = request.app.state, request.state.key.id
    if not hasattr(state, "followed"):
        state.followed = Counter()
    counts: Counter[str] = state.followed
    is_too_many = key_id and counts[key_id] >= _MOST_OF_A_KEY
    if is_too_many or counts.total() >= _MOST:
        whose = "with this key" if is_too_many else "here"
        raise ApiError(
            429,
            f"{counts[key_id] if is_too_many else _MOST} runs are followed {whose}, which is the most at once.",
            "Ask for the run itself now and then.",
            headers={"retry-after": "5"},
        )
    return counts


class _Following(StreamingResponse):
    """A stream of events, counted as long as somebody is there."""

    def __init__(
        self, told: AsyncIterator[bytes], counts: Counter[str], key_id: str, headers: dict[str, str]
    ) -> None:
        super().__init__(told, headers=headers, media_type="text/event-stream")
        self._counts = counts
        self._key_id = key_id

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        self._counts[self._key_id] += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._counts[self._key_id] -= 1


async def _told(request: Request, run_id: str, since: int) -> AsyncIterator[bytes]:
    state = request.app.state
    store: Store = state.store
    told: set[str] = set()
    before, spoken, is_left = b"", time.monotonic(), False
    while await state.access.may_go_on(request):
        run = await store.aglance(runs.get, run_id)
        assert run is not None
        # What was finished in the same millisecond as the last may have come after it.
        for brief in await store.aread(rollouts.finished_since, run_id, since):
            if brief.id not in told:
                if brief.finished_at > since:
                    since, told = brief.finished_at, set()
                told.add(brief.id)
                yield _event("rollout", shown_rollout(brief), since)
        shown = await in_words(store, run)
        data = orjson.dumps(shown)
        if run.is_over:
            yield _event("end", shown, since)
            return
        if data != before:
            before, spoken = data, time.monotonic()
            yield _event("progress", shown, since)
        elif time.monotonic() - spoken > _BETWEEN_WORDS:
            spoken = time.monotonic()
            yield b": still there\n\n"
        was_left, is_left = is_left, state.runner.leaves_alone(run)
        # What was looked at may have been taken up, or have ended, since.
        if was_left and is_left:
            yield _event("left", _left(run_id), since)
            return
        if state.runner.is_draining and not state.runner.executes(run_id):
            # Who follows asks again, and is told by whoever goes on with the run.
            return
        started = time.monotonic()
        await state.runner.changed.wait(run_id, _BETWEEN_LOOKS)
        if (left := _BETWEEN_EVENTS - (time.monotonic() - started)) > 0:
            await asyncio.sleep(left)


def _left(run_id: str) -> dict[str, str]:
    return {
        "error": f"Nobody executes the run {run_id[:12]} now.",
        "hint": f"Go on with it: rollout resume {run_id[:12]}",
    }


def _event(kind: str, data: object, event_id: int) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event_id, kind.encode(), orjson.dumps(data))


routes = [Route("/api/runs/{run}/events", get_events, methods=["GET"])]

__all__ = ["routes"]
