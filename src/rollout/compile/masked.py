"""Takes secrets out of a review before it is shown: it ends up in logs, in comments and on the pages of a CI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rollout.check.masking import without_secrets_in
from rollout.compile.change import Change, Difference, Version
from rollout.compile.review import Entry

_OTHER = " (another)"


def masked(entry: Entry) -> Entry:
    """``entry`` with each secret that its environments hold cut down to how it begins, wherever it stands."""
    difference = entry.difference
    trouble = None if entry.trouble is None else without_secrets_in(entry.trouble)
    if difference is None:
        return replace(entry, trouble=trouble)
    errors = tuple(without_secrets_in(sentence, difference.secrets) for sentence in entry.errors)
    return replace(entry, difference=_difference(difference), trouble=trouble, errors=errors)


def _difference(difference: Difference) -> Difference:
    known = difference.secrets
    if not known:
        return difference
    return replace(
        difference,
        before=_version(difference.before, known),
        after=_version(difference.after, known),
        changes=tuple(_change(change, known) for change in difference.changes),
        notes=tuple(without_secrets_in(note, known) for note in difference.notes),
        unseen_code=tuple(without_secrets_in(name, known) for name in difference.unseen_code),
        secrets={},
    )


def _version(version: Version | None, known: Mapping[str, str]) -> Version | None:
    if version is None:
        return None
    slug, name = (without_secrets_in(text, known) for text in (version.slug, version.name))
    return replace(version, slug=slug, name=name)


def _change(change: Change, known: Mapping[str, str]) -> Change:
    before, after = _value(change.before, known), _value(change.after, known)
    if before == after and isinstance(after, str):
        # Nothing but a secret changed. That it did shall be seen.
        shown = next((each for each in known.values() if each in after), "")
        after = after.replace(shown, shown + _OTHER) if shown else after + _OTHER
    return replace(
        change,
        label=without_secrets_in(change.label, known),
        route=tuple(without_secrets_in(key, known) if isinstance(key, str) else key for key in change.route),
        before=before,
        after=after,
    )


def _value(value: Any, known: Mapping[str, str]) -> Any:
    match value:
        case str():
            return without_secrets_in(value, known)
        case dict():
            return {without_secrets_in(key, known): _value(member, known) for key, member in value.items()}
        case list():
            return [_value(member, known) for member in value]
    return value


__all__ = ["masked"]
