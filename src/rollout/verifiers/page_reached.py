"""page_reached: the page that is open at the end has this URL.

``url`` is the URL of one of the site's pages, just as it is declared there. A page that was only passed through does
not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.verifiers import CannotJudgeError, Case, Judgement, failed, passed


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the page is open at the end, else 0 with the one that is."""
    url, reached = options["url"], case.final_state.get("url")
    if not isinstance(reached, str) or not isinstance(case.final_state.get("values"), dict):
        raise CannotJudgeError("The final state is not that of a browser: it has no page.")
    if reached == url:
        return passed(f"The page “{url}” is open at the end.")
    if url in case.final_state["values"]:
        return failed(f"The page “{url}” was opened, but “{reached}” is open at the end.")
    return failed(f"The page “{url}” was not reached; “{reached}” is open at the end.")


__all__ = ["judge"]
