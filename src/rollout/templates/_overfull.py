"""Whom it is charged to when a call makes more than there is room for: the environment, or the model that said so much.

A tool that doubles what it finds is the environment's own doing. Where the model wrote a great deal itself, it gets an
error instead and may try with less.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rollout.language.room import MOST_MADE, MOST_OF_THE_MODEL, OverfullError, weight
from rollout.templates import Result, TemplateError


class Given:
    """How much a model has given to the tools of one rollout."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, args: Mapping[str, Any]) -> None:
        """Counts the arguments of a call."""
        self._bytes += weight(args)

    def refuse(self, tool: str, error: OverfullError) -> Result:
        """The error that the model gets. Raises TemplateError where it gave too little to be the cause."""
        if self._bytes < MOST_OF_THE_MODEL:
            raise TemplateError(f"The tool “{tool}” {error}.") from None
        return Result.failed(
            f"With so much in its arguments, “{tool}” {error}, which is not possible. Send less."
        )


def answered(result: Result) -> Result:
    """The result. Raises OverfullError where it is larger than one call may come to."""
    if len(result.content) > MOST_MADE:
        raise OverfullError(f"answers with more than {MOST_MADE:,} characters")
    return result


__all__ = ["Given", "answered"]
