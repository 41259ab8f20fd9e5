"""The pages of environments: all of them, one with what the agent gets, its tasks and how it is judged, one task."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.analysis.report.texts import Text, Texts
from rollout.compile.yaml_text import write_yaml
from rollout.platform.pages.cursors import after_in, number_in, rest
from rollout.platform.pages.rates import rate_of
from rollout.platform.pages.showing import PAGE, one_line, show, texts_of
from rollout.platform.pages.visiting import HOME, page, to
from rollout.platform.server.environments import digest_of, entry_of
from rollout.platform.server.http import ApiError
from rollout.platform.store import Store, environments, listing
from rollout.platform.store.environments import Entry

_SPLITS = ("dev", "test", "train")
_SOME_RUNS = 10
_KEPT_APART = {"fixtures": "Fixtures", "files": "Files", "hiddenFiles": "Hidden files"}


class Part(NamedTuple):
    """Something of a config under its own name; ``about`` is a sentence of the author's."""

    name: str
    about: str
    text: Text


class Section(NamedTuple):
    """Parts of a config that belong together."""

    title: str
    parts: Sequence[Part]


class Primitive(NamedTuple):
    """A check of the verifier; ``share`` is what it counts, in percent of all."""

    name: str
    type: str
    weight: float
    share: float
    options: Text


async def show_home(request: Request) -> Response:
    """Leads to the environments."""
    return to(HOME)


@page()
async def list_environments(request: Request) -> Response:
    """All environments, by slug or by when they were changed."""
    newest = request.query_params.get("sort") == "newest"
    after = after_in(request, (int, str) if newest else (str,))
    found = await _store(request).aread(listing.environments, limit=PAGE + 1, newest=newest, after=after)
    rows, following = rest(found, PAGE, lambda row: (row.updated_at, row.slug) if newest else (row.slug,))
    return show(
        request,
        "environments.html.jinja",
        {"rows": rows, "next": following, "sort": "newest" if newest else "", "is_first": not after},
    )


@page()
async def show_environment(request: Request) -> Response:
    """An environment, as it is now or in an earlier version."""
    store, entry = _store(request), await entry_of(request)
    digest = await digest_of(store, entry, request.query_params.get("digest"))
    split = request.query_params.get("split", "")
    if split and split not in _SPLITS:
        raise ApiError(400, f"“split” is to be one of {', '.join(_SPLITS)}.")
    first = (number_in(request, "page", 1) - 1) * PAGE
    texts = texts_of(request)
    told = await asyncio.to_thread(_told, await _data(store, entry, digest), texts, split, first)
    versions = await store.aread(environments.versions, entry.id)
    runs = await store.aread(listing.runs, limit=_SOME_RUNS + 1, environment_id=entry.id)
    return show(
        request,
        "environment.html.jinja",
        {
            **told,
            "entry": entry,
            "digest": digest,
            "version": next(each.number for each in versions if each.digest == digest),
            "versions": versions,
            "split": split,
            "splits": _SPLITS,
            "number": first // PAGE + 1,
            "all": request.query_params.get("all") == "1",
            "runs": runs[:_SOME_RUNS],
            "rate_of": rate_of,
            "more_runs": len(runs) > _SOME_RUNS,
        },
    )


@page()
async def show_task(request: Request) -> Response:
    """One task, whole."""
    store, entry = _store(request), await entry_of(request)
    digest = await digest_of(store, entry, request.query_params.get("digest"))
    data = await _data(store, entry, digest)
    tasks = (await asyncio.to_thread(orjson.loads, data))["environment"]["tasks"]
    place = request.path_params["index"]
    if place >= len(tasks):
        raise ApiError(404, f"“{entry.slug}” has no task {place}.")
    texts, task = texts_of(request), tasks[place]
    return show(
        request,
        "task.html.jinja",
        {
            "entry": entry,
            "digest": digest,
            "place": place,
            "count": len(tasks),
            "split": task["split"],
            "instruction": texts.block(task["instruction"]),
            "input": yaml(task["input"], texts) if task.get("input") else None,
            "truth": yaml(task["hiddenGroundTruth"], texts) if task["hiddenGroundTruth"] else None,
        },
    )


@page()
async def get_file(request: Request) -> Response:
    """The compiled file of a version, to be kept."""
    store, entry = _store(request), await entry_of(request)
    digest = await digest_of(store, entry, request.query_params.get("digest"))
    name = re.sub(r"[^A-Za-z0-9._-]", "_", entry.slug)
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="{name}.json"',
        "content-security-policy": "default-src 'none'; sandbox",
    }
    return Response(await _data(store, entry, digest), 200, headers, "application/json")


def yaml(value: Any, texts: Texts) -> Text:
    """A JSON value as people read it best."""
    return texts.block(value if isinstance(value, str) else write_yaml(value).rstrip("\n"))


def primitives(verifier: Mapping[str, Any] | None, texts: Texts) -> list[Primitive]:
    """The checks of a verifier."""
    told = (verifier or {}).get("primitives", ())
    total = sum(each.get("weight", 1) for each in told)
    return [
        Primitive(
            texts.line(each["name"]),
            texts.line(each["type"], 80),
            each.get("weight", 1),
            100 * each.get("weight", 1) / total if total else 0.0,
            yaml(options, texts)
            if (options := {key: each[key] for key in each if key not in ("name", "type", "weight")})
            else "",
        )
        for each in told
    ]


def sections(said: Mapping[str, Any], texts: Texts) -> Iterator[Section]:
    """What the agent gets: tools, fixtures, files and pages one by one, and the rest as it is written."""
    for key, title in (("schema", "Schema"), ("seed", "Seed")):
        if said.get(key):
            yield Section(title, [Part(f"{key}.sql", "", texts.block(said[key]))])
    config = dict(said.get("config") or {})
    tools = config.pop("tools", None)
    if isinstance(tools, list) and tools:
        yield Section("Tools", [_tool(each, texts) for each in tools])
    for key, title in _KEPT_APART.items():
        if isinstance(held := config.get(key), dict) and held:
            del config[key]
            yield Section(
                title, [Part(texts.line(name), "", yaml(each, texts)) for name, each in held.items()]
            )
    pages = config.get("pages")
    if isinstance(pages, list) and pages:
        del config["pages"]
        yield Section("Pages", [_page(each, texts) for each in pages])
    for key, title in (("initialMutableState", "State at the start"), ("initialState", "State at the start")):
        if key in config:
            yield Section(title, [Part("", "", yaml(config.pop(key), texts))])
    if config:
        yield Section(
            "Besides" if tools or said.get("schema") else "Config", [Part("", "", yaml(config, texts))]
        )


def _tool(tool: Any, texts: Texts) -> Part:
    if not isinstance(tool, dict):
        return Part(texts.line(tool), "", yaml(tool, texts))
    left = {key: tool[key] for key in tool if key not in ("name", "description")}
    return Part(texts.line(tool.get("name", "")), texts.line(tool.get("description", "")), yaml(left, texts))


def _page(shown: Any, texts: Texts) -> Part:
    is_read = isinstance(shown, dict)
    name = str(shown.get("url", "")) if is_read else ""
    return Part(texts.line(name), texts.line(shown.get("title", "")) if is_read else "", yaml(shown, texts))


def _told(data: bytes, texts: Texts, split: str, first: int) -> dict[str, Any]:
    held = orjson.loads(data)
    said = held["environment"]
    chosen = [
        (index, task) for index, task in enumerate(said["tasks"]) if not split or task["split"] == split
    ]
    return {
        "name": texts.line(said["name"]),
        "description": texts.block(said["description"]) if said.get("description") else None,
        "template": said["template"],
        "sections": list(sections(said, texts)),
        "tasks": [
            (index, one_line(texts, task["instruction"]), task["split"])
            for index, task in chosen[first : first + PAGE]
        ],
        "task_count": len(said["tasks"]),
        "chosen_count": len(chosen),
        "last": max(1, -(-len(chosen) // PAGE)),
        "primitives": primitives(held["verifier"], texts),
        "threshold": (held["verifier"] or {}).get("passThreshold", 1),
    }


async def _data(store: Store, entry: Entry, digest: str) -> bytes:
    data = await store.aread(environments.data, entry.id, digest)
    assert data is not None
    return data


def _store(request: Request) -> Store:
    store: Store = request.app.state.store
    return store


routes = [
    Route("/", show_home, methods=["GET"]),
    Route("/environments", list_environments, methods=["GET"]),
    Route("/environments/{slug}", show_environment, methods=["GET"]),
    Route("/environments/{slug}/tasks/{index:int}", show_task, methods=["GET"]),
    Route("/environments/{slug}/file", get_file, methods=["GET"]),
]

__all__ = ["primitives", "routes", "sections", "yaml"]
