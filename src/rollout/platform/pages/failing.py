"""What is said in a page when something is refused, is not there, or broke."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from rollout.platform.pages.showing import show

_NOT_PAGES = ("/api/", "/static/")
_TITLES = {
    400: "That cannot be read",
    403: "That is not allowed",
    404: "There is nothing here",
    405: "That is not done here",
    413: "That is too large",
    429: "That was too often",
    500: "The server broke down",
    503: "The database does not answer",
}


def is_page(request: Request) -> bool:
    """Whether whoever asks is a browser that wants a page."""
    path = f"{request.url.path}/"
    return not path.startswith(_NOT_PAGES) and "text/html" in request.headers.get("accept", "")


def refusal(
    request: Request, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    """The page of what the API would answer with ``body``."""
    told = {"title": _TITLES.get(status, "That did not work"), "error": body, "status": status}
    return show(request, "refusal.html.jinja", told, status=status, headers=headers)


__all__ = ["is_page", "refusal"]
