"""Compiles the regular expressions that authors write, without a word to the terminal."""

from __future__ import annotations

import re
import warnings


def compile_pattern(text: str) -> re.Pattern[str]:
    """The pattern in Python's dialect. Raises re.error for one that is none, or that is nested too deeply."""
    try:
        with warnings.catch_warnings():
            # Python warns of [[ and such, which may mean something else in later versions.
            warnings.simplefilter("ignore")
            return re.compile(text)
    except (RecursionError, OverflowError):
        raise re.error("it is nested too deeply, or repeats too often, to be compiled") from None


__all__ = ["compile_pattern"]
