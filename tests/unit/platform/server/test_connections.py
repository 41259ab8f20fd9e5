"""Connections that ask nothing, ask slowly, or take no answer: they are closed, and in nobody's way."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
import uvicorn
from servers.rollout_server import Platform
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from rollout.platform.server import http as bodies
from rollout.platform.server.connections import Held, protocol
from rollout.platform.server.http import ApiError, body_of

HEAD = b"GET / HTTP/1.1\r\nhost: here\r\n"


async def say_hello(request: Request) -> Response:
    return PlainTextResponse("hello")


class WithoutEnd(StreamingResponse):
    """An answer that tells ``given_up`` when it is no longer sent."""

    def __init__(self, given_up: Event) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            while True:
                yield b"x" * 1_000_000

        super().__init__(pieces())
        self._given_up = given_up

    async def __call__(self, *arguments: Any) -> None:
        try:
            await super().__call__(*arguments)
        finally:
            self._given_up.set()


async def say_much(request: Request) -> Response:
    return WithoutEnd(request.app.state.given_up)


async def count_bytes(request: Request) -> Response:
    try:
        return PlainTextResponse(str(len(await body_of(request))))
    except ApiError as error:
        return PlainTextResponse(str(error), error.status, error.headers)


class Serving:
    """A server of three answers, in a thread."""

    def __init__(self, held: Held) -> None:
        self.held = held
        routes = [
            Route("/", say_hello),
            Route("/much", say_much),
            Route("/count", count_bytes, methods=["POST"]),
        ]
        app = Starlette(routes=routes)
        app.state.given_up = self.given_up = Event()
        config = uvicorn.Config(app, http=protocol(held), port=0, log_level="critical", lifespan="off")
        self._server = uvicorn.Server(config)
        self._socket = config.bind_socket()
        self.place = self._socket.getsockname()
        self._thread = Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    def __enter__(self) -> Serving:
        self._thread.start()
        while not self._server.started:
            Event().wait(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(20)

    def connect(self, said: bytes = b"") -> socket.socket:
        made = socket.create_connection(self.place, timeout=20)
        made.sendall(said)
        return made

    def says_hello(self) -> bool:
        return httpx.get(f"http://127.0.0.1:{self.place[1]}/", timeout=20).text == "hello"


@pytest.fixture
def serving() -> Iterator[Serving]:
    with Serving(Held(most=20, seconds_to_ask=0.4, seconds_to_take=0.4)) as made:
        yield made


def wait_until_closed(connection: socket.socket) -> None:
    """Raises TimeoutError where it stays open."""
    with suppress(ConnectionResetError):
        while connection.recv(65536):
            pass


def heard(connection: socket.socket, end: bytes) -> bytes:
    """What comes, up to ``end``."""
    found = b""
    while not found.endswith(end):
        piece = connection.recv(65536)
        assert piece, found
        found += piece
    return found


@pytest.mark.parametrize("said", [b"", b"GET", HEAD, HEAD + b"\r\n"], ids=["nothing", "word", "head", "all"])
def test_a_connection_that_asks_nothing_more_is_closed(serving: Serving, said: bytes) -> None:
    with serving.connect(said) as connection:
        wait_until_closed(connection)
    assert serving.says_hello()


def test_a_head_that_comes_in_drop_by_drop_is_not_waited_for(serving: Serving) -> None:
    with serving.connect(HEAD) as connection:
        ended = Event()

        def drip() -> None:
            with suppress(OSError):
                while not ended.wait(0.05):
                    connection.sendall(b"x: y\r\n")

        dripping = Thread(target=drip)
        dripping.start()
        wait_until_closed(connection)
        ended.set()
        dripping.join()


def test_a_connection_is_held_open_between_requests(serving: Serving) -> None:
    with serving.connect() as connection:
        for _ in range(6):
            connection.sendall(HEAD + b"\r\n")
            heard(connection, b"hello")
            Event().wait(0.15)


def test_an_answer_that_nobody_takes_is_given_up(serving: Serving) -> None:
    with serving.connect(b"GET /much HTTP/1.1\r\nhost: here\r\n\r\n"):
        assert serving.given_up.wait(20)


def test_the_longest_idle_makes_room() -> None:
    with Serving(Held(most=20)) as serving, ExitStack() as stack:
        first = stack.enter_context(serving.connect(HEAD))
        others = [stack.enter_context(serving.connect()) for _ in range(60)]
        assert serving.says_hello()
        assert len(serving.held.all) <= 20
        wait_until_closed(first)
        others[-1].sendall(HEAD + b"\r\n")
        heard(others[-1], b"hello")


def test_those_that_bring_bodies_make_room_too() -> None:
    with Serving(Held(most=20)) as serving, ExitStack() as stack:
        begun = b"POST /count HTTP/1.1\r\nhost: here\r\ncontent-length: 100\r\n\r\nx"
        for _ in range(60):
            stack.enter_context(serving.connect(begun))
        assert serving.says_hello()


def test_a_body_that_does_not_come_is_not_waited_for(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "_SECONDS_TO_BRING", 0.3)
    with serving.connect(b"POST /count HTTP/1.1\r\nhost: here\r\ncontent-length: 9\r\n\r\nx") as connection:
        assert heard(connection, b"The body took too long to come in.").startswith(b"HTTP/1.1 408 ")
        wait_until_closed(connection)
    with serving.connect(b"POST /count HTTP/1.1\r\nhost: here\r\ncontent-length: 9\r\n\r\nx") as connection:
        connection.sendall(b"12345678")
        heard(connection, b"\r\n\r\n9")


def test_a_server_answers_while_hundreds_hold_connections_and_say_nothing(tmp_path: Path) -> None:
    with Platform(tmp_path / "data") as platform, ExitStack() as stack:
        url = httpx.URL(platform.address)
        silent: list[Any] = [
            stack.enter_context(socket.create_connection((url.host, url.port))) for _ in range(600)
        ]
        for connection in silent[:100]:
            connection.sendall(b"POST /sign-in HTTP/1.1\r\nhost: here\r\n")
        for path in ("/api/health", "/sign-in"):
            assert httpx.get(platform.address + path, timeout=10).status_code == 200
