"""Makes pages of templates: what all of them have, how times and long texts are shown, and what a browser may do."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

import rollout
from rollout.analysis.compare.page import HERE as COMPARISONS
from rollout.analysis.report.texts import Content, Text, Texts
from rollout.analysis.words import number, percent
from rollout.platform.pages.assets import address_of
from rollout.platform.store.ids import iso, now
from rollout.settings import Settings

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
"""What a browser may do with a page: show it, with the style and the script of this server."""

HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    # What is on a page is its reader's: no proxy keeps it, and nobody finds it with the back button after signing out.
    "cache-control": "no-store",
}

PAGE = 50
"""Rows of a table that are shown at once."""

_KEY_NAME = re.compile(r"(?i)(?:^|_)(?:key|token|secret|password|passwd|credentials?)(?:_|$)")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_LONGEST, _ALL = 50_000, 1 << 30


def show(
    request: Request,
    template: str,
    told: Mapping[str, Any],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An answer: the page that a template makes of what it is told."""
    session, texts = getattr(request.state, "session", None), texts_of(request)
    text = (
        _templates()
        .get_template(template)
        .render(
            {
                "version": rollout.__version__,
                "session": session,
                "path": request.url.path,
                "origin": f"{request.url.scheme}://{request.headers.get('host', '')}",
                "line": partial(one_line, texts),
                **told,
            }
        )
    )
    # Halves of characters have no form in UTF-8; what is shown of them is marked as such by what made them text.
    return Response(
        text.encode("utf-8", "replace"), status, {**HEADERS, **(headers or {})}, "text/html; charset=utf-8"
    )


def texts_of(request: Request) -> Texts:
    """Shows texts without the keys of this server: cut where they are very long, unless the address says ``all=1``."""
    longest = _ALL if request.query_params.get("all") == "1" else _LONGEST
    return Texts(_secrets(request.app.state.runner.settings), longest=longest)


def one_line(texts: Texts, text: Any, longest: int = 300) -> str:
    """A text on one line, its line breaks blanks."""
    # Of a megabyte only the beginning is looked at.
    return texts.line(" ".join(str(text)[: 8 * longest].split()), longest)


def link(path: str, *parts: str, **query: Any) -> str:
    """The address of a page: ``path``, further parts of it, and what of the query has a value."""
    whole = "/".join([path, *(quote(part, safe="") for part in parts)])
    # A task may be number 0, which is a value.
    said = {
        name.rstrip("_"): value
        for name, value in query.items()
        if value not in (None, "") and value is not False
    }
    return f"{whole}?{urlencode(said)}" if said else whole


def _secrets(settings: Settings) -> tuple[str, ...]:
    named = {each.api_key_env for each in settings.providers.values()}
    return tuple(
        value.strip()
        for name, value in os.environ.items()
        # What a variable is only called like, may also hold an ordinary word.
        if name in named or (_KEY_NAME.search(name) and not value.strip().isalpha())
    )


def _when(moment: int | None) -> Markup:
    """A time as people say it; the exact one is told where the mouse rests."""
    if moment is None:
        return Markup("–")
    exact = iso(moment)
    return Markup('<time datetime="{}" title="{}">{}</time>').format(exact, exact, _ago(moment))


def _ago(moment: int) -> str:
    seconds = (now() - moment) / 1000
    if 0 <= seconds < _MINUTE:
        return "just now"
    if 0 <= seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min ago"
    if 0 <= seconds < _DAY:
        return f"{seconds // _HOUR:.0f} h ago"
    at = datetime.fromtimestamp(moment / 1000, UTC)
    if at.year == time.gmtime().tm_year:
        return f"{at.day} {at:%b}, {at:%H:%M}"
    return f"{at.day} {at:%b %Y}"


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min {seconds % _MINUTE:.0f} s"
    return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:.0f} min"


def _whole(text: Text) -> tuple[str, int]:
    """A text and how much of it is missing."""
    return (text, 0) if isinstance(text, str) else text


def _fields(content: Content) -> list[tuple[str, Text]] | None:
    """The fields of a content that has some."""
    return content["fields"] if isinstance(content, dict) else None


@cache
def _templates() -> Environment:
    jinja = Environment(
        loader=FileSystemLoader([Path(__file__).parent / "templates", COMPARISONS]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters: dict[str, Callable[..., Any]] = {
        "amount": lambda value: f"{value:,}",
        "duration": _duration,
        "fields": _fields,
        "number": number,
        "percent": percent,
        "short": lambda digest: digest.removeprefix("sha256:")[:12],
        "when": _when,
        "whole": _whole,
    }
    jinja.filters.update(filters)
    jinja.globals.update(link=link, asset=address_of)
    return jinja


__all__ = ["HEADERS", "PAGE", "POLICY", "link", "one_line", "show", "texts_of"]
