"""Environments: push, list, get, and their versions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.compile import Compiled, compile_environment
from rollout.compile.payload import environment_of
from rollout.platform.server.access import needs
from rollout.platform.server.asking import refused_judges
from rollout.platform.server.bodies import LARGE, aside, check_shape, object_of
from rollout.platform.server.http import ApiError, Json, limit_of
from rollout.platform.server.repeating import keep_answer, repeated
from rollout.platform.store import Store, environments
from rollout.platform.store.environments import Entry, HeldError, Pushed
from rollout.platform.store.ids import iso
from rollout.platform.store.keys import Scope

_LARGEST = 64 * 1024 * 1024
_RESERVED = ("new",)
_NOT_THERE = "none"
"""What ``If-Match`` says of an environment that is not to be there yet."""


@needs(Scope.READ)
async def list_environments(request: Request) -> Response:
    """``{environments: […], nextCursor}``; all of them, unless ``limit`` says how many."""
    limit = limit_of(request)
    after = request.query_params.get("cursor", "")
    found = await _store(request).aread(
        environments.list_all, after=after, limit=None if limit is None else limit + 1
    )
    more = limit is not None and len(found) > limit
    page = found[:limit]
    return Json(
        {"environments": [shown(entry) for entry in page], "nextCursor": page[-1].slug if more else None}
    )


@needs(Scope.READ)
async def get_environment(request: Request) -> Response:
    """The environment, as it is now or as the version whose digest begins with ``digest``."""
    store, entry = _store(request), await entry_of(request)
    digest = await digest_of(store, entry, request.query_params.get("digest"))
    data = await store.aglance(environments.data, entry.id, digest)
    assert data is not None
    return Json(in_full(entry, digest, data), headers={"etag": f'"{digest}"'})


@needs(Scope.READ)
async def list_versions(request: Request) -> Response:
    """``{versions: […]}``, the newest first."""
    entry = await entry_of(request)
    found = await _store(request).aglance(environments.versions, entry.id)
    return Json(
        {
            "versions": [
                {
                    "number": each.number,
                    "digest": each.digest,
                    "taskCount": each.task_count,
                    "pushedAt": iso(each.pushed_at),
                    "current": each.digest == entry.digest,
                }
                for each in found
            ]
        }
    )


@needs(Scope.WRITE)
@repeated
async def push_environment(request: Request) -> Response:
    """Creates or updates an environment. What is said of the verifier is taken over; where nothing is, it stays."""
    body = await object_of(request, limit=_LARGEST)
    said = {key: value for key, value in body.items() if key != "verifier"}
    await check_shape(request, "payload", {"environment": said, "verifier": None}, beneath=["environment"])
    if "verifier" in body and body["verifier"] is not None:
        await check_shape(request, "verifier", body["verifier"], at="/verifier")

    def make(before: Any) -> Compiled:
        return compiled_of(said, body["verifier"] if "verifier" in body else (before or {}).get("verifier"))

    def answer(pushed: Pushed, added: int) -> tuple[int, Any]:
        entry = pushed.entry
        return 201 if pushed.before is None else 200, {
            "slug": entry.slug,
            "id": entry.id,
            "name": entry.name,
            "template": entry.template,
            "taskCount": entry.task_count,
            "digest": entry.digest,
            "version": entry.version,
            "tasksAdded": added,
            "created": pushed.before is None,
            "unchanged": not pushed.changed,
        }

    return await _push(request, said["slug"], make, answer)


@needs(Scope.WRITE)
@repeated
async def put_verifier(request: Request) -> Response:
    """Sets how an environment is judged; the answer is the verifier."""
    verifier = await object_of(request)
    await check_shape(request, "verifier", verifier)
    entry = await entry_of(request)

    def make(before: Any) -> Compiled:
        return compiled_of(before["environment"], verifier, at="")

    return await _push(request, entry.slug, make, lambda pushed, added: (200, verifier))


@dataclass(frozen=True, slots=True)
class _Made:
    """A version that is to be held. It was made of the one whose digest is ``of``; None where there was none."""

    of: str | None
    compiled: Compiled
    added: int


async def _push(
    request: Request,
    slug: str,
    make: Callable[[Any], Compiled],
    answer: Callable[[Pushed, int], tuple[int, Any]],
) -> Response:
    """Holds the version that ``make`` makes of what is held. Raises ApiError.

    It is made before anything is locked, and again only where somebody else's push came in between.
    """
    store = _store(request)
    wanted, checked = _if_match(request)

    def look(connection: Connection) -> tuple[str | None, bytes | None]:
        held = environments.find(connection, slug)
        if held is None:
            return None, None
        return held.digest, environments.data(connection, held.id, held.digest)

    def made_of(digest: str | None, data: bytes | None) -> _Made:
        before = None if data is None else orjson.loads(data)
        compiled = make(before)
        return _Made(digest, compiled, _added(compiled, before))

    digest, data = await store.aread(look)
    is_large = request.state.is_large or len(data or b"") > LARGE
    first = await (aside if is_large else asyncio.to_thread)(made_of, digest, data)

    def work(connection: Connection) -> tuple[int, Any, str]:
        environments.lock(connection, slug)
        digest, data = look(connection)
        made = first if digest == first.of else made_of(digest, data)
        pushed = environments.push(
            connection,
            made.compiled,
            key_id=request.state.key.id or None,
            instead_of=wanted,
            checked=checked,
        )
        status, told = answer(pushed, made.added)
        keep_answer(request, connection, status, told)
        return status, told, pushed.entry.digest

    try:
        status, told, now = await store.awrite(work)
    except HeldError as error:
        raise _other_version(slug, error) from None
    return Json(told, status_code=status, headers={"etag": f'"{now}"'})


def shown(entry: Entry) -> dict[str, Any]:
    """An environment in a list, as :class:`rollout.platform.results.EnvironmentEntry`."""
    return {
        "id": entry.id,
        "slug": entry.slug,
        "name": entry.name,
        "template": entry.template,
        "description": entry.description,
        "taskCount": entry.task_count,
        "digest": entry.digest,
        "version": entry.version,
        "createdAt": iso(entry.created_at),
        "updatedAt": iso(entry.updated_at),
    }


def in_full(entry: Entry, digest: str, data: bytes) -> dict[str, Any]:
    """A version of an environment, as :class:`rollout.platform.results.Environment`."""
    held = orjson.loads(data)
    said = held["environment"]
    more = {} if digest == entry.digest else {"version": None}
    return {
        **shown(entry),
        **more,
        **said,
        "verifier": held["verifier"],
        "taskCount": len(said["tasks"]),
        "digest": digest,
    }


async def entry_of(request: Request) -> Entry:
    """The environment that the path names. Raises ApiError."""
    slug = request.path_params["slug"]
    found = await _store(request).aglance(environments.find, slug)
    if found is None:
        raise ApiError(
            404, f"There is no environment “{slug}”.", "Push it, or look at what there is: rollout envs"
        )
    return found


async def digest_of(store: Store, entry: Entry, start: str | None) -> str:
    """The digest that ``start`` is the beginning of, or that of the newest version. Raises ApiError."""
    if not start:
        return entry.digest
    found = await store.aread(environments.matching, entry.id, start)
    if len(found) != 1:
        how = "no version" if not found else "more than one version"
        raise ApiError(404, f"“{entry.slug}” has {how} whose digest begins with “{start[:80]}”.")
    return found[0]


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


def _if_match(request: Request) -> tuple[str | None, bool]:
    header = request.headers.get("if-match", "").strip().strip('"')
    return (None, True) if header == _NOT_THERE else (header or None, bool(header))


def compiled_of(said: Any, verifier: Any, *, at: str = "/verifier") -> Compiled:
    """What is held of an environment and its verifier, which is found at the pointer ``at``.

    Raises ApiError for what cannot be run here.
    """
    if said["slug"] in _RESERVED:
        raise ApiError(
            422, f"“{said['slug']}” is the name of a page here.", "Choose another slug.", pointer="/slug"
        )
    for index, primitive in enumerate((verifier or {}).get("primitives", ())):
        if primitive["type"] == "python":
            raise ApiError(
                422,
                f"“{primitive['name']}” is judged by a function in a file, which cannot be run here.",
                "Judge by other primitives, or run it on your own machine: rollout test",
                pointer=f"{at}/primitives/{index}",
            )
    for index, refused in refused_judges(verifier):
        raise ApiError(422, str(refused), refused.hint, pointer=f"{at}/primitives/{index}/model")
    try:
        return compile_environment(environment_of({"environment": said, "verifier": verifier}))
    except ValueError as error:
        raise ApiError(422, str(error)) from None


def _added(compiled: Compiled, before: Any) -> int:
    held = {orjson.dumps(task) for task in before["environment"]["tasks"]} if before else set()
    return sum(orjson.dumps(task) not in held for task in compiled.environment["tasks"])


def _other_version(slug: str, error: HeldError) -> ApiError:
    what = (
        f"“{slug}” has changed here since"
        if error.held
        else f"There is no environment “{slug}” here any more"
    )
    return ApiError(412, f"{what}.", "Pull it, or push it with --force.", held=error.held)


routes = [
    Route("/api/environments", list_environments, methods=["GET"]),
    Route("/api/environments", push_environment, methods=["POST"]),
    Route("/api/environments/{slug}", get_environment, methods=["GET"]),
    Route("/api/environments/{slug}/versions", list_versions, methods=["GET"]),
    Route("/api/environments/{slug}/verifier", put_verifier, methods=["PUT"]),
]

__all__ = ["compiled_of", "digest_of", "entry_of", "in_full", "routes", "shown"]
