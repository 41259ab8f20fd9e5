"""What an author wrote, changed to say another version: in their words wherever it says the same as before."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from rollout.compile.yaml_patch import exact

_ABSENT = object()


def merge(raw: Any, before: Any, after: Any) -> Any:
    """``after`` in the words of ``raw``, which says ``before`` and perhaps what is only local."""
    if before is not _ABSENT and exact(before) == exact(after):
        return raw
    if isinstance(raw, dict) and isinstance(before, dict) and isinstance(after, dict):
        merged = {}
        for key, value in raw.items():
            if key in after:
                merged[key] = merge(value, before.get(key, _ABSENT), after[key])
            elif key not in before:
                merged[key] = value
        for key, value in after.items():
            if key not in raw and not (key in before and exact(before[key]) == exact(value)):
                merged[key] = value
        return merged
    if (
        isinstance(raw, list)
        and isinstance(before, list)
        and isinstance(after, list)
        and len(raw) == len(before)
    ):
        return list(_merged_list(raw, before, after))
    return after


def _merged_list(raw: list[Any], before: list[Any], after: list[Any]) -> Iterator[Any]:
    named = {_name(each): index for index, each in enumerate(before) if _name(each) is not None}
    matcher = SequenceMatcher(None, [exact(each) for each in before], [exact(each) for each in after], False)
    for what, low, high, new_low, new_high in matcher.get_opcodes():
        for step, value in enumerate(after[new_low:new_high]):
            if what == "equal":
                yield raw[low + step]
            elif (index := named.get(_name(value))) is not None:
                yield merge(raw[index], before[index], value)
            elif _name(value) is None and high - low == new_high - new_low:
                yield merge(raw[low + step], before[low + step], value)
            else:
                yield value


def _name(value: Any) -> str | None:
    """What a tool, a primitive, a page or an element is known by among its siblings."""
    if isinstance(value, dict):
        for key in ("name", "url", "id"):
            if isinstance(value.get(key), str):
                return str(value[key])
    return None


__all__ = ["merge"]
