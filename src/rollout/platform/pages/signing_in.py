"""Signing in with a key, and out."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.platform.pages.showing import show
from rollout.platform.pages.visiting import HOME, TOKEN, form_of, own_path, page, same, to
from rollout.platform.server.access import COOKIE
from rollout.platform.server.http import ApiError
from rollout.platform.store.keys import SECONDS_OF_SESSION

BEFORE = "rollout_form"
"""The cookie whose value a form sends along of whoever is not signed in yet."""


async def show_form(request: Request) -> Response:
    """The form that asks for a key."""
    if await request.app.state.access.session_of(request) is not None:
        return to(own_path(request.query_params.get("next", HOME)))
    return _form(request, request.query_params.get("next", ""))


async def sign_in(request: Request) -> Response:
    """Begins a session, whatever session there was before."""
    access, form = request.app.state.access, await form_of(request)
    wanted = form.get("next")
    if not same(form.get(TOKEN), request.cookies.get(BEFORE, "")):
        return _form(request, wanted, 403, ApiError(403, "The page was out of date.", "Try it once more."))
    try:
        _, token = await access.sign_in(request, form.get("key"))
    except ApiError as error:
        return _form(request, wanted, error.status, error)
    await access.sign_out(request)
    answer = to(own_path(wanted or HOME))
    _set(answer, request, COOKIE, token, max_age=SECONDS_OF_SESSION)
    answer.delete_cookie(BEFORE, path="/sign-in")
    return answer


@page()
async def sign_out(request: Request) -> Response:
    """Ends the session."""
    await request.app.state.access.sign_out(request)
    answer = to("/sign-in")
    answer.delete_cookie(COOKIE)
    return answer


def _form(request: Request, wanted: str, status: int = 200, error: ApiError | None = None) -> Response:
    token = request.cookies.get(BEFORE, "") or secrets.token_urlsafe(32)
    told: dict[str, Any] = {"token": token, "next": wanted, "error": None if error is None else error.body}
    answer = show(request, "sign_in.html.jinja", told, status=status, headers=error.headers if error else {})
    _set(answer, request, BEFORE, token, path="/sign-in")
    return answer


def _set(answer: Response, request: Request, name: str, value: str, **more: Any) -> None:
    # A proxy that brings https says so. Whoever says it without is only told less.
    is_https = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", ""))
    answer.set_cookie(name, value, httponly=True, samesite="lax", secure=is_https, **more)


routes = [
    Route("/sign-in", show_form, methods=["GET"]),
    Route("/sign-in", sign_in, methods=["POST"]),
    Route("/sign-out", sign_out, methods=["POST"]),
]

__all__ = ["BEFORE", "routes"]
