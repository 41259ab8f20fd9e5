"""A key that its object does not take: what was meant by it, or where it belongs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rollout.check.sections import section, whole
from rollout.check.vocabulary import Branch, Node, below, homes_above, homes_below, keys, kinds_of
from rollout.source.contract import schema, templates
from rollout.source.place import Route

_STRONG = 0.84
_WEAK = 0.6


class Stray(NamedTuple):
    """``unknown-key`` with a suggestion perhaps, or ``misplaced-key`` with where the key belongs."""

    slug: str
    facts: dict[str, Any]


def is_own(key: str) -> bool:
    """Whether ``key`` is an extension key (``x-…``), which is the author's own and kept out of the payload."""
    return key.startswith("x-")


def stray(
    root: str,
    value: Any,
    route: Route,
    key: str,
    depths: Sequence[Sequence[Node]],
    kinds: Sequence[Branch],
    chosen: Branch | None,
    missing: Collection[str],
) -> Stray:
    """What to say of ``key`` in the object at ``route``, whose subschemas are ``depths`` (from ``along``).

    ``kinds`` are the kinds that the object may be of, ``chosen`` the one it is; ``missing`` keys are likely meant.
    """
    here = depths[-1]
    known = keys(here)
    if kinds and chosen is None:
        known = dict(
            known, **{name: told for kind in kinds for name, told in kind.keys.items() if name not in known}
        )
    given = _object_at(value, route)
    free = {name: told for name, told in known.items() if name not in given or name in missing}
    facts: dict[str, Any] = {"key": key, "known": list(known), "suggestion": None, "twin": None}
    if root == "environment" and not route and (own := within(value[key], free)):
        return Stray("unknown-key", facts | {"within": own})
    if (same := _same(key, free)) is not None:
        return Stray("unknown-key", facts | {"suggestion": same})
    if (twin := _folded(key, known)) is not None:
        return Stray("unknown-key", facts | {"twin": twin})
    if key.startswith("x_"):
        return Stray("unknown-key", facts | {"suggestion": f"x-{key[2:]}"})
    if (near := _close(key, [name for name in free if name in missing], _STRONG)) is not None:
        return Stray("unknown-key", facts | {"suggestion": near})
    if chosen is not None and (values := [kind.value for kind in kinds if fits(kind, key)]):
        return Stray("misplaced-key", _choice(key, chosen.key, chosen.value, values))
    if (near := _close(key, free, _STRONG)) is not None:
        return Stray("unknown-key", facts | {"suggestion": near})
    if root == "environment" and (others := _other_templates(value, route, key)):
        return Stray("misplaced-key", _choice(key, "template", value["template"], others))
    if root == "task" and not route and (home := _home_of_all_tasks(key)) is not None:
        return Stray(
            "misplaced-key", {"key": key, "home": home, "levels": 0, "way": None, "targets": [], "all": True}
        )
    homes = list(homes_above(root, value, route, key))
    above = next((home for home in homes if key not in _object_at(value, home)), None)
    inside = next(homes_below(here, key), None)
    if above is None and inside is None and homes:
        above = homes[0]
    if above is not None or inside is not None:
        return Stray("misplaced-key", _move(root, value, route, key, above, inside.way if inside else None))
    return Stray("unknown-key", facts | {"suggestion": _close(key, free, _WEAK)})


_OF_A_TASK = frozenset({"name", "slug", "description", "tasks"})
"""Keys of an environment that someone may have meant for the task itself."""


def _home_of_all_tasks(key: str) -> str | None:
    """Where a key belongs that says something of all tasks alike; None for a key that may have been meant for one."""
    if key in _OF_A_TASK or is_own(key):
        return None
    if key in schema("environment")["properties"]:
        return "the environment"
    if key in schema("verifier")["properties"]:
        return "the environment's “verifier”"
    # Files may as well be those that this task is to come to.
    if any(key in schema(name)["properties"] for name in templates() if name != "code-editing"):
        return "the environment's “config”"
    return None


def fits(kind: Branch, key: str) -> bool:
    """Whether an object of this kind takes ``key``."""
    return key in kind.keys


def within(value: Any, free: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What the keys of ``value`` are, if all of them are ``free`` in the object that it stands in; else nothing."""
    names = [_same(key, free) for key in value] if isinstance(value, dict) else []
    known = [name for name in names if name is not None]
    return known if len(known) == len(names) else []


def _choice(key: str, chooser: str, current: Any, values: Sequence[str]) -> dict[str, Any]:
    return {"key": key, "chooser": chooser, "current": current, "values": list(values)}


def _move(
    root: str, value: Any, route: Route, key: str, above: Route | None, way: tuple[str, ...] | None
) -> dict[str, Any]:
    targets = [above] if above is not None else []
    if way is not None:
        targets.append((*route, *way))
    return {
        "key": key,
        "home": section(whole(root), value, above) if above is not None else None,
        "levels": _levels(route, above) if above is not None else 0,
        "way": way,
        "targets": targets,
    }


def _levels(route: Route, above: Route) -> int:
    # A list and the place in it are one level to a reader, who sees one indentation.
    return sum(isinstance(step, str) for step in route[len(above) :])


def _object_at(value: Any, route: Route) -> dict[str, Any]:
    for step in route:
        value = value[step]
    return value if isinstance(value, dict) else {}


def _same(key: str, known: Mapping[str, Mapping[str, Any]]) -> str | None:
    if (same := _folded(key, known)) is not None:
        return same
    folded = _fold(key)
    return next((name for name, told in known.items() if folded in map(_fold, told.get("x-aka", ()))), None)


def _folded(key: str, known: Iterable[str]) -> str | None:
    folded = _fold(key)
    return next((name for name in known if _fold(name) == folded), None)


def _fold(key: str) -> str:
    return "".join(each for each in key.casefold() if each not in "_-. ")


def _close(key: str, known: Iterable[str], cutoff: float) -> str | None:
    from difflib import SequenceMatcher

    folded = _fold(key)[:80]
    best, best_ratio = None, cutoff
    for name in known:
        ratio = SequenceMatcher(None, folded, _fold(name)).ratio()
        if ratio >= best_ratio and (best is None or ratio > best_ratio):
            best, best_ratio = name, ratio
    return best


def guess(
    kinds: Sequence[Branch], missing: Sequence[str], value: Mapping[str, Any]
) -> tuple[str, str] | None:
    """The kind that an object without its kind looks like: the key that chooses, and the value it should have."""
    likely = candidates(kinds, missing, value)
    return (kinds[0].key, likely[0]) if len(likely) == 1 else None


def candidates(kinds: Sequence[Branch], missing: Sequence[str], value: Mapping[str, Any]) -> list[str]:
    """The kinds that go best with the keys of an object without its kind; empty where its kind is not missing."""
    if not kinds or kinds[0].key not in missing:
        return []
    everywhere = set.intersection(*(set(kind.keys) for kind in kinds))
    scores = {kind.value: sum(fits(kind, key) for key in value if key not in everywhere) for kind in kinds}
    best = max(scores.values())
    return [name for name, score in scores.items() if score == best]


def guess_template(value: Mapping[str, Any]) -> tuple[str, str] | None:
    """The template that an environment without one looks like by its keys, or None when several are as likely."""
    if "schema" in value or "seed" in value:
        return ("template", "sql")
    config = value.get("config")
    if not isinstance(config, dict):
        return None
    tools = config.get("tools")
    tool_keys = (
        {key for tool in tools if isinstance(tool, dict) for key in tool}
        if isinstance(tools, list)
        else set()
    )
    scores = {}
    for name in templates():
        nodes = kinds_of([Node(name, schema(name))])
        of_tools = kinds_of(below(nodes, "tools"))
        scores[name] = len(_known(nodes).intersection(config)) + len(_known(of_tools) & tool_keys)
    best = max(scores.values())
    likely = [name for name, score in scores.items() if score == best]
    return ("template", likely[0]) if best and len(likely) == 1 else None


def _known(nodes: Iterable[Node]) -> set[str]:
    return {key for node in nodes for key in node.schema.get("properties", {})}


def _other_templates(value: Any, route: Route, key: str) -> list[str]:
    """The templates in whose config ``key`` would be right, at the same route."""
    if not route or route[0] != "config" or value.get("template") not in templates():
        return []
    found = []
    for name in templates():
        if name in ("sql", value["template"]):
            continue
        nodes = kinds_of([Node(name, schema(name))])
        for step in route[1:]:
            nodes = kinds_of([node for each in nodes for node in below([each], step)])
        if any(key in node.schema.get("properties", {}) for node in nodes):
            found.append(name)
    return found


__all__ = ["Stray", "candidates", "fits", "guess", "guess_template", "is_own", "stray", "within"]
