"""`rollout prove` finds what its bad cases show, in these words and at this place, and proves its good ones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from rollout.check import check
from rollout.check.rulebook import rules
from rollout.diagnostics.concise import render
from rollout.engine.prove import diagnose, prove
from rollout.source import find, read

CASES = Path(__file__).parent / "cases" / "proofs"
ENVIRONMENTS = Path(__file__).parent.parent / "environments"
UNSHOWN = {"unstable-trace"}
"""No declared environment can be unstable; tests/unit/engine/test_proving.py shows that one would be found."""


def cases(kind: str) -> list[Path]:
    return sorted(path for path in CASES.glob(f"*/{kind}*") if path.is_dir())


def name_of(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def proofs(case: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(case.parent)
    found = []
    for path in find([case.name]):
        for document in read(path):
            report = check(document)
            assert report.ok, render(report.diagnostics)
            found.extend(diagnose(document, asyncio.run(prove(report.environment()))))
    return render(found, checked=[])


@pytest.mark.parametrize("case", cases("bad"), ids=name_of)
def test_a_bad_case_is_not_proved(
    case: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    found = proofs(case, monkeypatch)
    expected = case.with_name(f"{case.name}.expected")
    if request.config.getoption("--update-expected"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")
    assert f" {case.parent.name}]" in found


@pytest.mark.parametrize("case", cases("good"), ids=name_of)
def test_a_good_case_is_proved(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert proofs(case, monkeypatch) == ""


@pytest.mark.parametrize("slug", [rule.slug for rule in rules() if rule.code.startswith("RL60")])
def test_a_proof_rule_has_a_bad_and_a_good_case(slug: str) -> None:
    if slug not in UNSHOWN:
        assert list((CASES / slug).glob("bad*.expected"))
        assert cases("good")


@pytest.mark.parametrize(
    "path",
    find([str(ENVIRONMENTS)]),
    ids=lambda path: path.name if path.is_dir() else path.parent.name,
)
def test_the_example_environments_are_proved(path: Path) -> None:
    for document in read(path):
        environment = check(document).environment()
        proof = asyncio.run(prove(environment))
        assert proof.tasks == len(environment.tasks) > 0
        assert [(defect.slug, defect.facts) for defect in proof.defects] == []
