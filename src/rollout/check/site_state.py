"""What a site's pages may bring about in its state: why a value of the ground truth is never in it.

Whatever is filled in from a form or from the state may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.check.site import elements
from rollout.check.subject import Subject
from rollout.check.values import described, shown
from rollout.check.wording import closest, listed, quoted, suggestion
from rollout.check.writable import Terms, Unreached, left_out
from rollout.language.compare import compare
from rollout.language.path_template import PathTemplate, parse_path_template
from rollout.language.paths import MISSING, PathError
from rollout.language.placeholders import parse

_ARGUMENTS = "${args}"
_Change = tuple[PathTemplate, Any]


class SiteState:
    """All that the pages may do to the state, prepared once for many questions; only for a sound config."""

    def __init__(self, subject: Subject) -> None:
        self._start = subject.initial_state
        changes = [
            each for page in subject.pages for element in elements(page) for each in _changes(element.value)
        ]
        self._changes = [each for each in changes if each is not None]
        # Where a path cannot be read, or its first step is filled in, any part may be changed.
        self.is_known = len(self._changes) == len(changes) and all(path.known for path, _ in self._changes)

    def unreached(self, key: str, wanted: Any, terms: Terms) -> Unreached | None:
        """Why the state never has ``wanted`` as its part ``key``; None where it may, or has no such part."""
        start = self._start.get(key, MISSING)
        changes = [(path, value) for path, value in self._changes if str(path.known[0]) == key]
        if not self.is_known or (start is not MISSING and compare(wanted, start, **terms) is None):
            return None
        if not changes:
            if start is MISSING:
                return None  # another rule says that there is no such part
            return Unreached(
                (key,),
                f"nothing on the site changes {quoted(key)}, which is {shown(start)} and never {shown(wanted)}",
            )
        if any(len(path.pieces) > 1 for path, _ in changes):
            return None
        values = [value for _, value in changes]
        appending = {path.appends for path, _ in changes}
        if appending == {True} and isinstance(start, list | type(MISSING)):
            return _never_added(key, start if isinstance(start, list) else [], wanted, values, terms)
        if appending == {False} and not any(_may_be(each, wanted, terms) for each in values):
            return Unreached((key,), f"the site never sets {quoted(key)} to {shown(wanted)}")
        return None


def _changes(element: Mapping[str, Any]) -> list[_Change | None]:
    written = element.get("mutates")
    found: list[_Change | None] = []
    for change in written if isinstance(written, list) else [] if written is None else [written]:
        try:
            path = parse_path_template(change["path"], appending=True)
        except (PathError, KeyError, TypeError):
            found.append(None)
        else:
            found.append((path, change.get("value", _ARGUMENTS)))
    return found


def _never_added(
    key: str, present: list[Any], wanted: Any, values: list[Any], terms: Terms
) -> Unreached | None:
    if not isinstance(wanted, list):
        why = f"{quoted(key)} is a list that the site adds to, and {described(wanted)} is none"
        return Unreached((key,), why, "Write the whole list as it is at the end: [ … ].")
    for index, row in enumerate(wanted):
        if any(_may_be(each, row, terms) for each in values):
            continue
        if any(compare(row, each, **terms) is None for each in present):
            continue
        why = f"nothing on the site adds {shown(row, 60)} to {quoted(key)}"
        return Unreached((key, index), why, _way_out(row, values))
    return left_out((key,), present, wanted, terms)


def _way_out(row: Any, values: list[Any]) -> str | None:
    """Which fields are meant where all that is added are objects."""
    if not all(isinstance(each, dict) for each in values):
        return None
    fields = list(dict.fromkeys(name for each in values for name in each))
    if isinstance(row, dict):
        left = [name for name in fields if name not in row]
        for name in row:
            if name not in fields and (near := closest(name, left)) is not None:
                return suggestion(near, name)
    return f"What is added are objects with {listed(fields)}." if fields else None


def _may_be(value: Any, wanted: Any, terms: Terms) -> bool:
    """Whether what the site writes as ``value`` may come to ``wanted``."""
    if value == _ARGUMENTS:
        return isinstance(wanted, dict)
    if isinstance(value, str) and "$" in value:
        parsed = parse(value)
        return bool(parsed.faults or parsed.whole or not parsed.placeholders or isinstance(wanted, str))
    if isinstance(value, dict):
        if not isinstance(wanted, dict):
            return False
        if any("$" in name for name in value):
            return True
        is_whole = wanted.keys() == value.keys()
        if not is_whole and not (terms["subset"] and wanted.keys() <= value.keys()):
            return False
        return all(_may_be(value[name], each, terms) for name, each in wanted.items())
    if isinstance(value, list):
        return isinstance(wanted, list)
    return compare(wanted, value, **terms) is None


__all__ = ["SiteState"]
