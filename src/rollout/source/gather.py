"""Gathers a config key that is spread over a folder: ``fixtures/``, ``files/`` or ``pages/``.

The template's schema marks such keys with ``x-spread``. Its kind says how the folder is read: ``data`` makes one
member of every file (``fixtures/orders.csv`` is ``orders``), ``text`` maps every path to its content, and ``page``
lists the pages, sorted by file name.
"""

from __future__ import annotations

from typing import Any

from rollout.diagnostics import Span
from rollout.source.file import decode, read_bytes, read_source, whole
from rollout.source.formats import read_data
from rollout.source.layout import STRUCTURED, TABULAR
from rollout.source.listing import Entry, Listing
from rollout.source.place import Parsed, Place, Problem
from rollout.source.text import SourceFile

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""How much text all files of an environment may hold together."""

_BOM = b"\xef\xbb\xbf"


class Gathering:
    """The files read so far, whether all of them could be, and which of them nobody reads."""

    def __init__(self, listing: Listing, problems: list[Problem]) -> None:
        self.listing = listing
        self.problems = problems
        self.sources: list[SourceFile] = []
        self.stray: list[tuple[Entry, tuple[str, ...]]] = []
        self.is_whole = True

    def read(self, kind: str, key: str, folder: Entry) -> Parsed | None:
        """What the files in ``folder`` are together; None when there are none, or all are broken."""
        match kind:
            case "data":
                return self._read_members(key, folder)
            case "text":
                return self._read_texts(folder)
            case _:
                return self._read_pages(key, folder)

    def read_file(self, entry: Entry) -> Parsed | None:
        """One data file, with the file added to ``sources``."""
        parsed = read_data(entry.path, entry.label, self.problems)
        if parsed is None:
            self.is_whole = False
        else:
            self.sources.append(parsed.place.source)
        return parsed

    def _read_members(self, key: str, folder: Entry) -> Parsed | None:
        found = [
            (entry.stem, entry, parsed)
            for entry in self._with_suffix(folder, (*STRUCTURED, *TABULAR))
            if (parsed := self.read_file(entry)) is not None
        ]
        values: dict[str, Any] = {}
        places: dict[str, Place] = {}
        for name, _, parsed in found:
            if name in places:
                twice = f"config.{key}.{name}"
                self.problems.append(key_in_two_places(twice, parsed.place.span(), places[name].span()))
            else:
                values[name], places[name] = parsed.value, parsed.place
        return _together(values, places)

    def _read_pages(self, key: str, folder: Entry) -> Parsed | None:
        values: list[Any] = []
        places: list[Place] = []
        for entry in self._with_suffix(folder, (*STRUCTURED, "html")):
            parsed = _read_html(entry, self.problems) if entry.suffix == "html" else self.read_file(entry)
            if parsed is None:
                self.is_whole = False
            else:
                values.append(parsed.value)
                places.append(parsed.place)
        return _together(values, places)

    def _read_texts(self, folder: Entry) -> Parsed | None:
        values: dict[str, Any] = {}
        places: dict[str, Place] = {}
        left = MAX_TEXT_BYTES
        for entry in self.listing.files(folder):
            data = read_bytes(entry.path, entry.label, self.problems)
            text = None if data is None else decode(data, entry.label, self.problems)
            if data is None or text is None:
                self.is_whole = False
                continue
            left -= len(data)
            if left < 0:
                facts = {"kind": "bytes", "limit": MAX_TEXT_BYTES}
                self.problems.append(Problem("huge-folder", whole(folder.label), facts))
                self.is_whole = False
                break
            place = Place(SourceFile(entry.path, entry.label, text), 0, len(text))
            if entry.name in places:
                twice = f"config.{folder.name}.{entry.name}"
                self.problems.append(key_in_two_places(twice, place.span(), places[entry.name].span()))
                continue
            # A BOM is part of a file's content here, though it is not part of its text.
            values[entry.name] = "\ufeff" + text if data.startswith(_BOM) else text
            places[entry.name] = place
        return _together(values, places)

    def _with_suffix(self, folder: Entry, suffixes: tuple[str, ...]) -> list[Entry]:
        entries = self.listing.entries(folder)
        read = [entry for entry in entries if entry.suffix in suffixes and not entry.is_folder]
        self.stray += [(entry, suffixes) for entry in entries if entry not in read]
        return read


def key_in_two_places(key: str, span: Span, first: Span) -> Problem:
    """The problem of a key that is given at ``span`` though it stands at ``first`` already."""
    return Problem(
        "key-in-two-places", span, {"key": key, "first": first, "see": ((first, "the other place"),)}
    )


def _together(values: Any, places: Any) -> Parsed | None:
    if not places:
        return None
    first = next(iter(places.values())) if isinstance(places, dict) else places[0]
    return Parsed(values, Place(first.source, 0, 0, places))


def _read_html(entry: Entry, problems: list[Problem]) -> Parsed | None:
    """``pages/cart.html`` as ``{"url": "/cart", "html": …}``; ``index.html`` is ``/``, as on a web server."""
    source = read_source(entry.path, entry.label, problems)
    if source is None:
        return None
    whole = Place(source, 0, len(source.text))
    url = "/" if entry.stem == "index" else f"/{entry.stem}"
    places = {"url": Place(source, 0, 0), "html": whole}
    value = {"url": url, "html": source.text.replace("\r\n", "\n")}
    return Parsed(value, Place(source, 0, len(source.text), places))


__all__ = ["MAX_TEXT_BYTES", "Gathering", "key_in_two_places"]
