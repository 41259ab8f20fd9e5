"""Environments that a model writes or changes, with the keys that the server has for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.models import ConnectError, Usage
from rollout.platform.author import PATIENCE, AuthorError, refuse_insiders, write
from rollout.platform.drafting import Draft, DraftError, Examined, read_draft
from rollout.platform.server.access import needs
from rollout.platform.server.bodies import check_shape, object_of
from rollout.platform.server.http import ApiError, Json
from rollout.platform.server.repeating import repeated
from rollout.platform.store.keys import Scope
from rollout.sandbox import chosen

_AT_ONCE = 4
"""How many environments are written at once; each is proved, which takes a processor for a while."""

_LARGEST = 4 * 1024 * 1024


@needs(Scope.WRITE)
@repeated
async def generate(request: Request) -> Response:
    """An environment as a description says: ``{config | schema + seed, tasks, verifier, _warnings, _usage}``."""
    body = await object_of(request)
    await check_shape(request, "generation", body)
    return await _answered(request, body, body["description"], "/description", None)


@needs(Scope.WRITE)
@repeated
async def refine(request: Request) -> Response:
    """An environment changed as an instruction says; the same shape."""
    body = await object_of(request, limit=_LARGEST)
    await check_shape(request, "refinement", body)
    try:
        current = read_draft(body["current"], body["template"])
    except DraftError as error:
        raise ApiError(400, str(error), pointer="/current") from None
    return await _answered(request, body, body["instruction"], "/instruction", current)


async def _answered(
    request: Request, body: Mapping[str, Any], wish: str, home: str, current: Draft | None
) -> Response:
    if not wish.strip():
        raise ApiError(400, "It says nothing of what is wanted.", pointer=home)
    state = request.app.state
    model = body.get("model") or state.runner.settings.author
    if not model:
        raise ApiError(
            400,
            "No model is named to write it.",
            "Name one: --model PROVIDER/MODEL, or [generate] model in the rollout.toml of the platform.",
            pointer="/model",
        )
    under_way = getattr(state, "writing", 0)
    if under_way >= _AT_ONCE:
        raise ApiError(
            429,
            f"{_AT_ONCE} environments are being written, which is the most at once.",
            "Try it again in a minute.",
            headers={"retry-after": "15"},
        )
    state.writing = under_way + 1
    try:
        refuse_insiders(model)
        with chosen(state.runner.sandbox):
            written = await write(
                model,
                body["template"],
                wish,
                replace(state.runner.setup, concurrency=1, patience=PATIENCE),
                current=None if current is None else current.said,
                max_cost=body.get("maxCost"),
            )
    except ConnectError as error:
        raise ApiError(400, str(error), error.hint, pointer="/model") from None
    except AuthorError as error:
        state.runner.figures.usage("writing", error.usage)
        raise _refused(error) from None
    finally:
        state.writing -= 1
    state.runner.figures.usage("writing", written.usage)
    return Json(
        {
            **written.examined.draft.said,
            "_warnings": _warnings(written.examined),
            "_usage": _used(written.usage, written.rounds),
        }
    )


def _refused(error: AuthorError) -> ApiError:
    more: dict[str, Any] = {"usage": _used(error.usage, error.rounds)}
    if error.why:
        more["why"] = error.why
    if error.examined is not None:
        more["rejected"] = {**error.examined.draft.said, "_warnings": _warnings(error.examined)}
    # Not a status at which it is asked again: that would be paid for again.
    return ApiError(422, str(error), error.hint, **more)


def _warnings(examined: Examined) -> list[dict[str, str]]:
    """What was found, as published: ``{severity, target, message}``; the target is a place in the files."""
    found = [
        {"severity": str(each.severity), "target": str(each.span), "message": each.message}
        for each in examined.diagnostics
    ]
    if examined.trouble is not None:
        found.append({"severity": "error", "target": "", "message": examined.trouble})
    return found


def _used(usage: Usage, rounds: int) -> dict[str, Any]:
    return {
        "rounds": rounds,
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cost": usage.cost,
    }


routes = [
    Route("/api/environments/generate", generate, methods=["POST"]),
    Route("/api/environments/generate/refine", refine, methods=["POST"]),
]

__all__ = ["routes"]
