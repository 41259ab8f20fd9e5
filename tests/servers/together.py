"""Together's files and fine-tuning jobs, as far as a provider of training uses them, over HTTP on 127.0.0.1."""

from __future__ import annotations

import json
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class TogetherFineTuning:
    """Takes files and jobs. ``files`` are the rows of each file; ``status`` is what every job is at when asked.

    With ``answers``, that is what every request is answered: a status and a text; with ``instead``, so is a job that is
    taken, and where the status is 0, the connection ends without an answer.
    """

    def __init__(self, *, key: str) -> None:
        self.key = key
        self.answers: tuple[int, str] | None = None
        self.instead: tuple[int, str] | None = None
        self.status = "queued"
        self.files: list[list[dict[str, Any]]] = []
        self.jobs: list[dict[str, Any]] = []

    def __enter__(self) -> TogetherFineTuning:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["content-length"])))

            def _answer(self, body: bytes) -> None:
                kind = self.headers["content-type"] or ""
                key = self.headers["authorization"]
                status, text = service.answers or service.answer(self.path, key, kind, body)
                if not status:
                    self.close_connection = True
                    return
                data = text.encode()
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

    def answer(self, path: str, key: str, kind: str, body: bytes) -> tuple[int, str]:
        """Status and JSON of an answer."""
        if key != f"Bearer {self.key}":
            return 401, json.dumps({"error": {"message": "Invalid API key provided.", "type": "invalid"}})
        if path == "/v1/files/upload":
            form: Any = BytesParser().parsebytes(b"content-type: " + kind.encode() + b"\r\n\r\n" + body)
            parts = {
                part.get_param("name", header="content-disposition"): part for part in form.get_payload()
            }
            assert set(parts) == {"file", "purpose", "file_name", "file_type"}
            assert parts["purpose"].get_payload(decode=True).strip() == b"fine-tune"
            content = parts["file"].get_payload(decode=True)
            self.files.append([json.loads(line) for line in content.splitlines() if line])
            return 200, json.dumps({"id": f"file-{len(self.files)}", "object": "file"})
        if path == "/v1/fine-tunes":
            self.jobs.append(json.loads(body))
            return self.instead or (200, json.dumps({"id": f"ft-{len(self.jobs)}", "status": "pending"}))
        job = self.jobs[int(path.rpartition("-")[2]) - 1]
        return 200, json.dumps(
            {
                "id": path.rpartition("/")[2],
                "status": self.status,
                "output_name": f"acme/{job['model'].rpartition('/')[2]}-{job.get('suffix')}",
                "events": [{"message": "The loss is no number."}] if self.status == "error" else [],
            }
        )
