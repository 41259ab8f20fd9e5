"""A review for programs: every change with its route and both values, in one shape that is kept stable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rollout.compile.change import Change, Version
from rollout.compile.masked import masked
from rollout.compile.review import Entry


def describe(entries: Sequence[Entry], notes: Sequence[str] = ()) -> dict[str, Any]:
    """``{"comparable": bool, "notes": […], "environments": [{label, slug, before, after, changes: […], …}]}``.

    ``before`` and ``after`` of an environment are ``{slug, name, digest, tasks}`` or null; those of a change are the
    JSON values, null for what was not there (``kind`` tells that from a null that was).
    """
    return {
        "comparable": all(entry.is_comparable for entry in entries),
        "differences": sum(entry.differs for entry in entries),
        "notes": list(notes),
        "environments": [_entry(masked(entry)) for entry in entries],
    }


def _entry(entry: Entry) -> dict[str, Any]:
    difference = entry.difference
    return {
        "label": entry.label,
        "slug": difference.slug if difference else None,
        "comparable": entry.is_comparable,
        "conclusion": entry.conclusion,
        "trouble": entry.trouble,
        "errors": list(entry.errors),
        "before": _version(difference.before) if difference else None,
        "after": _version(difference.after) if difference else None,
        "counts": {effect.value: count for effect, count in difference.counts.items()} if difference else {},
        "kept_tasks": difference.kept_tasks if difference else 0,
        "notes": list(difference.notes) if difference else [],
        "changes": [_change(change) for change in difference.changes] if difference else [],
    }


def _version(version: Version | None) -> dict[str, Any] | None:
    if version is None:
        return None
    return {
        "slug": version.slug,
        "name": version.name,
        "digest": version.digest,
        "tasks": version.tasks,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "subject": change.subject,
        "label": change.label,
        "route": list(change.route),
        "before": change.before,
        "after": change.after,
        "effect": change.effect.value,
    }


__all__ = ["describe"]
