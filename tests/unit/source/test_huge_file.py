"""The case of the rule huge-file: an environment that is too large to be kept beside the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollout.check import check
from rollout.diagnostics.concise import render
from rollout.source import find, read
from rollout.source.file import MAX_BYTES
from rollout.source.jsonl import MAX_LINE

CASES = Path(__file__).parents[2] / "cases" / "rules" / "huge-file"


def test_a_huge_file_and_a_huge_line_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bad = tmp_path / "bad"
    bad.mkdir()
    for file in (CASES / "good").iterdir():
        (bad / file.name).write_bytes(file.read_bytes())
    with (bad / "verifier.json").open("wb") as verifier:
        verifier.truncate(MAX_BYTES + 1)
    with (bad / "tasks.jsonl").open("ab") as tasks:
        tasks.write(b'{"instruction": "' + b"x" * MAX_LINE + b'"}\n')
    reports = [check(document) for path in find(["bad"]) for document in read(path)]
    found = render([found for report in reports for found in report.diagnostics], checked=[])
    assert found == (CASES / "bad.expected").read_text(encoding="utf-8")
