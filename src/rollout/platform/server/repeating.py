"""Requests with an ``Idempotency-Key``: what comes a second time is answered as it was the first, and not done again.

As the IETF's draft “The Idempotency-Key HTTP Header Field” has it: the key with another request is refused (422), and
so is one whose first request is still being answered (409).
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from hashlib import sha256
from typing import Any

from sqlalchemy import URL, Connection
from starlette.requests import Request
from starlette.responses import Response

from rollout.platform.server.access import Endpoint
from rollout.platform.server.http import ApiError, Json, body_of
from rollout.platform.server.processes import is_gone, this_process
from rollout.platform.store import Store, StoreError, repeats
from rollout.platform.store.repeats import Answer, OtherRequestError, UnderWayError

_LONGEST_NAME = 200
_LARGEST = 64 * 1024 * 1024

_log = logging.getLogger("rollout")

_given_up: set[tuple[URL, str, str]] = set()
"""The requests that this process refused and could not forget: the database has them as under way."""


def repeated(endpoint: Endpoint) -> Endpoint:
    """Has an endpoint carry out a named request once. Refusals are not kept: they may come out otherwise later."""

    async def once(request: Request) -> Response:
        name = request.headers.get("idempotency-key", "")
        if not name:
            return await endpoint(request)
        if len(name) > _LONGEST_NAME:
            raise ApiError(400, f"An Idempotency-Key has {_LONGEST_NAME} characters at most.")
        store, sender = request.app.state.store, request.state.key.id
        body = await body_of(request, limit=_LARGEST)
        # The endpoint reads it again.
        request._body = body
        counts = (
            f"{request.method} {request.url.path}?{request.url.query} {request.headers.get('if-match', '')}\n"
        )
        hashed = sha256(counts.encode() + body).hexdigest()
        me = (store.engine.url, sender, name)
        # Only one of those that send it again finds it so.
        was_given_up = me in _given_up
        _given_up.discard(me)

        def is_over(process: str) -> bool:
            return is_gone(process) or (was_given_up and process == this_process())

        try:
            before = await store.awrite(
                repeats.begin, sender, name, hashed, process=this_process(), is_gone=is_over
            )
        except StoreError:
            if was_given_up:
                _given_up.add(me)
            raise
        except OtherRequestError:
            raise ApiError(422, "The Idempotency-Key was sent with another request before.") from None
        except UnderWayError:
            raise under_way() from None
        if before is not None:
            return Response(before.body, before.status, {"idempotent-replay": "true"}, "application/json")
        request.state.named = (sender, name)
        request.state.mark = sha256(f"{sender} {name} {hashed}".encode()).hexdigest()
        saying = asyncio.create_task(_say_that_it_is_answered(store, sender, name))
        try:
            response = await endpoint(request)
        except Exception:
            # One that is broken off stays under way: what it began may come to its end.
            try:
                await store.awrite(repeats.forget, sender, name)
            except StoreError as error:
                _log.error("A request that was refused could not be forgotten. %s", error)
                _given_up.add(me)
            raise
        finally:
            saying.cancel()
        try:
            await store.awrite(
                repeats.answered, sender, name, Answer(response.status_code, bytes(response.body))
            )
        except StoreError as error:
            # It is done, whoever remembers it.
            _log.error("What a request was answered could not be kept. %s", error)
        return response

    once.__name__ = endpoint.__name__
    once.__doc__ = endpoint.__doc__
    return once


async def _say_that_it_is_answered(store: Store, sender: str, name: str) -> None:
    while True:
        await asyncio.sleep(repeats.SECONDS_BETWEEN)
        with suppress(StoreError):
            await store.awrite(repeats.still_answering, sender, name, this_process())


def under_way() -> ApiError:
    """The refusal of a request whose first is not answered yet."""
    return ApiError(
        409, "The same request is being answered.", "Try it again in a moment.", headers={"retry-after": "1"}
    )


def mark_of(request: Request) -> str | None:
    """By what that which a named request began is found again: the sender, the name, and all that counts of it. None
    without a name."""
    mark: str | None = getattr(request.state, "mark", None)
    return mark


def keep_answer(request: Request, connection: Connection, status: int, value: Any) -> None:
    """Keeps the answer in the transaction that does what was asked for, so that a server which is killed after it does
    nothing twice."""
    named: tuple[str, str] | None = getattr(request.state, "named", None)
    if named is not None:
        sender, name = named
        repeats.answered(connection, sender, name, Answer(status, bytes(Json(value).body)))


__all__ = ["keep_answer", "mark_of", "repeated", "under_way"]
