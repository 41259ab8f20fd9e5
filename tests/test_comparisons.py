"""Runs compared: each folder of ``tests/cases/compare`` has two runs, and what is said of them beside them.

``arguments`` are the options; ``expected.txt`` is what the command shows, with its status; ``expected.md`` the same as
Markdown. ``pytest tests/test_comparisons.py --update-expected`` writes them anew, to be read before they are committed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rollout.cli import app

CASES = sorted(path for path in (Path(__file__).parent / "cases" / "compare").iterdir() if path.is_dir())
FORMS = {"expected.txt": [], "expected.md": ["--format", "markdown"]}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_two_runs_are_compared_as_expected(
    case: Path, form: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(case)
    arguments = Path("arguments").read_text(encoding="utf-8").split()
    ended = CliRunner().invoke(app, ["compare", "baseline", "trained", *arguments, *FORMS[form]])
    assert isinstance(ended.exception, SystemExit | None), ended.exception
    said = f"{ended.stdout}{ended.stderr}exit {ended.exit_code}\n"
    if request.config.getoption("--update-expected"):
        Path(form).write_text(said, encoding="utf-8")
    assert said == Path(form).read_text(encoding="utf-8")
