"""ground_truth_match: the final state matches the task's ``hidden_ground_truth``.

Every key that the ground truth names is compared with the key of that name in the final state. Keys it does not name
must be as they were at the start, so that an agent that also did something else does not pass; with ``subset: true``
they are not looked at, and what is named may hold more than was asked for. This judges where there is no verifier.

In a code-editing environment it is the ground truth's ``files`` that are compared, file by file; null is for a file
that must not be there. A key or a file that the ground truth names and that is not there fails, also under ``not``.

In a browser environment ``url``, ``title`` and ``values`` are the browser's, not the site's: they are compared only
where the ground truth names them, and of ``values`` only the pages and fields that it names. Keys of the site's state
may be gathered under ``state``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.compare import compare, lacking
from rollout.language.paths import MISSING
from rollout.language.site import OWN_KEYS, EmptyTruthError, compare_values, truth_by_key
from rollout.verifiers import CannotJudgeError, Case, Judgement, absent, failed, passed
from rollout.verifiers._differences import told
from rollout.verifiers._expected_files import difference, files_of, judged_files, unasked


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the state is what the ground truth says and otherwise unchanged, else 0 with what differs."""
    if case.template == "code-editing":
        return _judge_files(case, options.get("subset", False))
    truth, final, start = case.ground_truth, case.final_state, case.initial_state
    subset = options.get("subset", False)
    in_browser = case.template == "browser"
    if in_browser:
        try:
            truth = truth_by_key(truth, start)
        except EmptyTruthError as error:
            raise CannotJudgeError(str(error), charged_to="environment") from None
    ignore_order = options.get("ignoreOrder", False)
    lost: dict[str, str] = {}
    found: dict[str, str] = {}
    for key, wanted in truth.items():
        actual = final.get(key, MISSING)
        if (lack := lacking(wanted, actual, ignore_order=ignore_order)) is not None:
            lost[key] = lack.sentence((key,))
            continue
        if in_browser and key == "values":
            difference = compare_values(wanted, actual)
        else:
            difference = compare(
                wanted,
                actual,
                ignore_order=ignore_order,
                tolerance=options.get("tolerance", 0),
                subset=subset,
            )
        if difference is not None:
            found[key] = difference.sentence((key,))
    if not subset:
        for key in start | final:
            if key in truth or (in_browser and key in OWN_KEYS):
                continue
            difference = compare(start.get(key, MISSING), final.get(key, MISSING))
            if difference is not None:
                words = difference.sentence((key,))
                found[key] = f"The ground truth does not name “{key}”, but it changed. {words}"
    if lost:
        return absent(told(lost | found))
    if found:
        return failed(told(found))
    return passed(f"The final state is what was asked for in {', '.join(f'“{key}”' for key in truth)}.")


def _judge_files(case: Case, subset: bool) -> Judgement:
    wanted, final = judged_files(case), files_of(case.final_state)
    found = difference(wanted, final)
    if found is None and not subset:
        found = unasked(wanted, files_of(case.initial_state), final)
    if found is not None:
        return found
    return passed(f"The final files are what was asked for in {', '.join(f'“{path}”' for path in wanted)}.")


__all__ = ["judge"]
