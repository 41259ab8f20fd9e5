"""Keys of the server, and whose key it is that asks."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.platform.server.access import needs
from rollout.platform.server.bodies import object_of
from rollout.platform.server.http import ApiError, Json
from rollout.platform.store import keys
from rollout.platform.store.ids import iso
from rollout.platform.store.keys import Key, Scope

LONGEST_NAME = 100


@needs(Scope.READ)
async def whoami(request: Request) -> Response:
    """``{name, prefix, scope}`` of the key that was sent."""
    key: Key = request.state.key
    return Json({"name": key.name, "prefix": key.prefix, "scope": key.scope})


@needs(Scope.ADMIN)
async def list_keys(request: Request) -> Response:
    """``{keys: […]}``, the newest first; revoked ones too."""
    return Json({"keys": [shown(key) for key in await request.app.state.store.aread(keys.list_all)]})


@needs(Scope.ADMIN)
async def create_key(request: Request) -> Response:
    """A new key, told whole this once."""
    body = await object_of(request)
    name, scope, rate = body.get("name"), body.get("scope", Scope.WRITE), body.get("rate")
    if not isinstance(name, str) or not 0 < len(name.strip()) <= LONGEST_NAME:
        raise ApiError(400, f"“name” is to be a text of 1 to {LONGEST_NAME} characters.", pointer="/name")
    if scope not in list(Scope):
        raise ApiError(400, f"“scope” is to be one of {', '.join(Scope)}.", pointer="/scope")
    if rate is not None and not (type(rate) is int and 1 <= rate <= 1_000_000):
        raise ApiError(400, "“rate” is to be a whole number of requests a minute.", pointer="/rate")
    key, whole = await request.app.state.store.awrite(keys.create, name.strip(), Scope(scope), rate=rate)
    return Json({**shown(key), "key": whole}, status_code=201, headers={"cache-control": "no-store"})


@needs(Scope.ADMIN)
async def revoke_key(request: Request) -> Response:
    """Makes a key useless."""
    key_id = request.path_params["key"]
    key = await request.app.state.store.awrite(keys.revoke, key_id)
    if key is None:
        raise ApiError(404, f"There is no key “{key_id}”.")
    request.app.state.access.forget()
    return Json(shown(key))


def shown(key: Key) -> dict[str, Any]:
    """A key, as :class:`rollout.platform.results.Key`."""
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "scope": key.scope,
        "rate": key.rate,
        "createdAt": iso(key.created_at),
        "usedAt": iso(key.used_at),
        "revokedAt": iso(key.revoked_at),
    }


routes = [
    Route("/api/whoami", whoami, methods=["GET"]),
    Route("/api/keys", list_keys, methods=["GET"]),
    Route("/api/keys", create_key, methods=["POST"]),
    Route("/api/keys/{key}", revoke_key, methods=["DELETE"]),
]

__all__ = ["LONGEST_NAME", "routes", "shown"]
