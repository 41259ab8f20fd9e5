"""The application: all routes, what every answer carries, and what runs beside them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rollout.platform.conversation import API
from rollout.platform.server import environments, events, generating, health, keys, runs, training
from rollout.platform.server.access import Access
from rollout.platform.server.beginning import Beginnings
from rollout.platform.server.http import ApiError, Json
from rollout.platform.server.runner import Runner
from rollout.platform.store import FullError, Store, StoreError, UnkeepableError
from rollout.settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_log = logging.getLogger("rollout")

_NO_ROUTE = "none"

_HEADERS = (
    (API.encode(), b"1"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)


def application(store: Store, runner: Runner, *, everybody: bool = False) -> Starlette:
    """The application over a store. With ``everybody`` it asks for no key: only for a process of its own.

    The store and the runner are the caller's to open, and are closed when the application ends.
    """
    access = Access(store, runner.figures, everybody=everybody)
    beginnings = Beginnings(store)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        noting = asyncio.create_task(access.keep_uses())
        await runner.start()
        try:
            yield
        finally:
            await asyncio.gather(runner.close(), beginnings.close())
            noting.cancel()
            await asyncio.gather(noting, return_exceptions=True)
            try:
                await access.note_uses()
            finally:
                store.close()

    routes: list[BaseRoute] = [
        *environments.routes,
        *generating.routes,
        *runs.routes,
        *events.routes,
        *training.routes,
        *keys.routes,
        *health.routes,
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={
            ApiError: _refused,
            HTTPException: _no_route,
            StoreError: _no_store,
            UnkeepableError: _not_to_be_kept,
            Exception: _broken,
        },
    )
    # A redirect would name whatever host the request does.
    app.router.redirect_slashes = False
    app.state.store, app.state.runner, app.state.access = store, runner, access
    app.state.beginnings = beginnings
    app.state.refusal = _in_json
    if not everybody:
        from rollout.platform import pages

        pages.add_to(app)
    app.state.paths = {route.endpoint: route.path for route in app.routes if isinstance(route, Route)}
    app.add_middleware(_Carrying)
    return app


def local_application(folder: Path, settings: Settings | None = None) -> Starlette:
    """The application that is part of a process of the user's own, over the data in ``folder``. Raises StoreError.

    It executes the runs that this process asks for; ``settings`` say where models are asked.
    """
    store = Store(f"sqlite:///{folder / 'rollout.db'}")
    return application(store, Runner(store, settings=settings, only_asked=True), everybody=True)


class _Carrying:
    """Gives every answer the headers that all of them have, and counts it."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """As ASGI has it."""

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()

        def count(status: int) -> None:
            state = scope["app"].state
            route = state.paths.get(scope.get("endpoint"), _NO_ROUTE)
            state.runner.figures.request(scope["method"], route, status, time.monotonic() - began)

        is_begun = False

        async def carrying(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                count(message["status"])
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            await self._app(scope, receive, carrying)
        except Exception:
            if not is_begun:
                # What is answered to it goes out past here.
                count(500)
            raise


def _in_json(
    request: Request, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    return Json(body, status_code=status, headers=headers)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return _answer(request, error.status, error.body, error.headers)


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "There is nothing at this address.", 405: "This address is not asked in this way."}
    body = {"error": words.get(error.status_code, error.detail)}
    return _answer(request, error.status_code, body, error.headers)


async def _no_store(request: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    _log.error("%s", error)
    # What the database says of itself may hold its address.
    sentence, hint = "The database does not answer.", "Try it again in a moment."
    if isinstance(error, FullError):
        sentence, hint = str(error), error.hint or hint
    body = {"error": sentence, "hint": hint}
    return _answer(request, 503, body, {"retry-after": "2"})


async def _not_to_be_kept(request: Request, error: Exception) -> Response:
    return _answer(request, 400, {"error": str(error)})


async def _broken(request: Request, error: Exception) -> Response:
    _log.error("%s %s broke down", request.method, request.url.path, exc_info=error)
    body = {"error": "The server broke down over this request; its log says why."}
    # This answer goes out past what gives the others their headers.
    headers = {name.decode(): value.decode() for name, value in _HEADERS}
    return _answer(request, 500, body, headers)


def _answer(
    request: Request, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    """What is refused, as whoever asks can read it."""
    answer: Response = request.app.state.refusal(request, status, body, headers)
    return answer


__all__ = ["application", "local_application"]
