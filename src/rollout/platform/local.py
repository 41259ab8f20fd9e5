"""``local``: the platform's own application, run in this process and asked without a socket.

It lives in a thread of its own with an event loop, one for all clients of this process, from the first that needs it to
the last that is closed. Answers are handed over piece by piece, so that events arrive as they happen.
"""

from __future__ import annotations

import asyncio

# What it does when the interpreter ends has to come after what is done here.
import concurrent.futures.thread  # noqa: F401
import os
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, MutableMapping
from concurrent.futures import Future
from pathlib import Path
from threading import Lock, Thread
from typing import Any, TypeVar

import httpx

from rollout.platform.errors import RolloutError
from rollout.settings import Settings, SettingsError, find_settings, read_settings

T = TypeVar("T")
Message = MutableMapping[str, Any]
App = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]
]

VARIABLE = "ROLLOUT_DATA"

_SECONDS_TO_END = 30.0


def data_folder() -> Path:
    """Where ``local`` keeps its data: ROLLOUT_DATA, or else ``rollout`` in the user's folder of data, which
    XDG_DATA_HOME names or else is ``~/.local/share``."""
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return Path(named).expanduser()
    base = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".local" / "share") / "rollout"


class _Home:
    """The application and its thread. ``ask`` runs a coroutine there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clients = 0
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="rollout-local", daemon=True)
        self._thread.start()
        try:
            self.ask(self._start()).result()
        except BaseException:
            try:
                self.ask(self._clear()).result(_SECONDS_TO_END)
            finally:
                self._end_thread()
            raise

    def ask(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Runs a coroutine in the application's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def end(self) -> list[str]:
        """Ends what is under way, to be gone on with later; answers which runs that were."""
        try:
            return self.ask(self._stop()).result(_SECONDS_TO_END)
        finally:
            self._end_thread()

    async def _start(self) -> None:
        from rollout.platform.server.app import local_application

        application = local_application(self.folder, _settings())
        self.app: App = application
        self._state = application.state
        self._lifespan = application.router.lifespan_context(application)
        await self._lifespan.__aenter__()

    async def _stop(self) -> list[str]:
        try:
            try:
                return await self._under_way()
            finally:
                await self._lifespan.__aexit__(None, None, None)
        finally:
            await self._clear()

    async def _clear(self) -> None:
        # An interrupted client leaves tasks behind, which the loop has to be rid of before it is closed.
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()

    async def _under_way(self) -> list[str]:
        """The ids of the runs that this process executes, or is about to."""
        from rollout.platform.store import runs

        held = await self._state.store.aread(runs.held)
        return [run_id for run_id, _, _ in held if self._state.runner.executes(run_id)]

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS_TO_END)
        if not self._thread.is_alive():
            self._loop.close()


def _settings() -> Settings:
    """Those of the project that this runs in, with the servers that its models are asked at."""
    path = find_settings(Path.cwd())
    try:
        return Settings() if path is None else read_settings(path)
    except SettingsError as error:
        raise RolloutError(
            0, f"“{path}” cannot be used: {error}", hint=f"Mend line {error.diagnostics[0].span.line}."
        ) from None


_lock = Lock()
_homes: dict[Path, _Home] = {}


def _enter() -> _Home:
    from rollout.platform.store import StoreError

    folder = data_folder().absolute()
    with _lock:
        if folder not in _homes:
            try:
                _homes[folder] = _Home(folder)
            except StoreError as error:
                raise RolloutError(0, str(error), hint=error.hint) from None
        _homes[folder].clients += 1
        return _homes[folder]


def _leave(home: _Home) -> None:
    """Ends the application with its last client, and says which runs were under way."""
    left: list[str] = []
    with _lock:
        home.clients -= 1
        if home.clients == 0:
            del _homes[home.folder]
            left = home.end()
    _warn_of(left)


def _end_left() -> None:
    """Ends what no client was closed of, and says which runs were under way."""
    left = [run_id for home in list(_homes.values()) for run_id in home.end()]
    _homes.clear()
    _warn_of(left)


def _warn_of(left: list[str]) -> None:
    """Says which runs were ended; not under the lock, as what a program does with a warning is its own affair."""
    for run_id in left:
        warnings.warn(
            f"The run {run_id} is left under way on local, so it is cancelled, and what is done is kept. Follow a "
            f"run to its end with client.watch_run; go on with this one: rollout resume {run_id}",
            RuntimeWarning,
            stacklevel=3,
        )


# With atexit it would come too late: by then no thread takes work any more, and to end a run takes some.
threading._register_atexit(_end_left)  # type: ignore[attr-defined]


class _Exchange:
    """One request to the application; all of it happens in the application's event loop."""

    def __init__(self, app: App, scope: dict[str, Any], body: bytes) -> None:
        self._app = app
        self._scope = scope
        self._body: bytes | None = body
        self._gone = asyncio.Event()
        self._head: asyncio.Future[tuple[int, list[tuple[bytes, bytes]]]] = (
            asyncio.get_running_loop().create_future()
        )
        self._pieces: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue(8)
        self._task = asyncio.create_task(self._run())

    async def head(self) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Status and headers."""
        return await asyncio.shield(self._head)

    async def piece(self) -> bytes | None:
        """The next piece of the body; None after the last."""
        piece = await self._pieces.get()
        if isinstance(piece, BaseException):
            raise httpx.ReadError(f"local broke down: {piece}") from piece
        return piece

    async def leave(self) -> None:
        """The client wants no more of it."""
        self._gone.set()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        end: BaseException | None = None
        try:
            await self._app(self._scope, self._receive, self._send)
        except Exception as error:
            end = error
        if not self._head.done():
            self._head.set_exception(
                httpx.RemoteProtocolError(f"local broke down: {type(end).__name__}: {end}")
            )
        await self._pieces.put(end)

    async def _receive(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._head.set_result((message["status"], list(message.get("headers", ()))))
        elif message["type"] == "http.response.body" and message.get("body"):
            await self._pieces.put(message["body"])


async def _begin(home: _Home, request: httpx.Request, body: bytes) -> _Exchange:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": request.url.path,
        "raw_path": request.url.raw_path.partition(b"?")[0],
        "query_string": request.url.query,
        "root_path": "",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": None,
        "server": ("local", 80),
    }
    return _Exchange(home.app, scope, body)


class _Stream(httpx.SyncByteStream):
    def __init__(self, home: _Home, exchange: _Exchange) -> None:
        self._home, self._exchange = home, exchange

    def __iter__(self) -> Iterator[bytes]:
        while (piece := self._home.ask(self._exchange.piece()).result()) is not None:
            yield piece

    def close(self) -> None:
        self._home.ask(self._exchange.leave()).result()


class _AsyncStream(httpx.AsyncByteStream):
    def __init__(self, home: _Home, exchange: _Exchange) -> None:
        self._home, self._exchange = home, exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (piece := await asyncio.wrap_future(self._home.ask(self._exchange.piece()))) is not None:
            yield piece

    async def aclose(self) -> None:
        await asyncio.wrap_future(self._home.ask(self._exchange.leave()))


class LocalTransport(httpx.BaseTransport):
    """Sends requests to the application in this process. Raises RolloutError where its data cannot be reached."""

    def __init__(self) -> None:
        self._home = _enter()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """As httpx asks for."""
        body = request.read()
        exchange = self._home.ask(_begin(self._home, request, body)).result()
        status, headers = self._home.ask(exchange.head()).result()
        return httpx.Response(status, headers=headers, stream=_Stream(self._home, exchange), request=request)

    def close(self) -> None:
        """Leaves the application, which ends with its last client; warns of runs that are under way then."""
        _leave(self._home)


class AsyncLocalTransport(httpx.AsyncBaseTransport):
    """As :class:`LocalTransport`, for an event loop."""

    def __init__(self) -> None:
        self._home = _enter()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """As httpx asks for."""
        body = await request.aread()
        exchange = await asyncio.wrap_future(self._home.ask(_begin(self._home, request, body)))
        status, headers = await asyncio.wrap_future(self._home.ask(exchange.head()))
        return httpx.Response(
            status, headers=headers, stream=_AsyncStream(self._home, exchange), request=request
        )

    async def aclose(self) -> None:
        """Leaves the application, which ends with its last client; warns of runs that are under way then."""
        await asyncio.get_running_loop().run_in_executor(None, _leave, self._home)


__all__ = ["VARIABLE", "AsyncLocalTransport", "LocalTransport", "data_folder"]
