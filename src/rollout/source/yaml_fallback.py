"""The parser for a PyYAML that was built without libyaml: the same events, more slowly."""

from __future__ import annotations

import re
from typing import Any

from yaml.events import ScalarEvent
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

_SURROGATE = re.compile("[\ud800-\udfff]")


class PureParser(Reader, Scanner, Parser):
    """PyYAML's reader, scanner and parser put together, as far as events."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)

    def get_event(self) -> Any:
        """The next event. Raises YAMLError where libyaml would: also for half a surrogate pair."""
        event: Any = Parser.get_event(self)  # type: ignore[no-untyped-call]
        if isinstance(event, ScalarEvent) and event.style == '"' and _SURROGATE.search(event.value):
            raise ScannerError(
                "while parsing a quoted scalar",
                None,
                "found invalid Unicode character escape code",
                event.start_mark,  # type: ignore[arg-type]
            )
        return event


__all__ = ["PureParser"]
