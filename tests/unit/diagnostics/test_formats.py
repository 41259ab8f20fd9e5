"""Each format shows a set of findings as the case folders say: wide, combined, tabbed, long, empty and hostile."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout import __version__
from rollout.diagnostics import Diagnostic, Related, Severity, Span
from rollout.diagnostics._excerpt import WIDTH, excerpt, width
from rollout.family import member, members
from rollout.source.contract import schema

TESTS = Path(__file__).parents[2]
CASES = sorted((TESTS / "cases" / "formats").iterdir())
FORMATS = ("concise", "github", "json", "junit", "sarif", "text")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def read_case(folder: Path) -> tuple[list[Diagnostic], list[str]]:
    told = json.loads((folder / "findings.json").read_text("utf-8"))
    return [read_diagnostic(folder, entry) for entry in told["diagnostics"]], told["checked"]


def read_diagnostic(folder: Path, entry: dict[str, Any]) -> Diagnostic:
    return Diagnostic(
        code=entry["code"],
        slug=entry["slug"],
        severity=Severity(entry["severity"]),
        message=entry["message"],
        span=read_span(folder, entry),
        hint=entry["hint"],
        related=tuple(Related(read_span(folder, see), see["message"]) for see in entry["related"]),
    )


def read_span(folder: Path, entry: dict[str, Any]) -> Span:
    path = folder / entry["path"]
    lines = path.read_bytes().decode("utf-8").split("\n") if path.is_file() else [""]
    place = (entry["line"], entry["column"], entry["end_line"], entry["end_column"])
    return Span(entry["path"], *place, text=lines[entry["line"] - 1])


def render(folder: Path, name: str, *, color: bool = False) -> str:
    diagnostics, checked = read_case(folder)
    renderer = member("rollout.diagnostics", name)
    assert renderer is not None
    rendered = renderer.render(diagnostics, color=color, checked=checked)
    assert isinstance(rendered, str)
    return rendered.replace(f'"version": "{__version__}"', '"version": "…"')


def test_the_formats_are_a_family_found_by_file_name() -> None:
    assert set(FORMATS) <= set(members("rollout.diagnostics"))


@pytest.mark.parametrize("name", [*FORMATS, "color"])
@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_a_format_shows_the_findings_of_a_case_as_expected(
    folder: Path, name: str, request: pytest.FixtureRequest
) -> None:
    rendered = render(folder, "text", color=True) if name == "color" else render(folder, name)
    expected = folder / f"{name}.expected"
    if request.config.getoption("--update-expected"):
        expected.write_text(rendered, encoding="utf-8", newline="")
    assert rendered == expected.read_bytes().decode("utf-8")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_nothing_in_a_file_can_reach_the_terminal(folder: Path, name: str) -> None:
    assert CONTROL.search(render(folder, name)) is None


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_colours_change_nothing_but_colours(folder: Path) -> None:
    assert re.sub("\x1b\\[[0-9;]*m", "", render(folder, "text", color=True)) == render(folder, "text")


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_json_is_as_its_schema_says(folder: Path) -> None:
    told = json.loads(render(folder, "json"))
    jsonschema.Draft202012Validator(schema("diagnostics")).validate(told)
    given = json.loads((folder / "findings.json").read_text("utf-8"))
    assert told["diagnostics"] == given["diagnostics"]


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_sarif_is_valid_against_the_published_schema(folder: Path) -> None:
    log = json.loads(render(folder, "sarif"))
    published = json.loads((TESTS / "data" / "sarif" / "sarif-schema-2.1.0.json").read_text("utf-8"))
    jsonschema.Draft7Validator(published, format_checker=jsonschema.FormatChecker()).validate(log)
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    diagnostics, _ = read_case(folder)
    for result, diagnostic in zip(run["results"], diagnostics, strict=True):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == diagnostic.code
        place = result["locations"][0]["physicalLocation"]
        assert unquote(place["artifactLocation"]["uri"]) == diagnostic.span.path
        assert place["region"]["startColumn"] == diagnostic.span.column
    fingerprints = [result["partialFingerprints"]["rollout/v1"] for result in run["results"]]
    assert len(set(fingerprints)) == len(fingerprints)


def test_a_sarif_fingerprint_outlives_a_move_to_another_line() -> None:
    def fingerprint(line: int) -> str:
        found = Diagnostic(
            "RL101", "a-slug", Severity.ERROR, "Wrong.", Span("a.yaml", line, 3, line, 5, "a: b")
        )
        renderer = member("rollout.diagnostics", "sarif")
        assert renderer is not None
        [result] = json.loads(renderer.render([found]))["runs"][0]["results"]
        return str(result["partialFingerprints"]["rollout/v1"])

    assert fingerprint(1) == fingerprint(40)


def test_sarif_tells_a_rules_story_beside_its_findings() -> None:
    found = Diagnostic(
        "RL301", "duplicate-task-id", Severity.ERROR, "Twice.", Span("a.yaml", 1, 1, 1, 2, "a")
    )
    renderer = member("rollout.diagnostics", "sarif")
    assert renderer is not None
    [rule] = json.loads(renderer.render([found]))["runs"][0]["tool"]["driver"]["rules"]
    module = member("rollout.check.rules", "duplicate-task-id")
    assert module is not None and module.__doc__ is not None
    assert rule["shortDescription"]["text"] == module.__doc__.splitlines()[0]
    assert rule["help"]["text"] == module.__doc__.strip()


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_junit_counts_what_it_holds_and_fails_errors_only(folder: Path) -> None:
    root = ElementTree.fromstring(render(folder, "junit"))
    diagnostics, checked = read_case(folder)
    errors = sum(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
    assert root.get("failures") == str(errors) == str(len(list(root.iter("failure"))))
    assert root.get("tests") == str(len(list(root.iter("testcase"))))
    assert {suite.get("name") for suite in root} >= set(checked)


def test_github_commands_escape_what_would_end_a_property_or_the_message() -> None:
    commands = render(TESTS / "cases" / "formats" / "everything", "github").splitlines()
    pattern = re.compile(r"::(error|warning) (\w+=[^:,]*)(,\w+=[^:,]*)*::.*")
    assert all(pattern.fullmatch(command) for command in commands)
    diagnostics, _ = read_case(TESTS / "cases" / "formats" / "everything")
    assert len(commands) == len(diagnostics)


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_a_shown_line_never_outgrows_its_window(folder: Path) -> None:
    diagnostics, _ = read_case(folder)
    for diagnostic in diagnostics:
        shown = excerpt(diagnostic.span)
        assert width(shown.text) <= WIDTH + 8
        assert shown.carets >= 1


@pytest.mark.parametrize(
    ("line", "column", "end", "indent", "carets"),
    [
        ("tool: refnd", 7, 12, 6, 5),
        ("予約: x", 1, 3, 0, 4),
        ("予約: x", 5, 6, 6, 1),
        ("e\u0301tat: x", 1, 3, 0, 1),
        ("e\u0301tat: x", 3, 6, 1, 3),
        ("👍 x", 3, 4, 3, 1),
        ("\tx", 2, 3, 4, 1),
        ("a\tx", 3, 4, 4, 1),
        ("予\tx", 3, 4, 4, 1),
        ("\x1bx", 2, 3, 1, 1),
        ("\u202ex", 2, 3, 8, 1),
        ("", 1, 1, 0, 1),
        ("abc", 4, 4, 3, 1),
        ("abc", 9, 12, 3, 1),
    ],
)
def test_carets_stand_under_the_very_characters(
    line: str, column: int, end: int, indent: int, carets: int
) -> None:
    shown = excerpt(Span("a.yaml", 1, column, 1, end, line))
    assert (shown.indent, shown.carets) == (indent, carets)


@given(
    st.text(alphabet=st.sampled_from('aé\t 予返👍\u0301\u200d\ufe0f\x1b\u202e\x9b{}"🇨🇭각'), max_size=300),
    st.integers(1, 320),
    st.integers(0, 40),
)
def test_any_line_is_shown_safely_with_its_carets_inside(line: str, column: int, length: int) -> None:
    shown = excerpt(Span("a.yaml", 1, column, 1, column + length, line))
    assert CONTROL.search(shown.text) is None
    assert shown.carets >= 1
    assert width(shown.text) <= WIDTH + 8


@given(st.text(alphabet="aé 予返👍{}", min_size=1, max_size=40), st.data())
def test_carets_begin_where_the_terminal_has_shown_what_is_before_them(
    line: str, data: st.DataObject
) -> None:
    column = data.draw(st.integers(1, len(line)))
    shown = excerpt(Span("a.yaml", 1, column, 1, column + 1, line))
    assert (shown.indent, shown.carets) == (width(line[: column - 1]), width(line[column - 1]))


def test_a_line_of_nothing_but_marks_is_not_looked_through() -> None:
    shown = excerpt(Span("a.yaml", 1, 500_000, 1, 500_001, "\u0301" * 1_000_000))
    assert len(shown.text) < 1_000


def test_a_finding_over_several_lines_is_marked_to_the_end_of_its_first() -> None:
    shown = excerpt(Span("a.yaml", 1, 3, 4, 2, "- name: x  "))
    assert (shown.text, shown.indent, shown.carets) == ("- name: x", 2, 7)


@pytest.mark.parametrize("column", [1, 2, 50, 97, 5_000, 9_990, 10_000, 10_001])
def test_a_long_line_is_cut_around_the_finding(column: int) -> None:
    line = "".join(chr(ord("a") + place % 26) for place in range(10_000))
    shown = excerpt(Span("a.jsonl", 1, column, 1, column + 3, line))
    marked = shown.text[shown.indent : shown.indent + shown.carets]
    assert line[column - 1 : column + 2].startswith(marked)
    assert len(shown.text) <= WIDTH + 2
    assert shown.text.startswith("…") == (column > 40)
