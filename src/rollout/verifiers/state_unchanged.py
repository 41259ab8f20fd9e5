"""state_unchanged: the final state is as it was at the start: all of it, or what stands at the given paths.

A path has to be there at the start or at the end; one that is at neither is a slip of the pen, and an error. In a
browser environment the state is the site's: which page is open, its title and the values of fields belong to the
browser, and are compared only where a path names them. Values are compared by value and type, lists in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.compare import compare, show
from rollout.language.paths import MISSING, PathError, get, parse, write
from rollout.language.site import OWN_KEYS
from rollout.verifiers import CannotJudgeError, Case, Judgement, failed, passed
from rollout.verifiers._expected_files import files_of


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when nothing changed, else 0 with the first change."""
    if "paths" in options:
        return _judge_paths(case, options["paths"])
    start, final = case.initial_state, case.final_state
    if case.template == "code-editing":
        return _judge_files(files_of(start), files_of(final))
    own = OWN_KEYS if case.template == "browser" else ()
    for key in start | final:
        if key in own:
            continue
        sentence = _change((key,), start.get(key, MISSING), final.get(key, MISSING))
        if sentence is not None:
            return failed(sentence)
    return passed("The state is as it was at the start.")


def _judge_paths(case: Case, paths: list[str]) -> Judgement:
    if not paths:
        raise CannotJudgeError("“paths” names no path.")
    sides = []
    for text in paths:
        try:
            steps = parse(text).steps
        except PathError as error:
            raise CannotJudgeError(f"“{text}” is no path. {error}") from None
        before, after = get(case.initial_state, steps), get(case.final_state, steps)
        if before is MISSING and after is MISSING:
            raise CannotJudgeError(f"There is no “{text}” in the state, neither at the start nor at the end.")
        sides.append((steps, before, after))
    for steps, before, after in sides:
        sentence = _change(steps, before, after)
        if sentence is not None:
            return failed(sentence)
    named = ", ".join(f"“{text}”" for text in paths)
    return passed(f"{named} {'is' if len(paths) == 1 else 'are'} as at the start.")


def _judge_files(start: Mapping[str, str], final: Mapping[str, str]) -> Judgement:
    changed = sorted(path for path in start.keys() | final.keys() if start.get(path) != final.get(path))
    if not changed:
        return passed("No file changed.")
    first = changed[0]
    did = "deleted" if first not in final else "changed" if first in start else "made"
    more = f", and {len(changed) - 1} more changed" if len(changed) > 1 else ""
    return failed(f"“{first}” was {did}{more}.")


def _change(steps: tuple[str | int, ...], before: Any, after: Any) -> str | None:
    found = compare(before, after)
    if found is None:
        return None
    name = f"“{write((*steps, *found.path))}”"
    if found.why == "missing":
        return f"{name} is gone; it was {show(found.expected)} at the start."
    if found.why == "unexpected":
        return f"{name} is {show(found.actual)}; at the start it was not there."
    return f"{name} is {show(found.actual)}; it was {show(found.expected)} at the start."


__all__ = ["judge"]
