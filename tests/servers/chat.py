"""A chat-completions server over a real socket. Each request is answered by the next of the answers it was given.

An answer is what to do with a connection, so that a server can also break off, hang, or speak no HTTP at all.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CERTIFICATE = Path(__file__).with_name("self_signed.pem")
"""A certificate for 127.0.0.1 that nobody trusts unless told to, with its key."""

Act = Callable[["Connection"], None]


@dataclass(frozen=True)
class Asked:
    """A request as it came: its path, its headers in small letters, its body as JSON, and the connection's number."""

    path: str
    headers: Mapping[str, str]
    body: Any
    connection: int
    method: str = "POST"


@dataclass
class Connection:
    """One connection, while it is answered."""

    server: ChatServer
    number: int
    socket: socket.socket
    over: bool = False

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)


@dataclass
class ChatServer:
    """Give it the answers in order; the last one is repeated. ``asked`` is what it was asked."""

    answers: list[Act] = field(default_factory=list)
    tls: bool = False
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0

    def __enter__(self) -> ChatServer:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.listening.getsockname()[1]}/v1"
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.open: list[socket.socket] = []
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        with suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()
        for each in self.open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(10)

    def play(self, *answers: Act) -> None:
        """From now on, answer so."""
        self.answers, self.asked = list(answers), []

    def _accept(self) -> None:
        while not self.closing.is_set():
            try:
                accepted, _ = self.listening.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                self.open.append(accepted)
            connection = Connection(self, self.connections, accepted)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def _serve(self, connection: Connection) -> None:
        with connection.socket, suppress(OSError):
            if self.tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(CERTIFICATE)
                connection.socket = context.wrap_socket(connection.socket, server_side=True)
            with connection.socket:
                self._converse(connection)

    def _converse(self, connection: Connection) -> None:
        with connection.socket.makefile("rb") as reader:
            if reader.peek(1)[:1] == b"\x16":
                # The beginning of TLS, which is not spoken here.
                babbles(connection)
                return
            while not connection.over and (line := reader.readline()):
                headers = {}
                while (header := reader.readline().strip()) != b"":
                    name, _, value = header.decode("latin-1").partition(":")
                    headers[name.lower()] = value.strip()
                body = reader.read(int(headers.get("content-length", "0")))
                with self.lock:
                    number = len(self.asked)
                    method, path, *_ = line.decode("latin-1").split()
                    said = json.loads(body) if body else None
                    self.asked.append(Asked(path, headers, said, connection.number, method))
                    answer = self.answers[min(number, len(self.answers) - 1)]
                answer(connection)


def http(status: int, body: bytes | str | Any, **headers: str) -> Act:
    """An answer of HTTP; ``body`` that is no text is sent as JSON, ``retry_after`` as ``retry-after``.

    ``content_type`` stands in for that of JSON.
    """
    data = (
        body
        if isinstance(body, bytes)
        else body.encode()
        if isinstance(body, str)
        else json.dumps(body).encode()
    )
    headers.setdefault("content_type", "application/json")
    lines = [f"HTTP/1.1 {status} Whatever"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    head = "\r\n".join([*lines, f"content-length: {len(data)}", "", ""]).encode()
    return lambda connection: connection.send(head + data)


def completion(
    content: Any = None, *, calls: Any = None, finish: str | None = "stop", usage: Any = None, **more: Any
) -> dict[str, Any]:
    """A chat completion; ``more`` goes into the message."""
    message = {"role": "assistant", "content": content, **more}
    if calls is not None:
        message["tool_calls"] = calls
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "served-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        if usage is None
        else usage,
    }


def says(content: Any = "Done.", **more: Any) -> Act:
    """A chat completion, as in :func:`completion`."""
    return http(200, completion(content, **more))


def call(name: Any = "ping", arguments: Any = "{}", call_id: Any = "call_1", **more: Any) -> dict[str, Any]:
    """A tool call as it stands in a message."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def refuses(
    status: int, message: str, *, param: str | None = None, code: str | None = None, **headers: str
) -> Act:
    """An error in OpenAI's form."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return http(status, {"error": error}, **headers)


def hangs(connection: Connection) -> None:
    """Never answers."""
    connection.server.closing.wait()


def drops(connection: Connection) -> None:
    """Ends the connection without a word."""
    connection.over = True


def breaks_off(connection: Connection) -> None:
    """Ends the connection in the middle of an answer."""
    connection.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{")
    connection.over = True


def trickles(connection: Connection) -> None:
    """Begins an answer and does not go on."""
    connection.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{")
    connection.server.closing.wait()


def babbles(connection: Connection) -> None:
    """Answers in something that is not HTTP."""
    connection.send(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    connection.over = True


def in_chunks(body: Any) -> Act:
    """An answer of a length that is not told before."""
    data = json.dumps(body).encode()
    half = len(data) // 2
    parts = b"".join(
        f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in (data[:half], data[half:], b"")
    )
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    return lambda connection: connection.send(head + parts)


def without_end(connection: Connection) -> None:
    """An answer that goes on for as long as it is read."""
    connection.send(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    while not connection.server.closing.is_set():
        connection.send(piece)


__all__ = [
    "CERTIFICATE",
    "Asked",
    "ChatServer",
    "Connection",
    "babbles",
    "breaks_off",
    "call",
    "completion",
    "drops",
    "hangs",
    "http",
    "in_chunks",
    "refuses",
    "says",
    "trickles",
    "without_end",
]
