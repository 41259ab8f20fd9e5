"""Runs and their rollouts: begin, list, get, cancel, go on."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from sqlalchemy import Connection
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.compile.payload import environment_of
from rollout.environment import Environment
from rollout.models import ConnectError
from rollout.platform.server.access import needs
from rollout.platform.server.asking import check_actor, check_judges
from rollout.platform.server.bodies import LARGE, aside, check_shape, object_of
from rollout.platform.server.environments import digest_of
from rollout.platform.server.http import ApiError, Json, limit_of
from rollout.platform.server.plan import chosen_tasks, with_own_keys
from rollout.platform.server.repeating import keep_answer, repeated
from rollout.platform.store import Store, environments, rollouts, runs
from rollout.platform.store.environments import Entry
from rollout.platform.store.ids import iso
from rollout.platform.store.keys import Scope
from rollout.platform.store.runs import NotOneError, Run, Status

_SHORT = 1000
_MOST_ROLLOUTS = 1_000_000
_OUTCOMES = ("passed", "failed", "error", "unscored")
_DEFAULTS = {"temperature": 0.7, "maxToolCalls": 20}


@needs(Scope.WRITE)
@repeated
async def create_run(request: Request) -> Response:
    """Begins a run; ``{runId, total}``."""
    body = {**_DEFAULTS, **await object_of(request)}
    await check_shape(request, "run", body)
    store = _store(request)
    entry = await store.aglance(environments.find, body["environmentSlug"])
    if entry is None:
        raise ApiError(
            404,
            f"There is no environment “{body['environmentSlug']}”.",
            "Push it first: rollout push PATH",
            pointer="/environmentSlug",
        )
    await _check_model(request, body["model"])
    digest = await digest_of(store, entry, body.get("digest"))
    parent = await find_run(store, body["parentRunId"]) if body.get("parentRunId") else None
    data = await store.aglance(environments.data, entry.id, digest)
    assert data is not None
    count = aside if request.state.is_large or len(data) > LARGE else asyncio.to_thread
    total = await count(_total, data, body)
    if total > _MOST_ROLLOUTS:
        raise ApiError(
            400, f"That makes {total} rollouts, and {_MOST_ROLLOUTS} is the most of a run.", pointer="/n"
        )
    apart = ("environmentSlug", "model", "name", "parentRunId", "digest")
    options = {key: value for key, value in body.items() if key not in apart and value is not None}

    def work(connection: Connection) -> dict[str, Any]:
        run = runs.create(
            connection,
            environment_id=entry.id,
            digest=digest,
            model=body["model"],
            options=options,
            total=total,
            name=body.get("name"),
            parent_id=parent.id if parent else None,
            key_id=request.state.key.id or None,
            owner=request.app.state.runner.reserves_for,
        )
        answer = {"runId": run.id, "total": total}
        keep_answer(request, connection, 201, answer)
        return answer

    answer = await store.awrite(work)
    request.app.state.runner.wake(answer["runId"])
    return Json(answer, status_code=201)


@needs(Scope.READ)
async def list_runs(request: Request) -> Response:
    """``{runs: […], nextCursor}``, the newest first; all of them, unless ``limit`` says how many."""
    store, query = _store(request), request.query_params
    limit = limit_of(request)
    environment_id, status = None, None
    if slug := query.get("environment"):
        entry = await store.aglance(environments.find, slug)
        if entry is None:
            return Json({"runs": [], "nextCursor": None})
        environment_id = entry.id
    if wanted := query.get("status"):
        if wanted not in list(Status):
            raise ApiError(400, f"“status” is to be one of {', '.join(Status)}.", pointer="?status")
        status = Status(wanted)
    look = _look(store, limit)
    found = await look(
        runs.newest,
        limit=None if limit is None else limit + 1,
        before=_run_cursor(query.get("cursor")),
        environment_id=environment_id,
        status=status,
    )
    more = limit is not None and len(found) > limit
    page = found[:limit]
    entries = await store.aglance(environments.by_id, {run.environment_id for run in page})
    last = f"{page[-1].created_at}.{page[-1].id}" if more else None
    told = [_as_it_is(store, run, shown(run, entries[run.environment_id])) for run in page]
    return Json({"runs": told, "nextCursor": last})


@needs(Scope.READ)
async def get_run(request: Request) -> Response:
    """``{run}``, and with ``include=rollouts`` its rollouts; all of them, unless ``limit`` says how many."""
    store, query = _store(request), request.query_params
    run = await find_run(store, request.path_params["run"])
    answer: dict[str, Any] = {"run": await in_words(store, run)}
    if "rollouts" in query.get("include", "").split(","):
        limit = limit_of(request)
        outcome = query.get("outcome")
        if outcome is not None and outcome not in _OUTCOMES:
            raise ApiError(400, f"“outcome” is to be one of {', '.join(_OUTCOMES)}.", pointer="?outcome")
        look = _look(store, limit)
        found = await look(
            rollouts.page,
            run.id,
            limit=None if limit is None else limit + 1,
            after=_rollout_cursor(query.get("cursor")),
            outcome=outcome,
        )
        more = limit is not None and len(found) > limit
        page = found[:limit]
        answer["rollouts"] = [shown_rollout(each) for each in page]
        answer["nextCursor"] = f"{page[-1].task_index}.{page[-1].trial}" if more else None
    return Json(answer)


@needs(Scope.READ)
async def get_rollout(request: Request) -> Response:
    """``{rollout}``, with all that happened in it."""
    store = _store(request)
    run = await find_run(store, request.path_params["run"])
    start = request.path_params["rollout"]
    try:
        brief, line = await store.aglance(rollouts.find, start, run_id=run.id)
    except NotOneError as error:
        raise not_one("rollout", start, error) from None
    kept = orjson.loads(line)
    whole = {key: kept[key] for key in ("trace", "verdict", "earlier")}
    return Json({"rollout": {**shown_rollout(brief), **whole}})


@needs(Scope.WRITE)
async def cancel_run(request: Request) -> Response:
    """Ends a run; what is done is kept. One that is over stays as it is."""
    after = await cancel(request.app, request.path_params["run"])
    return Json({"run": await in_words(_store(request), after)})


@needs(Scope.WRITE)
async def resume_run(request: Request) -> Response:
    """Goes on with a run that ended before all was done. Refused for one of which nothing is left."""
    after = await go_on(request.app, request.path_params["run"])
    return Json({"run": await in_words(_store(request), after)})


async def cancel(app: Starlette, start: str) -> Run:
    """Ends the run whose id begins with ``start``. Raises ApiError."""
    store: Store = app.state.store
    run = await find_run(store, start)
    after = await store.awrite(runs.cancel, run.id)
    assert after is not None
    app.state.runner.nudge(run.id)
    app.state.runner.changed.tell(run.id)
    return after


async def go_on(app: Starlette, start: str) -> Run:
    """Goes on with the run whose id begins with ``start``. Raises ApiError."""
    store: Store = app.state.store
    run = await find_run(store, start)
    done = await store.aread(rollouts.places, run.id)
    if run.is_over and len(done) >= run.total:
        raise ApiError(409, "All rollouts of this run are done.", "Begin another: rollout run")
    after = await store.awrite(runs.resume, run.id, app.state.runner.reserves_for)
    assert after is not None
    app.state.runner.wake(run.id)
    return after


def shown(run: Run, entry: Entry) -> dict[str, Any]:
    """A run, as :class:`rollout.platform.results.Run`."""
    return {
        "id": run.id,
        "name": run.name,
        "status": run.status,
        "model": run.model,
        "n": run.total,
        "perTask": run.options["n"],
        "environmentId": entry.id,
        "environmentSlug": entry.slug,
        "environmentName": entry.name,
        "template": entry.template,
        "digest": run.digest,
        "parentRunId": run.parent_id,
        "options": run.options,
        "total": run.total,
        "done": run.done,
        "progress": run.done,
        "passed": run.passed,
        "failed": run.failed,
        "errors": run.errors,
        "unscored": run.unscored,
        "successRate": run.passed / run.graded if run.graded else None,
        "meanScore": run.score_sum / run.graded if run.graded else None,
        "usage": run.usage,
        "reason": run.reason,
        "createdAt": iso(run.created_at),
        "startedAt": iso(run.started_at),
        "endedAt": iso(run.ended_at),
    }


def shown_rollout(brief: rollouts.Brief) -> dict[str, Any]:
    """A rollout, as :class:`rollout.platform.results.Rollout`."""
    graded = brief.outcome in ("passed", "failed")
    return {
        "id": brief.id,
        "runId": brief.run_id,
        "taskId": brief.task,
        "taskIndex": brief.task_index,
        "trial": brief.trial,
        "instruction": brief.instruction,
        "split": brief.split,
        "outcome": brief.outcome,
        "passed": brief.outcome == "passed" if graded else None,
        "score": brief.score,
        "reason": brief.reason,
        "chargedTo": brief.charged_to,
        "calls": brief.calls,
        "seconds": brief.seconds,
        "finishedAt": iso(brief.finished_at),
    }


async def in_words(store: Store, run: Run) -> dict[str, Any]:
    """A run as it is shown, with the environment that it is of."""
    entries = await store.aglance(environments.by_id, {run.environment_id})
    return _as_it_is(store, run, shown(run, entries[run.environment_id]))


def _as_it_is(store: Store, run: Run, told: dict[str, Any]) -> dict[str, Any]:
    # Why a run stands still cannot be written into a database that is full.
    if store.is_full and not run.is_over:
        told["reason"] = "The disk that the database is on is full. It goes on when there is room."
    return told


async def find_run(store: Store, start: str) -> Run:
    """The run whose id begins with ``start``. Raises ApiError."""
    try:
        return await store.aglance(runs.find, start)
    except NotOneError as error:
        raise not_one("run", start, error) from None


def not_one(what: str, start: str, error: NotOneError) -> ApiError:
    """The refusal of an id that is none, or of several."""
    if error.matches:
        some = ", ".join(each[:12] for each in error.matches)
        return ApiError(404, f"Several ids of a {what} begin with “{start}”: {some} …", "Give more of it.")
    return ApiError(404, f"There is no {what} “{start[:80]}”.")


def _look(store: Store, limit: int | None) -> Any:
    # A page is short; all runs may be many.
    return store.aread if limit is None or limit > _SHORT else store.aglance


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


async def _check_model(request: Request, model: str) -> None:
    try:
        check_actor(model)
        await request.app.state.runner.check_model(model)
    except ConnectError as error:
        raise ApiError(400, str(error), error.hint, pointer="/model") from None


def _total(data: bytes, body: dict[str, Any]) -> int:
    """How many rollouts a run of a version has. Raises ApiError."""
    environment = environment_of(orjson.loads(data))
    try:
        check_judges(environment.verifier)
    except ConnectError as error:
        raise ApiError(422, str(error), error.hint, pointer="/environmentSlug") from None
    return int(body["n"]) * len(_chosen(with_own_keys(environment), body))


def _chosen(environment: Environment, body: dict[str, Any]) -> list[int]:
    found = chosen_tasks(environment, body)
    if not found:
        splits = ", ".join(sorted({task.split for task in environment.tasks}))
        raise ApiError(400, "No task is chosen by that.", f"The splits here are: {splits}.", pointer="/tasks")
    return found


def _run_cursor(text: str | None) -> tuple[int, str] | None:
    if not text:
        return None
    moment, _, run_id = text.partition(".")
    is_id = run_id.isascii() and run_id.isalnum()
    if not (is_id and moment.isascii() and moment.isdigit() and len(moment) < 16):
        raise ApiError(400, "That is no cursor.", pointer="?cursor")
    return int(moment), run_id


def _rollout_cursor(text: str | None) -> tuple[int, int] | None:
    if not text:
        return None
    index, _, trial = text.partition(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in (index, trial)):
        raise ApiError(400, "That is no cursor.", pointer="?cursor")
    return int(index), int(trial)


routes = [
    Route("/api/runs", list_runs, methods=["GET"]),
    Route("/api/runs", create_run, methods=["POST"]),
    Route("/api/runs/{run}", get_run, methods=["GET"]),
    Route("/api/runs/{run}/rollouts/{rollout}", get_rollout, methods=["GET"]),
    Route("/api/runs/{run}/cancel", cancel_run, methods=["POST"]),
    Route("/api/runs/{run}/resume", resume_run, methods=["POST"]),
]

__all__ = ["cancel", "find_run", "go_on", "in_words", "not_one", "routes", "shown", "shown_rollout"]
