"""The platform's pages: made whole on the server, of the same store that the API answers from.

They work without JavaScript. Whatever models, tools and authors wrote is text in them, never markup, and a policy in
their headers lets nothing run or load but the page's own style and script.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response


def add_to(app: Starlette) -> None:
    """Has an application serve the pages too, and tell browsers in a page what it refuses."""
    from rollout.platform.pages.failing import is_page, refusal
    from rollout.platform.pages.routes import routes
    from rollout.platform.pages.runs import Counts

    in_json = app.state.refusal

    def either(
        request: Request, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> Response:
        tell = refusal if is_page(request) else in_json
        return tell(request, status, body, headers)

    app.state.refusal, app.state.counts = either, Counts()
    app.router.routes.extend(routes)


__all__ = ["add_to"]
