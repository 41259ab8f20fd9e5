"""output_matches: the agent's last message matches a regular expression somewhere.

The dialect is that of Python's ``re``; ``^`` and ``$`` are the ends of the message (``$`` also before a line break that
ends it), and ``.`` is no line break, unless the pattern says ``(?m)`` or ``(?s)``. ``caseSensitive: false`` takes
capitals and small letters as the same. A search that does not come to an end within five seconds is an error, charged
to the verifier, whatever the message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rollout.language.compare import show
from rollout.verifiers import CannotJudgeError, Case, Judgement, absent, failed, passed
from rollout.verifiers._search import SearchError, search

LIMITS_ITSELF = True

SECONDS = 5.0


async def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the pattern is found, else 0; the reason shows what was found."""
    pattern, output = options["pattern"], case.final_output
    if not pattern:
        raise CannotJudgeError("“pattern” is empty, which every message matches.")
    flags = 0 if options.get("caseSensitive", True) else re.IGNORECASE
    try:
        found = await search(pattern, flags, output, seconds=SECONDS)
    except SearchError as error:
        raise CannotJudgeError(f"The pattern “{pattern}” {error}.") from None
    if found is None:
        if not output.strip():
            return absent(f"There is no last message for “{pattern}” to match.")
        return failed(f"“{pattern}” matches nothing in the last message: {show(output)}.")
    return passed(f"“{pattern}” matches {show(output[slice(*found)])}.")


__all__ = ["judge"]
