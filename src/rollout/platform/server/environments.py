"""Environments: push, list, get, and their versions."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.compile import Compiled, compile_environment
from rollout.compile.payload import environment_of
from rollout.platform.server.access import needs
from rollout.platform.server.asking import refused_judges
from rollout.platform.server.http import ApiError, Json, check_shape, limit_of, object_of
from rollout.platform.server.repeating import repeated
from rollout.platform.store import Store, environments
from rollout.platform.store.environments import Entry, HeldError, Pushed
from rollout.platform.store.ids import iso
from rollout.platform.store.keys import Scope

_LARGEST = 64 * 1024 * 1024
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
    check_shape("payload", {"environment": said, "verifier": None}, beneath=["environment"])
    if "verifier" in body and body["verifier"] is not None:
        check_shape("verifier", body["verifier"], at="/verifier")
    store = _store(request)
    wanted, checked = _if_match(request)

    def work(connection: Any) -> tuple[Pushed, int]:
        held = environments.find(connection, said["slug"])
        before = None if held is None else _held(connection, held)
        verifier = body["verifier"] if "verifier" in body else (before or {}).get("verifier")
        compiled = compiled_of(said, verifier)
        pushed = environments.push(
            connection,
            compiled,
            key_id=request.state.key.id or None,
            instead_of=wanted,
            checked=checked,
        )
        return pushed, _added(compiled, before)

    try:
        pushed, added = await store.awrite(work)
    except HeldError as error:
        raise _other_version(said["slug"], error) from None
    entry = pushed.entry
    return Json(
        {
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
        },
        status_code=201 if pushed.before is None else 200,
    )


@needs(Scope.WRITE)
@repeated
async def put_verifier(request: Request) -> Response:
    """Sets how an environment is judged; the answer is the verifier."""
    verifier = await object_of(request)
    check_shape("verifier", verifier)
    store, entry = _store(request), await entry_of(request)
    wanted, checked = _if_match(request)

    def work(connection: Any) -> Pushed:
        held = environments.find(connection, entry.slug)
        assert held is not None
        compiled = compiled_of(_held(connection, held)["environment"], verifier, at="")
        return environments.push(
            connection, compiled, key_id=request.state.key.id or None, instead_of=wanted, checked=checked
        )

    try:
        pushed = await store.awrite(work)
    except HeldError as error:
        raise _other_version(entry.slug, error) from None
    return Json(verifier, headers={"etag": f'"{pushed.entry.digest}"'})


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


def _held(connection: Any, entry: Entry) -> dict[str, Any]:
    data = environments.data(connection, entry.id, entry.digest)
    assert data is not None
    value: dict[str, Any] = orjson.loads(data)
    return value


def compiled_of(said: Any, verifier: Any, *, at: str = "/verifier") -> Compiled:
    """What is held of an environment and its verifier, which is found at the pointer ``at``.

    Raises ApiError for what cannot be run here.
    """
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
