"""A platform that answers what is published and no more, as others than ``rollout serve`` may: in memory, over HTTP.

It says what it holds in words of its own: without what says nothing, and with keys that only it has.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

KEY = "rk_of_the_published_one"


class Published:
    """``environments`` is what it holds by slug, ``asked`` what it was asked, as ``POST /api/runs``. ``refuses`` has
    what it answers with a status of 500, ``drafts`` the environments that it writes when it is asked to, and ``wishes``
    what it was told of them. ``rollouts`` are those of a run by its id, ``entries`` what it says otherwise of an
    environment by its slug."""

    def __init__(self) -> None:
        self.environments: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, dict[str, Any]] = {}
        self.rollouts: dict[str, list[dict[str, Any]]] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.asked: list[str] = []
        self.refuses: set[str] = set()
        self.drafts: list[dict[str, Any]] = []
        self.wishes: list[Any] = []

    def __enter__(self) -> Published:
        platform = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def _do(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(size)) if size else None
                path = urlsplit(self.path).path
                if self.headers.get("authorization") != f"Bearer {KEY}":
                    self.send_response(307)
                    self.send_header("location", "/sign-in")
                    self.send_header("content-length", "0")
                    self.end_headers()
                    return
                status, answer = platform.answer(self.command, path, body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = _do

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """What is answered to a request with the right key."""
        self.asked.append(f"{method} {path}")
        if f"{method} {path}" in self.refuses:
            return 500, {"error": "Something went wrong."}
        match method, path.removeprefix("/api/").split("/"):
            case "GET", ["environments"]:
                return 200, {"environments": [self._entry(slug) for slug in self.environments]}
            case "POST", ["environments"]:
                before = self.environments.get(body["slug"], {})
                self.environments[body["slug"]] = {**_plain(body), "verifier": before.get("verifier")}
                return 200, {"slug": body["slug"], "tasksAdded": len(body["tasks"])}
            case "GET", ["environments", slug] if slug in self.environments:
                held = {**self._entry(slug), **self.environments[slug], "ownerId": "u1"}
                return 200, {**held, **self.entries.get(slug, {})}
            case "PUT", ["environments", slug, "verifier"] if slug in self.environments:
                self.environments[slug]["verifier"] = _plain(body)
                return 200, body
            case "POST", ["environments", "generate", *_] if self.drafts:
                self.wishes.append(body)
                return 200, self.drafts.pop(0)
            case "GET", ["runs"]:
                return 200, {"runs": list(reversed(self.runs.values()))}
            case "POST", ["runs"]:
                slug = body["environmentSlug"]
                total = body["n"] * len(self.environments[slug]["tasks"])
                run_id = f"c0ffee{len(self.runs)}0-run"
                self.runs[run_id] = {
                    "id": run_id,
                    "status": "completed",
                    "successRate": 1.0,
                    "progress": total,
                    "n": total,
                    "model": body["model"],
                    "environmentName": self.environments[slug]["name"],
                    "environmentId": f"e-{slug}",
                }
                return 200, {"runId": run_id, "total": total}
            case "GET", ["runs", run_id] if run_id in self.runs:
                one = {"id": "r1", "taskId": "t1", "instruction": "Do.", "passed": True, "score": 1}
                return 200, {"run": self.runs[run_id], "rollouts": self.rollouts.get(run_id, [one])}
        return 404, {"error": "Not found"}

    def _entry(self, slug: str) -> dict[str, Any]:
        held = self.environments[slug]
        return {**{key: held[key] for key in ("slug", "name", "template")}, "taskCount": len(held["tasks"])}


def _plain(value: Any) -> Any:
    """As it is kept there: empty texts and objects are not."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items() if each not in ("", {})}
    return [_plain(each) for each in value] if isinstance(value, list) else value


__all__ = ["KEY", "Published"]
