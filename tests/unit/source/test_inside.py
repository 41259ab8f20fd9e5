"""A piece of a text is marked where it stands in its file, however the text is written there."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollout.source.inside import span_inside
from rollout.source.json import parse as parse_json
from rollout.source.text import SourceFile
from rollout.source.toml import parse as parse_toml
from rollout.source.yaml import parse as parse_yaml


@pytest.mark.parametrize(
    ("read", "text", "piece", "marked"),
    [
        (parse_json, r'{"q": "SELECT \"nme\" FROM t"}', '"nme"', r"\"nme\""),
        (parse_json, r'{"q": "SELECT \u00e4\ud83d\ude00\t\n nme\\ FROM t"}', "nme", "nme"),
        (parse_json, r'{"q": "SELECT \u00e4\ud83d\ude00 FROM t"}', "ä😀", r"\u00e4\ud83d\ude00"),
        (parse_yaml, "q: 'SELECT ''a'' || nme'\n", "nme", "nme"),
        (parse_yaml, "q: 'SELECT ''a'' || nme'\n", "'a'", "''a''"),
        (parse_yaml, 'q: "SELECT \\"a\\" \\x41\\\n  \\ || nme"\n', "nme", "nme"),
        (parse_yaml, "q: >\n  SELECT a\n  FROM nme\n\n  WHERE b\n", "nme", "nme"),
        (parse_yaml, "q: >-\n  SELECT a\n  FROM nme\n", "a FROM nme", "a\n  FROM nme"),
        (parse_yaml, "q: SELECT a\n  FROM nme\n", "nme", "nme"),
        (parse_yaml, "q: |\n  SELECT a\n    FROM nme\n", "nme", "nme"),
        (parse_toml, 'q = """\nSELECT a \\\n   FROM \\"nme\\""""\n', '"nme"', r"\"nme\""),
    ],
)
def test_what_is_marked(read, text: str, piece: str, marked: str) -> None:  # type: ignore[no-untyped-def]
    source = SourceFile(Path("task"), "task", text)
    parsed = read(source, [])
    value, place = parsed.value["q"], parsed.place.child("q")
    start = value.index(piece)
    span = span_inside(place, value, start, start + len(piece))
    lines = text.split("\n")
    found = "\n".join(lines[span.line - 1 : span.end_line])
    after = len(lines[span.end_line - 1]) - (span.end_column - 1)
    assert found[span.column - 1 : len(found) - after] == marked
