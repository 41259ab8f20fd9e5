"""Reads CSV (RFC 4180) as a list of objects: the header row gives the keys, and every cell is a string.

Strict where spreadsheets guess: a row with a cell too many or too few is a problem, not a shifted column.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from rollout.source.place import Parsed, Place, Problem
from rollout.source.text import SourceFile

_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_BARE = re.compile(r"[^,\n]*")

_MAX_BROKEN = 100


class _Cell(NamedTuple):
    text: str
    start: int
    end: int


class _Fault(Exception):
    def __init__(self, kind: str, start: int, end: int) -> None:
        super().__init__(kind)
        self.kind = kind
        self.start = start
        self.end = end


def parse(source: SourceFile, problems: list[Problem]) -> Parsed | None:
    """The rows as objects with the place of every cell; None when there is no header, or something is amiss.

    A column that is given twice is a problem too, and the first one counts.

    A row of another length than the header is a problem and is left out, and so is one with a quote amiss, so that all
    of them show in one run. Behind a quote that is never closed nobody knows where a row begins.
    """
    faults: list[_Fault] = []
    rows = _read_rows(source.text, faults)
    for fault in faults:
        span = source.span(fault.start, fault.end)
        problems.append(Problem("csv-syntax", span, {"kind": fault.kind}))
    if not rows:
        if not faults:
            problems.append(Problem("empty-file", source.span(0, 0)))
        return None
    header, *body = rows
    if faults and faults[0].start < header[0].start:
        return None  # The header is broken, and with it all that could be said of the rows.
    is_sound = _check_header(source, header, problems) and not faults
    columns: dict[str, int] = {}
    for number, column in enumerate(header):
        columns.setdefault(column.text, number)
    broken = 0
    values: list[dict[str, str]] = []
    places: list[Place] = []
    for row in body:
        if len(row) != len(header):
            span = source.span(row[0].start, row[-1].end)
            problems.append(
                Problem("csv-syntax", span, {"kind": "row-length", "cells": len(row), "columns": len(header)})
            )
            is_sound = False
            broken += 1
            if broken == _MAX_BROKEN:
                problems.append(Problem("too-many-broken-lines", span, {"broken": broken}))
                break
            continue
        values.append({name: row[number].text for name, number in columns.items()})
        children = {
            name: Place(
                source, row[number].start, row[number].end, None, header[number].start, header[number].end
            )
            for name, number in columns.items()
        }
        places.append(Place(source, row[0].start, row[-1].end, children))
    return Parsed(values, Place(source, 0, len(source.text), places)) if is_sound else None


def _check_header(source: SourceFile, header: list[_Cell], problems: list[Problem]) -> bool:
    names: dict[str, _Cell] = {}
    is_sound = True
    for column in header:
        span = source.span(column.start, column.end)
        if not column.text.strip():
            problems.append(Problem("csv-syntax", span, {"kind": "column-without-name"}))
            is_sound = False
        elif column.text in names:
            earlier = names[column.text]
            first = source.span(earlier.start, earlier.end)
            facts = {"key": column.text, "first": first, "see": ((first, "the first one"),)}
            problems.append(Problem("duplicate-key", span, facts))
        else:
            names[column.text] = column
    return is_sound


def _read_rows(text: str, faults: list[_Fault]) -> list[list[_Cell]]:
    rows: list[list[_Cell]] = []
    at, length = 0, len(text)
    while at < length:
        try:
            row, at = _read_row(text, at)
        except _Fault as fault:
            faults.append(fault)
            line_break = text.find("\n", fault.end)
            if fault.kind == "unclosed-quote" or line_break < 0 or len(faults) == _MAX_BROKEN:
                break
            at = line_break + 1
            continue
        if len(row) > 1 or row[0].end > row[0].start:
            rows.append(row)
    return rows


def _read_row(text: str, at: int) -> tuple[list[_Cell], int]:
    row: list[_Cell] = []
    while True:
        cell = _read_cell(text, at)
        row.append(cell)
        at = cell.end
        if text.startswith(",", at):
            at += 1
            continue
        at += text.startswith("\r", at)
        return row, at + 1


def _read_cell(text: str, start: int) -> _Cell:
    if text.startswith('"', start):
        match = _QUOTED.match(text, start)
        if match is None:
            raise _Fault("unclosed-quote", start, start + 1)
        end = match.end()
        if end < len(text) and not text.startswith((",", "\n", "\r\n"), end):
            raise _Fault("text-after-quote", end, end + 1)
        return _Cell(match[1].replace('""', '"').replace("\r\n", "\n"), start, end)
    match = _BARE.match(text, start)
    assert match is not None, "a pattern that may be empty always matches"
    end = match.end()
    if text.startswith("\n", end) or end == len(text):
        end -= match[0].endswith("\r")
    bare = text[start:end]
    if (quote := bare.find('"')) >= 0:
        raise _Fault("quote-inside", start + quote, start + quote + 1)
    return _Cell(bare, start, end)


__all__ = ["parse"]
