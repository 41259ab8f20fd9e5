"""Every rule finds what its bad cases show, in these words and at this place, and is silent on its good ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollout.check import check_all
from rollout.check.rulebook import rules
from rollout.diagnostics.concise import render
from rollout.source import find, read

CASES = Path(__file__).parent / "cases" / "rules"


def cases(kind: str) -> list[Path]:
    """Every entry of a rule's case folder whose name begins with ``kind``, except the expected outputs."""
    return sorted(
        path
        for path in CASES.glob(f"*/{kind}*")
        if path.suffix != ".expected" and not path.name.startswith(".")
    )


def name_of(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def findings(case: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(case.parent)
    reports = check_all(document for path in find([case.name]) for document in read(path))
    return render([found for report in reports for found in report.diagnostics], checked=[])


@pytest.mark.parametrize("case", cases("bad"), ids=name_of)
def test_a_bad_case_is_found_in_these_words_at_this_place(
    case: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    found = findings(case, monkeypatch)
    expected = case.with_name(f"{case.name}.expected")
    if request.config.getoption("--update-expected"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")
    assert f" {case.parent.name}]" in found


@pytest.mark.parametrize("case", cases("bad"), ids=name_of)
def test_every_finding_of_a_bad_case_has_a_way_out(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.parent)
    reports = check_all(document for path in find([case.name]) for document in read(path))
    assert [found.message for report in reports for found in report.diagnostics if not found.hint] == []


@pytest.mark.parametrize("case", cases("good"), ids=name_of)
def test_a_good_case_is_silent(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert findings(case, monkeypatch) == ""


# What only a rollout shows (RL60n) has its cases in tests/test_proofs.py.
@pytest.mark.parametrize(
    "rule", [rule for rule in rules() if not rule.code.startswith("RL60")], ids=lambda rule: rule.slug
)
def test_a_rule_has_a_bad_and_a_good_case(rule: object) -> None:
    folder = CASES / rule.slug  # type: ignore[attr-defined]
    assert list(folder.glob("bad*.expected"))
    assert list(folder.glob("good*"))


def test_codes_are_unique() -> None:
    codes = [rule.code for rule in rules()]
    assert len(codes) == len(set(codes))
