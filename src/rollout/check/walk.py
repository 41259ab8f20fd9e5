"""Goes through every scalar and key of a value, in the order they are written, with the route to each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from rollout.source.place import At, Route


class Leaf(NamedTuple):
    """A scalar (``at`` its value) or an object's key (``at`` "key") and where it stands."""

    route: Route
    value: Any
    at: At


def leaves(value: Any, route: Route = ()) -> Iterator[Leaf]:
    """Every key and every scalar in ``value``; routes begin with ``route``."""
    pending: list[tuple[Route, Any]] = [(route, value)]
    while pending:
        at, here = pending.pop()
        if isinstance(here, dict):
            members: list[tuple[Route, Any]] = [((*at, key), member) for key, member in here.items()]
            for below, _ in members:
                yield Leaf(below, below[-1], "key")
            pending.extend(reversed(members))
        elif isinstance(here, list):
            pending.extend(((*at, index), here[index]) for index in range(len(here) - 1, -1, -1))
        else:
            yield Leaf(at, here, "value")


def written(value: Any) -> bytes:
    """``value`` as JSON, to be searched for something rare before it is gone through leaf by leaf."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        # An integer past 64 bits, or a lone surrogate.
        import json

        return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")


__all__ = ["Leaf", "leaves", "written"]
