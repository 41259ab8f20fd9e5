"""Who looks at a page: browsers that are signed in. Others are asked to sign in, and led back to where they wanted.

Each form sends along the token of its session, which no page of another site can know.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from hmac import compare_digest
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rollout.platform.pages.showing import HEADERS, link
from rollout.platform.server.bodies import aside
from rollout.platform.server.http import ApiError, body_of
from rollout.platform.store.keys import Scope

TOKEN = "csrf"
"""The name of the field that has a form's token."""

HOME = "/environments"
_LARGEST = 16 * 1024
_MOST_FIELDS = 2_000
# Browsers leave out tabs and line breaks, and take \ for /: what then begins with two of them leads elsewhere.
_OWN_PATH = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")
_FORM = "application/x-www-form-urlencoded"

Endpoint = Callable[[Request], Awaitable[Response]]


class Form:
    """What a form was sent with; a name may be there several times."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    def get(self, name: str, default: str = "") -> str:
        """The first of that name."""
        return next(self.all(name), default)

    def all(self, name: str) -> Iterator[str]:
        """All of that name."""
        return (value for key, value in self._pairs if key == name)


def page(scope: Scope = Scope.READ, *, largest: int = _LARGEST) -> Callable[[Endpoint], Endpoint]:
    """Has an endpoint answer only to browsers that signed in with a key that is good for ``scope``.

    What is sent to it has to come from a form of the same session, has ``largest`` bytes at most, and is in
    ``request.state.form``.
    """

    def wrap(endpoint: Endpoint) -> Endpoint:
        async def guarded(request: Request) -> Response:
            access = request.app.state.access
            session = await access.session_of(request)
            if session is None:
                return _to_sign_in(request)
            request.state.session, request.state.key = session, session.key
            if not session.key.allows(scope):
                raise ApiError(
                    403,
                    f"The key “{session.key.name}” may {session.key.scope}, and this needs {scope}.",
                    "Sign in with another key; whoever runs the server makes them: rollout keys create.",
                )
            if request.method not in ("GET", "HEAD"):
                request.state.form = form = await form_of(request, largest=largest)
                access.check_token(session, form.get(TOKEN))
            return await endpoint(request)

        guarded.__name__ = endpoint.__name__
        guarded.__doc__ = endpoint.__doc__
        return guarded

    return wrap


async def form_of(request: Request, *, largest: int = _LARGEST) -> Form:
    """What a form was sent with, of ``largest`` bytes at most.

    Raises ApiError for what no form of these pages sends, or another site has sent.
    """
    # Browsers say where a request comes from, where they say it at all.
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise ApiError(403, "This came from a page of another site.", "Begin at a page of this server.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise ApiError(415, "The body is not said to be a form.", f"Send it with content-type: {_FORM}.")
    data = await body_of(request, limit=largest)
    return Form(_pairs(data) if len(data) <= _LARGEST else await aside(_pairs, data))


def _pairs(data: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise ApiError(400, f"The form cannot be read: {error}.") from None


def own_path(text: str) -> str:
    """A path of this server, as it was asked for; where it leads anywhere else, the first page."""
    return text if _OWN_PATH.fullmatch(text) else HOME


def to(path: str) -> Response:
    """Leads on after a form was sent: the browser gets another page, so loading again sends nothing twice."""
    return RedirectResponse(path, 303, HEADERS)


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, told in a time that tells nothing."""
    return bool(one) and compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))


def _to_sign_in(request: Request) -> Response:
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    is_asked = request.method in ("GET", "HEAD") and wanted != "/"
    return to(link("/sign-in", next=own_path(wanted) if is_asked else None))


__all__ = ["HOME", "TOKEN", "Form", "form_of", "own_path", "page", "same", "to"]
