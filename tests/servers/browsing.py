"""What a browser does with pages, for tests that need none: it keeps cookies, and sends forms with their tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

import httpx

TOKEN = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass
class Browser:
    """``http`` has the cookies."""

    http: httpx.Client

    def get(self, path: str) -> httpx.Response:
        return self.http.get(path)

    def post(
        self, path: str, /, *, token: str | None = None, at: str = "/environments/new", **fields: str
    ) -> httpx.Response:
        """Sends a form; its token is that of the page ``at``, unless another is given."""
        sent = {"csrf": self.token(at) if token is None else token, **fields}
        return self.http.post(path, data=sent)

    def token(self, path: str) -> str:
        """The token in the first form of a page."""
        found = TOKEN.search(self.get(path).text)
        assert found is not None
        return unescape(found[1])

    def sign_in(self, key: str, **fields: str) -> httpx.Response:
        return self.post("/sign-in", at="/sign-in", key=key, **fields)
