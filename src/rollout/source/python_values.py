"""Turns Python values into JSON values, and says where that cannot be done.

No code of the values' own classes is run: what a value is, is asked of ``type``, and what it holds is read by the
methods of the plain types.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from rollout.source.place import MAX_DEPTH, Route

Tell = Callable[[str, Route, dict[str, Any]], None]
"""Takes the slug of a problem, the route of the value that has it, and the facts."""

_LONGEST_INT = 4300
"""How many digits a whole number may have, as in JSON."""
_BOUND = 10**_LONGEST_INT
_MRO = type.__dict__["__mro__"].__get__
_NAME = type.__dict__["__name__"].__get__
_NAMESPACE = type.__dict__["__dict__"].__get__
# Where a subclass says for itself what it holds, its storage is not its content.
_READING = ("__getattribute__", "__getitem__", "__iter__", "__len__", "items", "keys", "values")
_KNOWN_DICTS = frozenset({dict, OrderedDict, defaultdict, Counter, object})
_KNOWN_LISTS = frozenset({list, tuple, object})


def to_json(value: Any, route: Route, tell: Tell, *, above: tuple[int, ...] = ()) -> Any:
    """``value`` as a new JSON value: tuples become lists, subclasses their plain type.

    What JSON cannot hold goes to ``tell``, and None stands in its place.
    """
    kind = type(value)
    if value is None or kind is bool:
        return value
    if is_kind(value, str):
        text = str.__str__(value)
        return text if _is_text(text) else _replace_surrogates(text, route, tell)
    if is_kind(value, int):
        number = int.__int__(value)
        if -_BOUND < number < _BOUND:
            return number
        return tell("bad-number", route, {"written": _beginning(number)})
    if is_kind(value, float):
        real = float.__float__(value)
        return real if math.isfinite(real) else tell("bad-number", route, {"written": float.__repr__(real)})
    listed = members_of(value)
    items = items_of(value) if listed is None else None
    if listed is None and items is None:
        names = name_of(value) if kind is type else ""
        return tell("not-json", route, {"kind": "type", "type": name_of(kind), "names": names})
    if id(value) in above:
        return tell("not-json", route, {"kind": "cycle", "type": name_of(kind)})
    if len(above) >= MAX_DEPTH:
        return tell("too-deep", route, {"max_depth": MAX_DEPTH})
    above = (*above, id(value))
    if items is not None:
        return _object(items, route, tell, above)
    return [to_json(item, (*route, index), tell, above=above) for index, item in enumerate(listed or ())]


def is_kind(value: Any, kind: type) -> bool:
    """Whether ``value`` is of ``kind`` or a subclass, whatever it says of its class."""
    return type.__subclasscheck__(kind, type(value))


def name_of(kind: type) -> str:
    """The name of a class, whatever its metaclass says."""
    return str.__str__(_NAME(kind))


def members_of(value: Any) -> Sequence[Any] | None:
    """What a list or a tuple holds; None for everything else."""
    if is_kind(value, list) and _keeps_its_reading(type(value), _KNOWN_LISTS):
        return list.__getitem__(value, slice(None))
    if is_kind(value, tuple) and _keeps_its_reading(type(value), _KNOWN_LISTS):
        return tuple.__getitem__(value, slice(None))
    return None


def items_of(value: Any) -> list[tuple[Any, Any]] | None:
    """The keys and values of a dict; None for everything else."""
    if not is_kind(value, dict) or not _keeps_its_reading(type(value), _KNOWN_DICTS):
        return None
    if is_kind(value, OrderedDict):
        return list(OrderedDict.items(value))
    return list(dict.items(value))


def _keeps_its_reading(kind: type, known: frozenset[type]) -> bool:
    return kind in known or all(
        each in known or _NAMESPACE(each).keys().isdisjoint(_READING) for each in _MRO(kind)
    )


def _object(items: list[tuple[Any, Any]], route: Route, tell: Tell, above: tuple[int, ...]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in items:
        if is_kind(key, str) and _is_text(name := str.__str__(key)) and name not in made:
            made[name] = to_json(item, (*route, name), tell, above=above)
        else:
            tell("not-json", route, {"kind": "key", "type": name_of(type(key)), "key": _shown(key)})
    return made


def _beginning(number: int) -> str:
    # All its digits may be more than Python is willing to write out.
    digits = int(number.bit_length() * math.log10(2))
    first = abs(number) // 10 ** (digits - 30) if digits < 1_000_000 else 1
    return f"{'-' * (number < 0)}{first}…"


def _shown(key: Any) -> str:
    if is_kind(key, str):
        return ascii(str.__str__(key))[:80]
    if key is None or type(key) in (bool, float, bytes) or (type(key) is int and abs(key) < _BOUND):
        return ascii(key)[:80]
    return f"<{name_of(type(key))}>"


def _is_text(text: str) -> bool:
    # A lone surrogate has no UTF-8 form, and so no JSON form either.
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _replace_surrogates(text: str, route: Route, tell: Tell) -> str:
    first = next(character for character in text if "\ud800" <= character <= "\udfff")
    tell("lone-surrogate", route, {"written": f"\\u{ord(first):04x}"})
    return text.encode("utf-8", "replace").decode("utf-8")


__all__ = ["is_kind", "items_of", "members_of", "name_of", "to_json"]
