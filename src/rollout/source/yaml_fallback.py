"""The parser for a PyYAML that was built without libyaml: the same events, more slowly."""

from __future__ import annotations

from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner


class PureParser(Reader, Scanner, Parser):
    """PyYAML's reader, scanner and parser put together, as far as events."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)


__all__ = ["PureParser"]
