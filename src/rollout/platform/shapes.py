"""Whether what a server answers is as :mod:`rollout.platform.results` says; it may be another's, or mean no good.

A kind is what a type there says: a ``TypedDict``, ``list[…]``, ``dict``, a ``Literal``, a plain type, or one or None.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import orjson

from rollout.language.depth import is_deeper

DEEPEST = 200
"""So many lists and objects lie inside each other at most: twice as many as in an environment."""

_MOST_EXACT = 2**53
"""From here on, a number with a point stands for several whole ones."""


class AnswerError(ValueError):
    """An answer that has not the shape it should have; its text names the field, and goes on after a colon."""


def parse(data: bytes) -> Any:
    """The JSON of an answer. Raises ValueError for what is none, and AnswerError for what is too deep."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if "depth limit" in str(error):
            raise _too_deep() from None
        raise
    if data.count(b"[") + data.count(b"{") > DEEPEST and is_deeper(value, DEEPEST):
        raise _too_deep()
    return value


def _too_deep() -> AnswerError:
    return AnswerError(f"at most {DEEPEST} lists and objects inside each other were expected")


def expect(value: Any, kind: Any, place: str) -> None:
    """Raises AnswerError where ``value``, which stands at ``place`` of an answer, is not of that kind.

    Within it, whole numbers that were written as ``5.0`` become what they are, where the kind says so.
    """
    _check(kind)(value, place)


_Check = Callable[[Any, str], Any]
"""Gives the value back as its kind has it."""


@cache
def _check(kind: Any) -> _Check:
    origin = get_origin(kind)
    if kind is Any:
        return _anything
    if is_typeddict(kind):
        return _members(kind)
    if origin in (Union, UnionType):
        return _one_of(get_args(kind))
    if origin is Literal:
        return _literal(get_args(kind))
    if origin is list:
        return _each(get_args(kind)[0])
    if kind is int:
        return _whole_number
    return _plain(origin or kind)


def _anything(value: Any, place: str) -> Any:
    return value


def _whole_number(value: Any, place: str) -> int:
    # JSON tells 5 from 5.0 no more than some platforms do. Whatever is whole on the wire is a count or a place.
    if type(value) is float and value.is_integer() and value < _MOST_EXACT:
        value = int(value)
    if type(value) is not int or value < 0:
        raise _other(place, "a whole number from 0 on")
    return value


def _members(kind: type) -> _Check:
    fields: list[tuple[str, bool, _Check]] = []
    for name, said in get_type_hints(kind, include_extras=True).items():
        is_needed = get_origin(said) is not NotRequired
        fields.append((name, is_needed, _check(said if is_needed else get_args(said)[0])))

    def check(value: Any, place: str) -> Any:
        if not isinstance(value, dict):
            raise _other(place, "an object")
        for name, is_needed, check_field in fields:
            if (found := value.get(name)) is not None or (is_needed and name in value):
                value[name] = check_field(found, f"{place}.{name}" if place else name)
            elif is_needed:
                raise AnswerError(f"“{f'{place}.{name}' if place else name}” was expected in it")
        return value

    return check


def _one_of(kinds: tuple[Any, ...]) -> _Check:
    (kind,) = (_check(each) for each in kinds if each is not NoneType)

    def check(value: Any, place: str) -> Any:
        return None if value is None else kind(value, place)

    return check


def _literal(words: tuple[Any, ...]) -> _Check:
    def check(value: Any, place: str) -> Any:
        if not isinstance(value, str) or value not in words:
            raise _other(place, f"one of {', '.join(words)}")
        return value

    return check


def _each(kind: Any) -> _Check:
    check_one = _check(kind)

    def check(value: Any, place: str) -> Any:
        if not isinstance(value, list):
            raise _other(place, "a list")
        for number, each in enumerate(value):
            value[number] = check_one(each, f"{place}[{number}]")
        return value

    return check


_KINDS: dict[Any, tuple[Callable[[Any], bool], str]] = {
    str: (lambda value: isinstance(value, str), "a text"),
    bool: (lambda value: isinstance(value, bool), "true or false"),
    float: (lambda value: type(value) in (int, float) and isfinite(value), "a number"),
    dict: (lambda value: isinstance(value, dict), "an object"),
    list: (lambda value: isinstance(value, list), "a list"),
}


def _plain(kind: Any) -> _Check:
    is_so, words = _KINDS[kind]

    def check(value: Any, place: str) -> Any:
        if not is_so(value):
            raise _other(place, words)
        return value

    return check


def _other(place: str, words: str) -> AnswerError:
    return AnswerError(f"“{place}” was expected to be {words}" if place else f"{words} was expected")


__all__ = ["DEEPEST", "AnswerError", "expect", "parse"]
