"""The events of a YAML text: from libyaml where PyYAML has it, else, more slowly, from the parser in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from yaml.events import ScalarEvent
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner, ScannerError

# A line ends at LF or CR in YAML 1.2. YAML 1.1, which the parser knows, has three more, so they sit it out.
_BREAKS_OF_1_1 = "\u0085\u2028\u2029"
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


make_parser: Callable[[str], Any]
try:
    from yaml._yaml import CParser as make_parser
except ImportError:
    make_parser = PureParser


def read_events(text: str) -> Callable[[], Any]:
    """What yields the events of ``text`` one by one, with its line breaks counted as YAML 1.2 does."""
    if not any(character in text for character in _BREAKS_OF_1_1):
        next_event: Callable[[], Any] = make_parser(text).get_event
        return next_event
    used = set(text)
    unused = (code for code in (*range(0xE000, 0xF900), *range(0xF0000, 0xFFFFE)) if chr(code) not in used)
    # A text that uses every private character there is keeps the line breaks of YAML 1.1.
    away = dict(zip(map(ord, _BREAKS_OF_1_1), unused, strict=False))
    back = {stand_in: character for character, stand_in in away.items()}
    next_event = make_parser(text.translate(away)).get_event

    def restored() -> Any:
        event = next_event()
        if type(event) is ScalarEvent:
            event.value = event.value.translate(back)
        return event

    return restored


__all__ = ["PureParser", "make_parser", "read_events"]
