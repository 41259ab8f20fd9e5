"""Where the texts of a file end and its comments begin, in the formats that have comments: YAML and TOML."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from rollout.source.text import SourceFile

SUFFIXES = (".yaml", ".yml", ".toml")
"""How the names of the files end that can have comments."""

# In TOML quotes open texts everywhere but in comments, and a text hides no comment.
_TOML = re.compile(
    r"(?P<comment>#[^\n]*)"
    r'|"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'[^'\n]*'?",
    re.DOTALL,
)


class Texts:
    """The stretches of a file in which a ``#`` begins no comment: its scalars, keys among them."""

    def __init__(self, source: SourceFile) -> None:
        text = source.text
        spans = list(_in_toml(text) if source.path.name.endswith(".toml") else _in_yaml(text))
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def end_of(self, offset: int) -> int | None:
        """Where the text around ``offset`` ends; None outside of every text."""
        at = bisect_right(self._starts, offset) - 1
        return self._ends[at] if at >= 0 and offset < self._ends[at] else None


def _in_toml(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _TOML.finditer(text) if match["comment"] is None)


def _in_yaml(text: str) -> Iterator[tuple[int, int]]:
    # Imported when needed: a file that is all TOML needs no reader of YAML.
    from yaml.error import YAMLError
    from yaml.events import ScalarEvent, StreamEndEvent

    from rollout.source.yaml_events import read_events

    event: Any
    end = 0
    try:
        next_event = read_events(text)
        while type(event := next_event()) is not StreamEndEvent:
            start, end = event.start_mark.index, event.end_mark.index
            if type(event) is not ScalarEvent:
                continue
            if event.style in ("|", ">"):
                # A comment may stand behind the sign that begins the block.
                header = text.find("\n", start, end)
                start = end if header < 0 else header + 1
            yield start, end
    except YAMLError:
        # What cannot be read has no comments.
        yield end, len(text)


__all__ = ["SUFFIXES", "Texts"]
