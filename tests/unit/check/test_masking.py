"""A secret in a spec is in no sentence, excerpt or related place that is shown, in whatever format."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollout.check import check
from rollout.check.masking import without_secrets
from rollout.cli.output import render
from rollout.diagnostics import Diagnostic, Related, Severity, Span
from rollout.source import read

# Put together here, so that no scanner takes this file for one that holds a key.
KEY = "sk-" + "ant-api03-Zq8vX2mN4bK7pL9wR3tY6uI1oA5sD0fG"
FORMATS = ("text", "concise", "json", "github", "sarif", "junit")
HEAD = "slug: s\nname: N\ntemplate: custom\nconfig: {tools: [{name: t, response: 1}]}\n"


@pytest.mark.parametrize(
    "text",
    [
        f"slug: s\nname: N\ntemplate: {KEY}\n",
        f"{HEAD}{KEY}: 1\n",
        f"slug: *{KEY}\n",
        f"slug: s\n{KEY}\ntemplate: custom\n",
        f"slug: s\nname: {{a: [{KEY}]}}\ntemplate: custom\n",
        f"{HEAD}tasks: [{{instruction: '{KEY}'}}, {{instruction: '{KEY}'}}]\n",
        f"{HEAD}tasks: [{{instruction: i, solution: [{{tool: {KEY}, args: {{}}}}]}}]\n",
    ],
)
def test_no_format_shows_a_secret_of_a_spec(tmp_path: Path, text: str) -> None:
    path = tmp_path / "environment.yaml"
    path.write_text(text)
    (document,) = read(path)
    found = check(document).diagnostics
    assert found
    for name in FORMATS:
        shown = render(found, name, color=False, checked=["x"])
        assert KEY[14:] not in shown
        assert KEY[14:26] not in shown


def test_no_format_shows_a_secret_that_a_python_file_raises(tmp_path: Path) -> None:
    path = tmp_path / "envs.py"
    path.write_text(f"token = '{KEY}'\nraise ValueError(f'bad token {{token}}')\n")
    (document,) = read(path)
    for name in FORMATS:
        assert KEY[14:] not in render(check(document).diagnostics, name, color=False, checked=["x"])


def test_the_columns_of_a_masked_line_stay_right_and_the_beginning_of_a_quote_is_masked_too() -> None:
    line = f"kind: {KEY}  # why"
    span = Span("a.yaml", 1, 7, 1, 7 + len(KEY), line)
    related = (Related(span, f"also {KEY}"),)
    diagnostic = Diagnostic(
        "RL204", "x", Severity.ERROR, f"It is “{KEY[:26]}…”.", span, f"Not {KEY}.", related
    )
    (shown,) = without_secrets([diagnostic])
    assert len(shown.span.text) == len(line)
    assert shown.span.text.endswith("•  # why") and shown.span.text.startswith("kind: sk-ant-")
    assert shown.related[0].span.text == shown.span.text
    for sentence in (shown.message, shown.hint or "", shown.related[0].message, shown.span.text):
        assert KEY[10:] not in sentence and KEY[10:20] not in sentence


def test_what_holds_no_secret_is_left_as_it_is() -> None:
    span = Span("a.yaml", 1, 1, 1, 3, "id: sk-learn-is-a-library-of-python")
    diagnostic = Diagnostic("RL204", "x", Severity.ERROR, "No.", span)
    assert without_secrets([diagnostic]) == [diagnostic]
