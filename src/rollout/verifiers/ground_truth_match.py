"""ground_truth_match: the final state matches the task's ``hidden_ground_truth``.

Every key that the ground truth names is compared with the key of that name in the final state. Keys it does not name
must be as they were at the start, so that an agent that also did something else does not pass; with ``subset: true``
they are not looked at, and what is named may hold more than was asked for. This judges where there is no verifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.compare import compare
from rollout.language.paths import MISSING
from rollout.verifiers import Case, Judgement, failed, passed


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the state is what the ground truth says and otherwise unchanged, else 0 with the first difference."""
    truth, final, start = case.ground_truth, case.final_state, case.initial_state
    subset = options.get("subset", False)
    for key, wanted in truth.items():
        difference = compare(
            wanted,
            final.get(key, MISSING),
            ignore_order=options.get("ignoreOrder", False),
            tolerance=options.get("tolerance", 0),
            subset=subset,
        )
        if difference is not None:
            return failed(difference.sentence((key,)))
    if not subset:
        for key in start | final:
            if key in truth:
                continue
            difference = compare(start.get(key, MISSING), final.get(key, MISSING))
            if difference is not None:
                return failed(
                    f"The ground truth does not name “{key}”, but it changed. {difference.sentence((key,))}"
                )
    return passed(f"The final state is what was asked for in {', '.join(f'“{key}”' for key in truth)}.")


__all__ = ["judge"]
