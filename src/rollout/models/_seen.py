"""What has been said so far that looks like the name of something: ids, addresses, values under a key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

_WORD = re.compile(r"[A-Za-z0-9][\w.@/-]*[A-Za-z0-9]")
_MOST_WORDS = 200
_LONGEST_TEXT = 20_000


def words(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Words of the conversation that look like names of things: they have a digit or an @ in them."""
    found: dict[str, None] = {}
    for content in _contents(messages):
        for word in _WORD.findall(content[:_LONGEST_TEXT]):
            if len(word) <= 80 and ("@" in word or any(each.isdigit() for each in word)):
                found[word] = None
    return list(found)[-_MOST_WORDS:]


def values(messages: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    """Texts and numbers that stand under ``key`` in what was read as JSON; for ``order_id`` also under ``id``.

    Behind them come the members of lists of texts, such as the paths of files.
    """
    found: dict[Any, None] = {}
    listed: dict[Any, None] = {}
    for content in _contents(messages):
        for value in _parsed(content):
            for under, member in _members(value):
                if under is None:
                    listed[member] = None
                elif under == key or key.endswith(f"_{under}"):
                    found[member] = None
    return list(found | listed)[:_MOST_WORDS]


def _contents(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for message in messages:
        if message["role"] != "assistant" and isinstance(message.get("content"), str):
            yield message["content"]


def _parsed(content: str) -> Iterator[Any]:
    # What a task's input says stands as JSON behind its instruction.
    for text in (content, content.rpartition("\n\nInput:\n")[2]):
        if text.lstrip()[:1] in ("{", "["):
            try:
                yield orjson.loads(text)
            except orjson.JSONDecodeError:
                continue


def _members(value: Any) -> Iterator[tuple[str | None, str | int | float]]:
    """Texts and numbers with the key they stand under; texts in lists with none."""
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, str):
            yield None, current
        elif isinstance(current, list):
            stack.extend(reversed(current))
        elif isinstance(current, dict):
            for key, member in current.items():
                if isinstance(member, str | int | float) and not isinstance(member, bool):
                    yield key, member
                else:
                    stack.append(member)


__all__ = ["values", "words"]
