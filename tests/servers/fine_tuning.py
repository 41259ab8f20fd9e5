"""OpenAI's files and fine-tuning jobs, as far as a provider of training uses them, over HTTP on 127.0.0.1."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class FineTuning:
    """Takes files and jobs. ``files`` are the rows of each file; ``status`` is what every job is at when asked.

    With ``refuses``, a job is refused with that message. With ``instead``, a job that is taken is answered by what that
    gives, a status and JSON; where the status is 0, the connection ends without an answer.
    """

    def __init__(self, *, key: str, refuses: str | None = None) -> None:
        self.key = key
        self.refuses = refuses
        self.instead: Callable[[], tuple[int, Any]] | None = None
        self.status = "running"
        self.files: list[list[dict[str, Any]]] = []
        self.jobs: list[dict[str, Any]] = []

    def __enter__(self) -> FineTuning:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._answer(None)

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["content-length"])))

            def _answer(self, body: bytes | None) -> None:
                status, value = service.answer(self.path, self.headers, body)
                if not status:
                    self.close_connection = True
                    return
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, headers: Message, body: bytes | None) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        if headers["authorization"] != f"Bearer {self.key}":
            return 401, {"error": {"message": "Wrong key.", "type": "invalid_request_error", "code": None}}
        if path == "/v1/files":
            assert body is not None
            assert b"fine-tune" in body
            content = re.split(
                rb"\r\n--", body.split(b"rollouts.jsonl", 1)[1].split(b"\r\n\r\n", 1)[1], maxsplit=1
            )[0]
            self.files.append([json.loads(line) for line in content.splitlines()])
            return 200, {"id": f"file-{len(self.files)}", "object": "file", "bytes": len(content)}
        if path == "/v1/fine_tuning/jobs":
            assert body is not None
            if self.refuses is not None:
                return 400, {
                    "error": {"message": self.refuses, "type": "invalid_request_error", "code": None}
                }
            self.jobs.append(json.loads(body))
            return (200, self._job(len(self.jobs))) if self.instead is None else self.instead()
        return 200, self._job(int(path.rsplit("-", 1)[1]))

    def _job(self, number: int) -> dict[str, Any]:
        asked = self.jobs[number - 1]
        done = self.status == "succeeded"
        return {
            "id": f"ftjob-{number}",
            "object": "fine_tuning.job",
            "status": self.status,
            "model": asked["model"],
            "fine_tuned_model": f"ft:{asked['model']}:acme:{asked.get('suffix')}:1" if done else None,
            "error": {"code": "x", "message": "It did not learn.", "param": None}
            if self.status == "failed"
            else None,
        }
