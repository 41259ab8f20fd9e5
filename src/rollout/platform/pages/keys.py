"""The page of the server's keys: which there are, a new one, and taking one back."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.platform.pages.showing import show
from rollout.platform.pages.visiting import page, to
from rollout.platform.server.http import ApiError
from rollout.platform.server.keys import LONGEST_NAME
from rollout.platform.store import keys
from rollout.platform.store.keys import Scope

_HERE = "/settings/api-keys"


@page(Scope.ADMIN)
async def list_keys(request: Request) -> Response:
    """All keys, those that were taken back too."""
    return await _keys(request)


@page(Scope.ADMIN)
async def create_key(request: Request) -> Response:
    """Makes a key and shows it, this once."""
    form = request.state.form
    name, scope = form.get("name").strip(), form.get("scope")
    if not 0 < len(name) <= LONGEST_NAME or scope not in list(Scope):
        error = ApiError(400, f"A key has a name of 1 to {LONGEST_NAME} characters, and a scope.")
        return await _keys(request, error=error)
    key, whole = await request.app.state.store.awrite(keys.create, name, Scope(scope))
    return await _keys(request, made=(key.name, whole))


@page(Scope.ADMIN)
async def revoke_key(request: Request) -> Response:
    """Takes a key back, and ends the sessions that were begun with it."""
    if await request.app.state.store.awrite(keys.revoke, request.path_params["key"]) is None:
        raise ApiError(404, "There is no such key.")
    request.app.state.access.forget()
    return to(_HERE)


async def _keys(request: Request, *, made: Any = None, error: ApiError | None = None) -> Response:
    told = {
        "keys": await request.app.state.store.aread(keys.list_all),
        "made": made,
        "scopes": list(Scope),
        "own": request.state.key.id,
        "longest": LONGEST_NAME,
        "error": None if error is None else error.body,
    }
    return show(request, "keys.html.jinja", told, status=200 if error is None else error.status)


routes = [
    Route(_HERE, list_keys, methods=["GET"]),
    Route(_HERE, create_key, methods=["POST"]),
    Route(f"{_HERE}/{{key}}/revoke", revoke_key, methods=["POST"]),
]

__all__ = ["routes"]
