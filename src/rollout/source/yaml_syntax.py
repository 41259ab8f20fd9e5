"""Finds out what is wrong with a YAML text that cannot be parsed, and where a person should look."""

from __future__ import annotations

import re
from typing import Any

from yaml.error import MarkedYAMLError, YAMLError

from rollout.source.place import Problem
from rollout.source.text import SourceFile

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def explain(source: SourceFile, error: YAMLError) -> Problem:
    """The problem that an exception of the parser stands for."""
    if not isinstance(error, MarkedYAMLError):
        return _explain_unreadable(source)
    mark: Any = error.problem_mark or error.context_mark
    at = min(mark.index, len(source.text)) if mark is not None else 0
    return Problem("yaml-syntax", source.span(at, at + 1), {"kind": "other", "detail": error.problem})


def _explain_unreadable(source: SourceFile) -> Problem:
    found = _UNPRINTABLE.search(source.text)
    at = found.start() if found else 0
    code = ord(found[0]) if found else None
    return Problem("control-character", source.span(at, at + 1), {"code": code})


__all__ = ["explain"]
