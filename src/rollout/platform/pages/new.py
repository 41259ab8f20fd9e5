"""The page that makes an environment: a form with a template's working defaults, checked as `rollout validate` does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.analysis.report.texts import Texts
from rollout.diagnostics import Diagnostic
from rollout.platform.pages.drafts import Draft, Looked, draft_in, file_of, first_draft, look
from rollout.platform.pages.showing import link, show, texts_of
from rollout.platform.pages.visiting import page, to
from rollout.platform.server.environments import compiled_of
from rollout.platform.server.http import ApiError, Json
from rollout.platform.store import environments
from rollout.platform.store.environments import HeldError
from rollout.platform.store.keys import Scope
from rollout.source.contract import templates

_FIRST = "workflow"
_MOST_SHOWN = 100
_LARGEST = 4 * 1024 * 1024

# A check may take a second of a processor; those of all who write at once leave the server room for others.
_LOOKING = asyncio.Semaphore(2)


@page(Scope.WRITE)
async def show_form(request: Request) -> Response:
    """The form, with the defaults of a template."""
    draft = first_draft(request.query_params.get("template", _FIRST))
    return _form(request, draft, await _look(draft))


@page(Scope.WRITE, largest=_LARGEST)
async def create(request: Request) -> Response:
    """Makes the environment, or shows the form again with what is wrong."""
    try:
        draft = draft_in(request.state.form)
    except ApiError as error:
        if error.status == 404:
            raise
        draft = first_draft(request.state.form.get("template"))
        return _form(request, draft, await _look(draft), error)
    looked = await _look(draft)
    if looked.compiled is None or request.state.form.get("do") == "check":
        return _form(request, draft, looked, status=422 if looked.compiled is None else 200)
    try:
        compiled = compiled_of(looked.compiled.environment, looked.compiled.verifier)
        pushed = await request.app.state.store.awrite(
            environments.push, compiled, key_id=request.state.key.id or None, instead_of=None, checked=True
        )
    except HeldError:
        taken = ApiError(
            409,
            f"There is an environment “{draft.slug}” already.",
            "Choose another slug. A new version of it is made by rollout push.",
        )
        return _form(request, draft, looked, taken)
    except ApiError as error:
        return _form(request, draft, looked, error)
    return to(link("/environments", pushed.entry.slug))


@page(Scope.WRITE, largest=_LARGEST)
async def check(request: Request) -> Response:
    """What the checker finds of the form as it stands, for the script that asks while somebody writes."""
    looked = await _look(draft_in(request.state.form))
    told = _diagnostics(looked.diagnostics, texts_of(request))
    return Json({"diagnostics": told, "words": _words(looked)}, headers={"cache-control": "no-store"})


async def _look(draft: Draft) -> Looked:
    async with _LOOKING:
        return await asyncio.to_thread(look, draft)


def _form(
    request: Request, draft: Draft, looked: Looked, error: ApiError | None = None, *, status: int = 200
) -> Response:
    return show(
        request,
        "new.html.jinja",
        {
            "draft": draft,
            "templates": templates(),
            "diagnostics": _diagnostics(looked.diagnostics, texts_of(request)),
            "words": _words(looked),
            "error": None if error is None else error.body,
        },
        status=status if error is None else error.status,
    )


def _diagnostics(found: Sequence[Diagnostic], texts: Texts) -> list[dict[str, Any]]:
    return [
        {
            "severity": str(each.severity),
            "code": each.code,
            "file": texts.line(file_of(each)),
            "place": f"{each.span.line}:{each.span.column}",
            "message": texts.line(each.message, 1_000),
            "hint": texts.line(each.hint, 1_000) if each.hint else "",
        }
        for each in found[:_MOST_SHOWN]
    ]


def _words(looked: Looked) -> str:
    errors = sum(each.severity == "error" for each in looked.diagnostics)
    warnings = len(looked.diagnostics) - errors
    if not looked.diagnostics:
        return "Nothing is wrong with it."
    parts = [
        f"{amount:,} {noun}{'s' * (amount != 1)}"
        for amount, noun in ((errors, "error"), (warnings, "warning"))
        if amount
    ]
    return f"{' and '.join(parts)}."


routes = [
    Route("/environments/new", show_form, methods=["GET"]),
    Route("/environments/new", create, methods=["POST"]),
    Route("/environments/new/check", check, methods=["POST"]),
]

__all__ = ["routes"]
