"""What a primitive expects: the value that it says itself, or the one at a path in the task's ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.paths import MISSING, PathError, get, parse
from rollout.models import Blame
from rollout.verifiers import CannotJudgeError, Case


def expectation(case: Case, options: Mapping[str, Any], key: str = "expected") -> tuple[Any, str, Blame]:
    """The expected value, what it is called in a sentence, and whom it is charged to when it is no good.

    Raises CannotJudgeError where ``groundTruth`` leads nowhere. Without ``key`` and ``groundTruth`` it is MISSING.
    """
    if key in options:
        return options[key], f"“{key}”", "verifier"
    path = options.get("groundTruth")
    if path is None:
        return MISSING, f"“{key}”", "verifier"
    try:
        found = get(case.ground_truth, parse(path).steps)
    except PathError as error:
        raise CannotJudgeError(f"“{path}” is no path. {error}") from None
    home = f"“{path}” in the task's ground truth"
    if found is MISSING:
        raise CannotJudgeError(f"There is no {home}.", charged_to="environment")
    return found, home, "environment"


__all__ = ["expectation"]
