"""Expressions that are no more than paths, told without the evaluator, which copies all that it is shown.

``state.orders[args.order_id]``, ``args.order_id in state.orders``, and ``!`` before either. What is not there, or not
of the kind that is asked for, is left to the evaluator, whose words an agent gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rollout.language.cel_tokens import Token

Told = Callable[[Mapping[str, Any]], Any]
"""Works the value out of the roots. Raises UntoldError."""


class UntoldError(LookupError):
    """A path that leads nowhere, or values that do not go together."""


class _OtherError(Exception):
    """The expression is more than paths."""


def prepare(words: tuple[Token, ...], roots: tuple[str, ...]) -> Told | None:
    """How an expression is told without the evaluator; None where it is more than paths."""
    try:
        told, after = _membership(words, 0, roots)
    except (_OtherError, IndexError):
        return None
    return told if after == len(words) else None


def _membership(words: tuple[Token, ...], at: int, roots: tuple[str, ...]) -> tuple[Told, int]:
    if words[at].text == "!":
        inner, after = _membership(words, at + 1, roots)
        if words[at + 1].text != "(":
            raise _OtherError  # `!a in b` is `(!a) in b`
        return (lambda values: not _truth(inner(values))), after
    if words[at].text == "(":
        inner, after = _membership(words, at + 1, roots)
        if words[after].text != ")":
            raise _OtherError
        return inner, after + 1
    left, after = _path(words, at, roots)
    if after < len(words) and words[after].text == "in":
        right, after = _path(words, after + 1, roots)
        return (lambda values: _is_key(left(values), right(values))), after
    return left, after


def _path(words: tuple[Token, ...], at: int, roots: tuple[str, ...]) -> tuple[Told, int]:
    root = words[at].text
    if root not in roots:
        raise _OtherError
    steps: list[Told] = []
    at += 1
    while at < len(words) and words[at].text in (".", "["):
        if words[at].text == ".":
            key = words[at + 1]
            if not key.is_name or (at + 2 < len(words) and words[at + 2].text == "("):
                raise _OtherError
            steps.append(_constant(key.text))
            at += 2
        else:
            step, at = _path(words, at + 1, roots)
            if words[at].text != "]":
                raise _OtherError
            steps.append(step)
            at += 1
    return (lambda values: _follow(values, root, steps)), at


def _constant(key: str) -> Told:
    return lambda values: key


def _follow(values: Mapping[str, Any], root: str, steps: list[Told]) -> Any:
    here = values.get(root)
    for step in steps:
        key = step(values)
        if isinstance(here, dict):
            if not isinstance(key, str) or key not in here:
                raise UntoldError
        elif not isinstance(here, list) or type(key) is not int or not 0 <= key < len(here):
            raise UntoldError
        here = here[key]
    return here


def _is_key(key: Any, home: Any) -> bool:
    if not isinstance(home, dict) or not isinstance(key, str):
        raise UntoldError
    return key in home


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise UntoldError
    return value


__all__ = ["Told", "UntoldError", "prepare"]
