"""What is wrong with a value's shape: the errors of a JSON Schema, each turned into the key or value at fault.

A schema says that an object has a key too many and another too few; a person has mistyped one key. So errors are
gathered by object before they become faults, and each defect becomes one fault. No words are made here, only facts:
the rule that a fault's slug names has the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rollout.check.sections import part, section, whole
from rollout.check.stray import Stray, candidates, fits, guess, guess_template, is_own, stray, within
from rollout.check.vocabulary import Branch, Node, along, branches, keys
from rollout.source.place import At, Route


class ShapeFault(NamedTuple):
    """One defect of shape: the rule that words it, where it is, and what the words need."""

    slug: str
    route: Route
    at: At
    facts: dict[str, Any]


@dataclass(slots=True)
class _Object:
    """What is wrong with the keys of one object."""

    missing: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    needs: list[list[str]] = field(default_factory=list)
    clashes: list[list[str]] = field(default_factory=list)
    takes_own: bool = True


class Shape:
    """A value held against the schema called ``root``. Of keys that nothing takes, ``most`` are looked at."""

    def __init__(self, root: str, value: Any, *, most: int) -> None:
        self.root = root
        self.value = value
        self._strays_left = most
        self.objects: dict[Route, _Object] = {}
        self.found: dict[tuple[str, Route, At], ShapeFault] = {}

    def faults(
        self, errors: Iterator[Any], *, required: Mapping[Route, Sequence[str]] | None = None
    ) -> list[ShapeFault]:
        """The faults that ``errors`` (of ``jsonschema``) come to.

        ``required`` names, by object, keys that must be there besides those that the schema requires.
        """
        for error in errors:
            self._sort(error)
        for route, names in (required or {}).items():
            self._object(route).missing += names
        for route, wrong in list(self.objects.items()):
            self._judge_keys(route, wrong)
        self._forgive_what_a_move_mends()
        self._take_whole_schemas_as_such()
        # The library goes through some keys in the order of a set, which no two runs share.
        return sorted(self.found.values(), key=lambda fault: (self._order(fault.route), fault.slug))

    def _order(self, route: Route) -> tuple[int, ...]:
        value, order = self.value, []
        for step in route:
            order.append(step if isinstance(step, int) else list(value).index(step))
            value = value[step]
        return tuple(order)

    def _forgive_what_a_move_mends(self) -> None:
        """Drops keys from what is missing where a misplaced key, moved to its home, would be there."""
        moved: dict[Route, set[str]] = {}
        for fault in self.found.values():
            if fault.slug == "misplaced-key":
                for target in fault.facts.get("targets", ()):
                    moved.setdefault(target, set()).add(fault.facts["key"])
        for place, fault in list(self.found.items()):
            if fault.slug != "missing-key":
                continue
            # Where the home itself is missing, the key that is to move into it is the first of its members.
            mended = moved.get(fault.route, set()) | {
                str(target[-1]) for target in moved if target and target[:-1] == fault.route
            }
            left = [key for key in fault.facts["keys"] if key not in mended]
            if not left and mended.intersection(fault.facts["keys"]):
                del self.found[place]
            else:
                fault.facts["keys"] = left

    def _take_whole_schemas_as_such(self) -> None:
        """Parameters called ``required`` and ``$ref`` are a JSON Schema that lacks what marks it as a whole one."""
        for place, fault in list(self.found.items()):
            home = fault.route[:-1]
            if not home or home[-1] != "paramsSchema":
                continue
            written = self._at(home)
            if place not in self.found or not _is_like_a_schema(written):
                continue
            self.found = {each: told for each, told in self.found.items() if told.route[:-1] != home}
            if isinstance(written.get("properties"), dict) and isinstance(written.get("type"), str):
                # Only the word is wrong: other formats say “dict” for an object.
                self._value_fault((*home, "type"), "const", "object", written["type"], {"const": "object"})
                continue
            form = (
                "type: object and properties where it is a whole JSON Schema, else a type for each parameter"
            )
            facts = {"part": part(whole(self.root), self.value, home), "found": written, "form": form}
            self._add("malformed-value", home, "key", facts)

    def _object(self, route: Route) -> _Object:
        return self.objects.setdefault(route, _Object())

    def _sort(self, error: Any) -> None:
        route: Route = tuple(error.absolute_path)
        word, told, instance = error.validator, error.validator_value, error.instance
        if word == "refused":
            self._object(route[:-1]).refused.append(str(route[-1]))
        elif word == "required":
            wrong = self._object(route)
            wrong.missing += [key for key in told if key not in instance and key not in wrong.missing]
        elif word == "additionalProperties":
            wrong = self._object(route)
            known = error.schema.get("properties", {})
            wrong.takes_own = "patternProperties" in error.schema
            told_already = set(wrong.unknown)
            wrong.unknown += [
                key
                for key in instance
                if key not in known and key not in told_already and not (wrong.takes_own and is_own(key))
            ]
        elif word == "anyOf":
            if isinstance(instance, dict):
                self._object(route).needs = [group["required"] for group in told]
        elif word == "not":
            if isinstance(instance, dict):
                groups = [group["required"] for group in told.get("anyOf", [told])]
                self._object(route).clashes += [group for group in groups if instance.keys() >= set(group)]
        else:
            self._value_fault(route, word, told, instance, error.schema)

    def _value_fault(self, route: Route, word: str, told: Any, value: Any, schema: Mapping[str, Any]) -> None:
        facts: dict[str, Any] = {"part": part(whole(self.root), self.value, route), "found": value}
        if value is None and word in ("type", "enum", "const"):
            slug = "empty-value"
            facts |= _expected(schema)
        elif word == "type":
            slug = "wrong-type"
            facts |= _expected(schema)
        elif word in ("enum", "const"):
            # Where this names the kind of its object, no branch of the schema has looked at the object's keys.
            if isinstance(route[-1], str):
                self._object(route[:-1])
            slug = "not-allowed"
            facts |= _expected(schema)
        elif (word.startswith("min") and isinstance(value, str | list | dict) and not value) or value == "":
            slug = "empty-value"
            facts |= _expected(schema)
        elif word == "pattern":
            slug = "malformed-value"
            facts["form"] = schema.get("x-form")
        else:
            slug = "out-of-range"
            facts |= {"bound": word, "limit": told, "schema": schema}
        if slug == "empty-value":
            facts["required"] = self._is_required(route)
        self._add(slug, route, "value", facts)

    def _is_required(self, route: Route) -> bool:
        if not route or isinstance(route[-1], int):
            return True
        if route in (("config",), ("schema",)):
            return True
        for node in along(self.root, self.value, route[:-1])[-1]:
            ways = [way.get("required", ()) for way in node.schema.get("anyOf", ())]
            if any(route[-1] in required for required in (node.schema.get("required", ()), *ways)):
                return True
            told = node.schema.get("properties", {}).get(route[-1])
            if isinstance(told, dict) and "x-required" in told:
                return True
        return False

    def _add(self, slug: str, route: Route, at: At, facts: dict[str, Any]) -> None:
        self.found.setdefault((slug, route, at), ShapeFault(slug, route, at, facts))

    def _judge_keys(self, route: Route, wrong: _Object) -> None:
        depths = along(self.root, self.value, route)
        nodes = depths[-1]
        value = self._at(route)
        kinds = branches(nodes)
        chosen = self._chosen(kinds, value)
        if kinds and chosen is None:
            wrong.unknown += self._unknown_to_all(nodes, kinds, value, wrong)
        name = section(whole(self.root), self.value, route)
        met: set[str] = set()
        unknown = wrong.unknown[: self._strays_left]
        self._strays_left -= len(unknown)
        for key in unknown:
            told = stray(self.root, self.value, route, key, depths, kinds, chosen, wrong.missing)
            met |= {told.facts["suggestion"]} if told.facts.get("suggestion") else set()
            met.update(told.facts.get("within", ()))
            if told.slug == "misplaced-key" and _is_of_another_kind(told, kinds, value):
                met.update(wrong.missing, *wrong.needs)
            self._add(
                told.slug, (*route, key), "key", {"section": name, "own": wrong.takes_own, **told.facts}
            )
        for key in wrong.refused:
            self._add(
                "misplaced-key", (*route, key), "key", {"section": name, **self._refused(key, kinds, value)}
            )
            met |= {"config", "schema"}
        for group in wrong.clashes:
            self._clash(route, group, wrong, name, value)
            break
        known = keys(nodes)
        missing = [key for key in dict.fromkeys(wrong.missing) if key not in met]
        if missing:
            facts = {
                "section": name,
                "keys": missing,
                "about": {key: known.get(key, {}).get("description") for key in missing},
                "allowed": candidates(kinds, missing, value),
                "guess": guess_template(value) if "template" in missing else guess(kinds, missing, value),
            }
            self._add("missing-key", route, "key", facts)
            self._find_in_config(route, missing, value)
        if wrong.needs and not any(met.intersection(group) for group in wrong.needs):
            self._needs(route, wrong.needs, name, value, known)

    def _find_in_config(self, route: Route, missing: Sequence[str], value: Mapping[str, Any]) -> None:
        """Tells of keys that the environment lacks and its config has, whose keys no branch has looked at."""
        config = value.get("config")
        if self.root != "environment" or route or "template" not in missing or not isinstance(config, dict):
            return
        home = section(whole(self.root), self.value, ())
        name = section(whole(self.root), self.value, ("config",))
        for key in missing:
            if key in config:
                facts = {"key": key, "home": home, "levels": 1, "way": None, "targets": [()], "section": name}
                self._add("misplaced-key", ("config", key), "key", facts)

    def _at(self, route: Route) -> dict[str, Any]:
        value = self.value
        for step in route:
            value = value[step]
        assert isinstance(value, dict)
        return value

    def _chosen(self, kinds: Sequence[Branch], value: Mapping[str, Any]) -> Branch | None:
        return next((kind for kind in kinds if value.get(kind.key) == kind.value), None)

    def _unknown_to_all(
        self, nodes: Sequence[Node], kinds: Sequence[Branch], value: Mapping[str, Any], wrong: _Object
    ) -> list[str]:
        # The kind is missing or unknown, so no branch has spoken; a key that none of them has is wrong all the same.
        known = set(keys(nodes)).union(wrong.unknown, *(kind.keys for kind in kinds))
        return [key for key in value if key not in known and not is_own(key)]

    def _refused(self, key: str, kinds: Sequence[Branch], value: Mapping[str, Any]) -> dict[str, Any]:
        chooser = kinds[0].key
        chosen = self._chosen(kinds, value)
        free = {name: told for name, told in chosen.keys.items() if name not in value} if chosen else {}
        return {
            "key": key,
            "chooser": chooser,
            "current": value.get(chooser),
            "values": [kind.value for kind in kinds if fits(kind, key)],
            "within": within(value[key], free),
        }

    def _clash(
        self, route: Route, group: Sequence[str], wrong: _Object, name: str, value: Mapping[str, Any]
    ) -> None:
        involved = {key for each in wrong.clashes for key in each}
        ordered = [key for key in value if key in involved]
        ways = [way for way in self._ways(route) if any(key in value for key in way)]
        self._add(
            "conflicting-keys",
            (*route, ordered[-1]),
            "key",
            {
                "section": name,
                "keys": ordered,
                "ways": [way for way in ways if way] or [[key] for key in group],
            },
        )

    def _ways(self, route: Route) -> list[list[str]]:
        nodes = along(self.root, self.value, route)[-1]
        return [
            list(each["required"])
            for node in nodes
            for each in node.schema.get("anyOf", ())
            if "required" in each
        ]

    def _needs(
        self,
        route: Route,
        needs: Sequence[Sequence[str]],
        name: str,
        value: Mapping[str, Any],
        known: Mapping[str, Mapping[str, Any]],
    ) -> None:
        begun = max(needs, key=lambda group: sum(key in value for key in group))
        facts: dict[str, Any] = {"section": name, "guess": None}
        if any(key in value for key in begun):
            missing = [key for key in begun if key not in value]
            facts |= {"keys": missing, "goes_with": [key for key in begun if key in value]}
        else:
            facts |= {"keys": [], "alternatives": [list(group) for group in needs]}
        facts["about"] = {key: known.get(key, {}).get("description") for group in needs for key in group}
        self._add("missing-key", route, "key", facts)


def _is_of_another_kind(told: Stray, kinds: Sequence[Branch], value: Mapping[str, Any]) -> bool:
    """Whether an object with a key of other kinds is one of those, so that it lacks nothing of the kind it says."""
    if not told.facts.get("chooser"):
        return False
    others = [kind for kind in kinds if kind.value in told.facts["values"]]
    return not others or any(kind.is_whole(value) for kind in others)


def _is_like_a_schema(written: Mapping[str, Any]) -> bool:
    return (
        isinstance(written.get("required"), list)
        or isinstance(written.get("additionalProperties"), bool)
        or any(key.startswith("$") for key in written)
    )


def _expected(schema: Mapping[str, Any]) -> dict[str, Any]:
    types = schema.get("type", ())
    allowed = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else None
    return {
        "types": [types] if isinstance(types, str) else list(types),
        "allowed": allowed,
        "elsewhere": schema.get("x-elsewhere", {}),
        "example": next(iter(schema.get("examples", ())), None),
        "about": schema.get("description"),
    }


__all__ = ["Shape", "ShapeFault"]
