"""Finds the shortest clicks that lead to a ground truth, by trying them in a browser of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from rollout.language.canonical import canonical
from rollout.language.compare import compare
from rollout.language.interpolation import FillError
from rollout.language.paths import MISSING, TargetError
from rollout.language.room import OverfullError
from rollout.language.site import OWN_KEYS, EmptyTruthError, compare_values, truth_by_key
from rollout.templates import Script
from rollout.templates._browser_fields import FieldError
from rollout.templates._browser_session import ActionError, Session

MOST_STEPS = 20
"""How many clicks a path may have."""

MOST_TRIED = 2_000
"""How many clicks are tried altogether."""


def search(session: Session, truth: Mapping[str, Any], verifier: Mapping[str, Any] | None) -> Script | None:
    """The shortest path of clicks after which the site is as the ground truth says, or None when none was found.

    Where the verifier asks for a page to be reached, the path ends there.
    """
    start = session.final()
    try:
        wanted = truth_by_key(truth, start)
    except EmptyTruthError:
        return None
    if not wanted:
        return None
    pages = [
        primitive["url"]
        for primitive in (verifier or {}).get("primitives") or ()
        if isinstance(primitive, dict)
        and primitive.get("type") == "page_reached"
        and primitive.get("not") is not True
        and isinstance(primitive.get("url"), str)
    ]
    ahead: deque[tuple[Session, Script]] = deque([(session, [])])
    met = {_mark(session)}
    tried = 0
    while ahead:
        here, path = ahead.popleft()
        if _reached(here.final(), start, wanted, pages):
            return path
        if len(path) == MOST_STEPS:
            continue
        for ref in _clickable(here):
            tried += 1
            if tried > MOST_TRIED:
                return None
            after = here.copy()
            try:
                after.click(ref)
                after.show()
            except (ActionError, FieldError, FillError, TargetError, OverfullError):
                continue
            mark = _mark(after)
            if mark not in met:
                met.add(mark)
                ahead.append((after, [*path, {"tool": "click", "args": {"element": ref}}]))
    return None


def _clickable(session: Session) -> Iterator[str]:
    try:
        seen = list(session.show().all())
    except (FillError, OverfullError):
        return
    for each in seen:
        if each.element.type in ("link", "button") and each.element.spec.get("disabled") is not True:
            yield each.element.ref


def _mark(session: Session) -> bytes:
    # What was entered stays as it was at the start, since only links and buttons are clicked.
    return canonical([session.visit.url, session.state, session.final()["values"]])


def _reached(
    now: Mapping[str, Any], start: Mapping[str, Any], wanted: Mapping[str, Any], pages: list[str]
) -> bool:
    if any(now["url"] != page for page in pages):
        return False
    for key, value in wanted.items():
        difference = compare_values if key == "values" else compare
        if difference(value, now.get(key, MISSING)) is not None:
            return False
    return all(
        key in wanted or key in OWN_KEYS or compare(start.get(key, MISSING), now.get(key, MISSING)) is None
        for key in now.keys() | start.keys()
    )


__all__ = ["MOST_STEPS", "MOST_TRIED", "search"]
