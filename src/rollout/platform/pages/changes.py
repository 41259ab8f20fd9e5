"""The page of what changed from one version of an environment to another."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.analysis.report.texts import Texts
from rollout.compile.change import Change, Effect
from rollout.compile.diff import diff
from rollout.compile.line_changes import line_changes
from rollout.compile.payload import environment_of
from rollout.compile.review import by_effect, in_words, is_line_change
from rollout.platform.pages.showing import show, texts_of
from rollout.platform.pages.visiting import page
from rollout.platform.server.environments import digest_of, entry_of
from rollout.platform.server.http import ApiError
from rollout.platform.store import environments

_HEADINGS = {
    Effect.AGENT: "The agent sees",
    Effect.GRADING: "Grading",
    Effect.METADATA: "Metadata only",
}
_LONGEST, _LONGEST_LINE = 400, 1_000
_MOST_LINES, _MOST_CHANGES = 200, 200


class Shown(NamedTuple):
    """A change in words, or line by line: pairs of a sign and the line. ``left`` lines are not shown."""

    kind: str
    subject: str
    label: str
    words: str
    lines: list[tuple[str, str]]
    left: int


@page()
async def show_changes(request: Request) -> Response:
    """What changed from the version ``from`` to the version ``to``, by what it does to runs."""
    store, entry, query = request.app.state.store, await entry_of(request), request.query_params
    before = await digest_of(store, entry, query.get("from"))
    after = await digest_of(store, entry, query.get("to"))
    old = await store.aread(environments.data, entry.id, before)
    new = await store.aread(environments.data, entry.id, after)
    shows_all = query.get("all") == "1"
    try:
        told = await asyncio.to_thread(_told, old, new, texts_of(request), shows_all)
    except ValueError as error:
        raise ApiError(422, str(error)) from None
    numbers = {each.digest: each.number for each in await store.aread(environments.versions, entry.id)}
    return show(
        request,
        "changes.html.jinja",
        {
            **told,
            "entry": entry,
            "before": before,
            "after": after,
            "numbers": numbers,
            "all": shows_all,
        },
    )


def _told(before: bytes, after: bytes, texts: Texts, shows_all: bool) -> dict[str, Any]:
    found = diff(environment_of(orjson.loads(before)), environment_of(orjson.loads(after)), local=False)
    groups = [
        (
            _HEADINGS[effect],
            len(changes),
            [_shown(each, texts, shows_all) for each in (changes if shows_all else changes[:_MOST_CHANGES])],
        )
        for effect, changes in by_effect(found)
    ]
    return {
        "groups": groups,
        "conclusion": texts.line(found.conclusion, 2_000),
        "notes": [texts.line(note, 2_000) for note in found.notes],
        "is_comparable": found.is_comparable,
        "is_cut": any(amount > len(shown) or any(each.left for each in shown) for _, amount, shown in groups),
    }


def _shown(change: Change, texts: Texts, shows_all: bool) -> Shown:
    label = texts.line(change.label)
    if not is_line_change(change):
        words = texts.line(in_words(change, _LONGEST), 2 * _LONGEST)
        return Shown(str(change.kind), change.subject, label, words, [], 0)
    lines = list(line_changes(change, None if shows_all else _LONGEST_LINE))
    kept = lines if shows_all else lines[:_MOST_LINES]
    longest = 1 << 30 if shows_all else _LONGEST_LINE
    told = [
        (line[:1], "\t".join(texts.line(part, longest) for part in line[1:].split("\t"))) for line in kept
    ]
    return Shown(str(change.kind), change.subject, label, "", told, len(lines) - len(kept))


routes = [Route("/environments/{slug}/changes", show_changes, methods=["GET"])]

__all__ = ["routes"]
