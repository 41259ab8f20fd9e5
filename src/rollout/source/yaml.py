"""Reads YAML with the meaning of the 1.2 core schema, and keeps the place of every key and value.

The text is parsed once, by libyaml where PyYAML has it, and values and places are built from the same events.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from yaml.error import YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from rollout.source.place import MAX_DEPTH, Parsed, Place, Problem
from rollout.source.text import SourceFile
from rollout.source.yaml_events import read_events
from rollout.source.yaml_keyless import DROPPED, MERGED, take_out
from rollout.source.yaml_scalars import LONGEST_SPECIAL, NUMERIC, SPECIAL, resolve

MAX_EXPANSION = 100_000
"""How many values the aliases of a file may stand for altogether."""
MAX_PROBLEMS = 1000
"""After how many errors the rest of a file is not read, and after how many warnings no more are told."""

_CORE = "tag:yaml.org,2002:"
_PLAIN_DIGITS = frozenset("123456789")
_TAG = re.compile(r"(?:&\S+\s+)?(![^\s,\[\]{}]*)")
_TAG_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (float,),
    "null": (type(None),),
    "map": (dict,),
    "seq": (list,),
}


class _Fatal(Exception):
    """The rest of the file cannot be read; a problem says why."""


class _Anchor:
    """A value that aliases may repeat: how many values it holds, and whether it is complete."""

    __slots__ = ("children", "complete", "size", "value")

    def __init__(self, value: Any, children: Any, size: int, *, complete: bool) -> None:
        self.value = value
        self.children = children
        self.size = size
        self.complete = complete


def parse(source: SourceFile, problems: list[Problem]) -> Parsed | None:
    """The value of a YAML text with its places; None when it has none, and then a problem says why.

    Where only a part is wrong (a key given twice, an unknown tag) there is a problem and a value too, so that the
    rest of it can be checked.
    """
    collecting = gc.isenabled()
    gc.disable()  # Building many small objects that all stay is several times slower with it.
    try:
        return _Composer(source, problems).compose()
    except _Fatal:
        return None
    finally:
        if collecting:
            gc.enable()


class _Composer:
    """Builds one value and its places from the events of a parser."""

    def __init__(self, source: SourceFile, problems: list[Problem]) -> None:
        self.source = source
        self.problems = problems
        self.anchors: dict[str, _Anchor] = {}
        self.repeated = 0
        self.told = [0, 0]
        # Keys that were found to be in order; most keys of a file come again and again.
        self.names: dict[str, str] = {}

    def compose(self) -> Parsed | None:
        # One loop over local names, without a call for the common scalar: every command waits for this.
        source, text = self.source, self.source.text
        names = self.names
        stack: list[tuple[Any, Any, Any, int, int, int, _Anchor | None, int]] = []
        container: Any = None
        children: Any = None
        key: Any = None
        key_start = key_end = -1
        at = start = end = first_node = nodes = documents = 0
        anchor: _Anchor | None = None
        mapping = odd = False
        root: Parsed | None = None
        value: Any
        try:
            next_event = read_events(text)
        except YAMLError as error:
            self._give_up(error, 0, 0, [])
        while True:
            try:
                event = next_event()
            except YAMLError as error:
                self._give_up(error, at, end, [*(frame[5] for frame in stack[1:]), start])
            kind = type(event)
            if kind is ScalarEvent:
                nodes += 1
                value = event.value
                at = event.start_mark.index
                last, end = end, event.end_mark.index
                if at == end:
                    at = end = self._settle(last, at)
                if mapping and key is None:
                    key_start, key_end = at, end
                    if value in names and event.tag is None and event.anchor is None:
                        key = names[value]
                        if key in container:
                            key = self._unique(key, at, end, children)
                            odd = True
                    else:
                        key = self._key(event, at, end, children)
                        odd = odd or key is DROPPED or key is MERGED
                    continue
                style = event.style
                if style == "|" or style == ">":
                    end = self._block_end(at, end)
                if event.tag is not None:
                    value = self._tagged(event, at, end)
                elif not style and (
                    value[:1] in NUMERIC or (len(value) <= LONGEST_SPECIAL and value in SPECIAL)
                ):
                    value = self._plain(value, at, end)
                if event.anchor is not None:
                    self.anchors[event.anchor] = _Anchor(value, None, 1, complete=True)
                if mapping:
                    container[key] = value
                    children[key] = Place(source, at, end, None, key_start, key_end)
                    key = None
                elif stack:
                    container.append(value)
                    children.append(Place(source, at, end))
                elif at != end:
                    root = Parsed(value, Place(source, at, end))
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                stack.append((container, children, key, key_start, key_end, start, anchor, first_node))
                start = end = event.start_mark.index
                if len(stack) > MAX_DEPTH:
                    self._fail("too-deep", start, start + 1, max_depth=MAX_DEPTH)
                nodes += 1
                first_node = nodes + self.repeated
                mapping = kind is MappingStartEvent
                if mapping:
                    container, children, key = {}, {}, None
                else:
                    container, children = [], []
                if event.tag is not None:
                    self._check_tag(event, "map" if mapping else "seq")
                anchor = None
                if event.anchor is not None:
                    anchor = self.anchors[event.anchor] = _Anchor(container, children, 0, complete=False)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                # The parser notices the end of a block collection only at what comes after it.
                closed = event.end_mark.index
                if closed > event.start_mark.index:
                    end = closed
                if odd and mapping:
                    take_out(container, children)
                    if not container and text.startswith("{{", start):
                        # A placeholder of a template language, without the quotes that would make it text.
                        container, children = text[start:end], None
                if anchor is not None:
                    anchor.size = nodes + self.repeated - first_node + 1
                    anchor.complete = True
                value, place = container, Place(source, start, end, children)
                container, children, key, key_start, key_end, start, anchor, first_node = stack.pop()
                mapping = type(container) is dict
                if mapping:
                    if key is None:
                        self._not_a_string(value, place.start, place.end)
                        key, key_start, key_end, odd = DROPPED, place.start, place.end, True
                        continue
                    place.key_start, place.key_end = key_start, key_end
                    container[key] = value
                    children[key] = place
                    key = None
                elif stack:
                    container.append(value)
                    children.append(place)
                else:
                    root = Parsed(value, place)
            elif kind is AliasEvent:
                at, end = event.start_mark.index, event.end_mark.index
                found = self._repeat(event.anchor, at, end, len(stack))
                if mapping and key is None:
                    key, key_start, key_end = DROPPED, at, end
                    if type(found.value) is str:
                        key = self._unique(found.value, at, end, children)
                    elif found.complete:
                        self._not_a_string(found.value, at, end)
                    odd = odd or key is DROPPED
                elif mapping:
                    container[key] = found.value
                    children[key] = Place(source, at, end, found.children, key_start, key_end)
                    key = None
                elif stack:
                    container.append(found.value)
                    children.append(Place(source, at, end, found.children))
            elif kind is DocumentStartEvent:
                documents += 1
                if documents > 1:
                    self._problem("several-documents", event.start_mark.index, event.end_mark.index)
                    return root
                if event.version is not None and tuple(event.version) != (1, 2):
                    version = ".".join(map(str, event.version))
                    self._problem(
                        "yaml-surprise",
                        event.start_mark.index,
                        event.end_mark.index,
                        kind="version",
                        written=version,
                    )
            elif kind is StreamEndEvent:
                break
        if root is None:
            self._problem("empty-file", 0, 0)
        return root

    def _settle(self, last: int, at: int) -> int:
        """Where an empty value stands: behind its ``:`` or ``-``, never on a later line than what is before it."""
        return last if "\n" in self.source.text[last:at] else at

    def _block_end(self, start: int, end: int) -> int:
        """The end of a block scalar without the empty lines after it that are not part of its value."""
        text = self.source.text[start:end]
        head = text[: text.find("\n") + 1] or text
        if "+" in head.partition("#")[0]:
            return end
        kept = len(text.rstrip("\r\n"))
        line_break = text.find("\n", kept)
        return start + (line_break + 1 if line_break >= 0 else len(text))

    def _plain(self, text: str, start: int, end: int) -> Any:
        if text[:1] in _PLAIN_DIGITS and len(text) < 16 and text.isdecimal() and text.isascii():
            return int(text)
        scalar = resolve(text)
        if scalar.bad:
            self._problem("bad-number", start, end, written=text)
        elif scalar.surprise is not None:
            self._problem(
                "yaml-surprise",
                start,
                end,
                kind=scalar.surprise,
                written=text,
                value=scalar.value,
                elsewhere=scalar.elsewhere,
            )
        return scalar.value

    def _key(self, event: Any, start: int, end: int, children: Any) -> Any:
        """The key that a scalar is, or a stand-in when it cannot be one."""
        text = event.value
        value: Any = text
        if event.tag is not None and event.tag != f"{_CORE}merge":
            value = self._tagged(event, start, end)
        elif not event.style and (text == "<<" or event.tag is not None):
            self._problem("merge-key", start, end)
            return MERGED
        elif not event.style and (text[:1] in NUMERIC or text in SPECIAL):
            scalar = resolve(text)
            value = None if scalar.bad else scalar.value
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(value, None, 1, complete=True)
        if not isinstance(value, str):
            self._not_a_string(value, start, end, written=text)
            if not text:
                return DROPPED
        elif not event.style and event.tag is None:
            self.names[text] = text
        return self._unique(text, start, end, children)

    def _unique(self, key: str, start: int, end: int, children: Any) -> Any:
        first = children.get(key)
        if first is None:
            return key
        at = first.span("key")
        self._problem("duplicate-key", start, end, key=key, first=at, see=((at, "the first one"),))
        return DROPPED

    def _not_a_string(self, value: Any, start: int, end: int, *, written: str | None = None) -> None:
        if written is None:
            written = self.source.text[start:end]
        self._problem("non-string-key", start, end, written=written, value=value)

    def _tagged(self, event: Any, start: int, end: int) -> Any:
        """The value of a scalar with a tag, which may be one of the core schema's only."""
        text, tag = event.value, event.tag
        if tag in ("!", f"{_CORE}str"):
            return text
        if not self._check_tag(event, "str", "null", "bool", "int", "float"):
            return text if event.style else self._plain(text, start, end)
        name = tag.removeprefix(_CORE)
        value = self._plain(text, start, end)
        if name == "float" and type(value) is int:
            return float(value)
        if type(value) in _TAG_TYPES[name]:
            return value
        self._problem("tag-mismatch", start, end, tag=self._written_tag(start, tag)[0], written=text)
        return value

    def _check_tag(self, event: Any, *names: str) -> bool:
        """Whether the tag of ``event`` is one of ``names``; a problem, if not."""
        start, tag = event.start_mark.index, event.tag
        if tag == "!" or (tag.startswith(_CORE) and tag.removeprefix(_CORE) in names):
            return True
        written, at = self._written_tag(start, tag)
        if tag.removeprefix(_CORE) in _TAG_TYPES and tag.startswith(_CORE):
            self._problem("tag-mismatch", at, at + len(written), tag=written, written=None)
        else:
            self._problem("unknown-tag", at, at + len(written), tag=written)
        return False

    def _written_tag(self, start: int, tag: str) -> tuple[str, int]:
        found = _TAG.match(self.source.text, start)
        return (found[1], found.start(1)) if found else (tag, start)

    def _repeat(self, name: str, start: int, end: int, depth: int) -> _Anchor:
        """The anchor that an alias names; one without a value where the alias cannot stand for anything."""
        found = self.anchors.get(name)
        if found is None:
            self._problem("unknown-alias", start, end, name=name, known=list(self.anchors))
            return _Anchor(None, None, 1, complete=False)
        if not found.complete:
            self._problem("recursive-alias", start, end, name=name)
            return _Anchor(None, None, 1, complete=False)
        self.repeated += found.size
        if self.repeated > MAX_EXPANSION:
            self._fail("expanding-aliases", start, end, name=name, limit=MAX_EXPANSION)
        if found.children and depth + _height(found.value) > MAX_DEPTH:
            self._fail("too-deep", start, end, max_depth=MAX_DEPTH)
        return found

    def _give_up(self, error: YAMLError, start: int, end: int, opened: Sequence[int]) -> NoReturn:
        from rollout.source.yaml_syntax import Trail, explain

        self.problems.append(explain(self.source, error, Trail(start, end, opened)))
        raise _Fatal from None

    def _problem(self, slug: str, start: int, end: int, **facts: Any) -> None:
        surprise = slug == "yaml-surprise"
        told = self.told[surprise]
        if told < MAX_PROBLEMS:
            self.told[surprise] += 1
            self.problems.append(Problem(slug, self.source.span(start, end), facts))
        elif not surprise:
            raise _Fatal

    def _fail(self, slug: str, start: int, end: int, **facts: Any) -> NoReturn:
        self._problem(slug, start, end, **facts)
        raise _Fatal


def _height(value: Any) -> int:
    """How many collections lie inside each other in ``value``."""
    height, level = 0, [value]
    while level:
        height += 1
        inside = (member.values() if type(member) is dict else member for member in level)
        level = [member for members in inside for member in members if type(member) in (dict, list)]
    return height


__all__ = ["MAX_EXPANSION", "MAX_PROBLEMS", "parse"]
