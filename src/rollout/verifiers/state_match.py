"""state_match: the final state holds what is expected, path by path.

``expected`` maps paths (``refunds.length``, ``refunds[0].order_id``) to values, which are compared by value and type.
A path that is not there fails and is named, and so does a key that is missing in what an expected object is compared
with; that holds for an expected null too, and under ``not``, whatever else differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.compare import compare, lacking
from rollout.language.paths import MISSING, PathError, get, kind, nearest, parse, write
from rollout.verifiers import CannotJudgeError, Case, Judgement, absent, failed, passed


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when every path holds what is expected, else 0 with the first difference."""
    expected = options["expected"]
    if not expected:
        raise CannotJudgeError("“expected” names no path.")
    ignore_order = options.get("ignoreOrder", False)
    paths = {text: _steps(text) for text in expected}
    for text, steps in paths.items():
        actual = get(case.final_state, steps)
        if actual is MISSING:
            return absent(_missing(case.final_state, text, steps))
        if (lack := lacking(expected[text], actual, ignore_order=ignore_order)) is not None:
            return absent(lack.sentence(steps))
    for text, steps in paths.items():
        difference = compare(
            expected[text],
            get(case.final_state, steps),
            ignore_order=ignore_order,
            tolerance=options.get("tolerance", 0),
            subset=options.get("subset", False),
        )
        if difference is not None:
            return failed(difference.sentence(steps))
    named = ", ".join(f"“{text}”" for text in expected)
    return passed(f"{named} {'is' if len(expected) == 1 else 'are'} as expected.")


def _steps(text: str) -> tuple[str | int, ...]:
    try:
        return parse(text).steps
    except PathError as error:
        raise CannotJudgeError(f"“{text}” is no path. {error}") from None


def _missing(state: dict[str, Any], text: str, steps: tuple[str | int, ...]) -> str:
    found, taken = nearest(state, steps)
    home = f"“{write(steps[:taken])}”" if taken else "the state"
    holds = kind(found)
    if isinstance(found, dict) and found:
        holds += f" with {', '.join(f'“{key}”' for key in list(found)[:8])}{', …' if len(found) > 8 else ''}"
    elif isinstance(found, list):
        holds += f" of {len(found)}"
    return f"There is no “{text}” in the final state; {home} is {holds}."


__all__ = ["judge"]
