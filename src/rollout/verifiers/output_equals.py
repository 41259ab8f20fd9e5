"""output_equals: the agent's last message is the expected text or number, and nothing else.

What is expected is ``expected``, or what stands at ``groundTruth`` in the task's ground truth. White space around the
message does not count. A number is compared as a number: ``100``, ``100.0``, ``(100).`` and ``1e2`` are all 100,
while ``100 EUR`` and ``It is 100`` are no number. A text stays a text: ``"007"`` is not 7. ``true`` and ``false`` may
be written with capitals. ``caseSensitive: false`` takes capitals and small letters as the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any
from unicodedata import normalize

from rollout.language.compare import compare, show
from rollout.language.paths import MISSING
from rollout.verifiers import CannotJudgeError, Case, Judgement, absent, failed, passed
from rollout.verifiers._expectation import expectation

_NUMBER = re.compile(
    r"[-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?|[-+−]?\.\d+(?:[eE][-+]?\d{1,3})?",
    re.ASCII,
)
_BEFORE = " \t\r\n\"'“”‘’„«»`*_([{"
_AFTER = _BEFORE + ".,;:!?)]}"
_LONGEST_NUMBER = 400


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the last message is what was expected, else 0 with what it is."""
    expected, home, charged_to = expectation(case, options)
    if expected is MISSING:
        raise CannotJudgeError("There is neither “expected” nor “groundTruth”.")
    if expected is None or isinstance(expected, list | dict):
        raise CannotJudgeError(f"{home} is {show(expected)}, which no message can be.", charged_to=charged_to)
    if isinstance(expected, str) and not expected.strip():
        raise CannotJudgeError(
            f"{home} is empty, which every agent that says nothing would be.", charged_to=charged_to
        )
    output = case.final_output
    if not output.strip():
        return absent(f"There is no last message; {show(expected)} was expected.")
    if _is_expected(expected, output, options.get("caseSensitive", True)):
        return passed(f"The last message is {show(expected)}.")
    return failed(f"The last message is {show(output)}; {show(expected)} was expected.")


def _is_expected(expected: str | int | float | bool, output: str, case_sensitive: bool) -> bool:
    if isinstance(expected, bool):
        return output.lstrip(_BEFORE).rstrip(_AFTER).lower() == ("true" if expected else "false")
    if isinstance(expected, int | float):
        number = _number(output)
        return number is not None and compare(expected, number) is None
    wanted, found = _text(expected), _text(output)
    return wanted == found if case_sensitive else wanted.casefold() == found.casefold()


def _text(text: str) -> str:
    # What looks the same is the same, however its accents and line breaks are made.
    return normalize("NFC", text.replace("\r\n", "\n")).strip()


def _number(output: str) -> int | float | None:
    """The number that a message is; None when it is anything else."""
    text = output.lstrip(_BEFORE).rstrip(_AFTER)
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    plain = text.replace(",", "").replace("−", "-")
    if re.fullmatch(r"[-+]?\d+", plain):
        return int(plain)
    value = float(plain)
    return value if math.isfinite(value) else None


__all__ = ["judge"]
