"""The style, the script and the icon of the pages. An address has the digest of what is there, so it never changes."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.analysis.compare.page import HERE as COMPARISONS
from rollout.analysis.report.parts import HERE as REPORTS
from rollout.platform.server.http import ApiError

_OWN = Path(__file__).parent / "static"
# A run, a rollout and a comparison look as they do in the pages that are files.
_FILES = {
    "style.css": ("text/css", (REPORTS / "page.css", COMPARISONS / "page.css", _OWN / "style.css")),
    "script.js": ("text/javascript", (_OWN / "script.js",)),
    "icon.svg": ("image/svg+xml", (_OWN / "icon.svg",)),
}
_FOR_A_YEAR = "public, max-age=31536000, immutable"


class Asset(NamedTuple):
    """A file that pages need."""

    data: bytes
    kind: str
    digest: str


async def get_asset(request: Request) -> Response:
    """The file."""
    name = request.path_params["name"]
    if name not in _FILES:
        raise ApiError(404, "There is nothing at this address.")
    asset = _asset(name)
    is_named = request.query_params.get("v") == asset.digest
    headers = {
        "cache-control": _FOR_A_YEAR if is_named else "no-cache",
        "etag": f'"{asset.digest}"',
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    }
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(None, 304, headers)
    return Response(asset.data, 200, headers, f"{asset.kind}; charset=utf-8")


def address_of(name: str) -> str:
    """Where a file is had."""
    return f"/static/{name}?v={_asset(name).digest}"


@cache
def _asset(name: str) -> Asset:
    kind, paths = _FILES[name]
    data = b"\n".join(path.read_bytes() for path in paths)
    return Asset(data, kind, sha256(data).hexdigest()[:16])


routes = [Route("/static/{name}", get_asset, methods=["GET"])]

__all__ = ["address_of", "routes"]
