"""What is known for certain of a document that has faults: which names there are, and what tools may change.

Before a rule says that something is *not* there, the part that it looks in has to be whole. Only that part: a
description that is missing from a tool says nothing of the tools' names.
"""

from __future__ import annotations

from typing import Any

from rollout.check.subject import Subject
from rollout.check.wording import closest
from rollout.language.path_template import parse_path_template
from rollout.language.paths import MISSING, PathError, get

_WRITING = ("kind", "appendTo", "stateArray", "mutates", "cases")
_ONLY_READS = frozenset({"lookup", "mock"})


def names_are_known(subject: Subject, *route: str, key: str = "name") -> bool:
    """Whether every member of the list at ``route`` has a text at ``key``, whatever else is wrong with them."""
    value = _at(subject, route)
    if value is MISSING:
        return subject.is_sound(*route)
    return isinstance(value, list) and all(
        isinstance(member, dict) and isinstance(member.get(key), str) for member in value
    )


def keys_are_known(subject: Subject, *route: str) -> bool:
    """Whether an object stands at ``route``, so that its keys are all there are, whatever is wrong with its values."""
    value = _at(subject, route)
    return subject.is_sound(*route) if value is MISSING else isinstance(value, dict)


def writes_are_known(subject: Subject) -> bool:
    """Whether ``subject.writes`` are all the changes that tools may make: none has a path that cannot be read."""
    tools = subject.config.get("tools")
    if "config" in subject.document.unread or not isinstance(tools, list) or len(subject.tools) != len(tools):
        return False  # those that are missing may stand in the wrong place
    for fault in subject.faults:
        if fault[:2] != ("config", "tools") or len(fault) < 3:
            continue
        view = subject.tool_views[int(fault[2])]
        if len(fault) == 3 and not view.writes and view.kind not in _ONLY_READS:
            return False
        # A key that is not known may be a misspelt one that writes.
        if len(fault) > 3 and (fault[3] in _WRITING or closest(str(fault[3]), _WRITING) is not None):
            return False
    return all(
        _is_path(text)
        for view in subject.tool_views
        for key, _, text, _ in view.paths
        if key != "fixturePath"
    )


def _is_path(text: str) -> bool:
    try:
        parse_path_template(text, appending=True)
    except PathError:
        return False
    return True


def _at(subject: Subject, route: tuple[str, ...]) -> Any:
    if route[0] in subject.document.unread:
        return None
    return get(subject.document.value, route)


__all__ = ["keys_are_known", "names_are_known", "writes_are_known"]
