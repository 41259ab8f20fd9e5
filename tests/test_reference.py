"""The reference is as scripts/generate writes it, and rules, cases and pages agree in number."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rollout.check.rulebook import Rule, rules

ROOT = Path(__file__).parent.parent
CASES = ROOT / "tests" / "cases"
UNSHOWN = {"unstable-trace"}
"""No environment that can be declared shows it: an engine's test does."""
RETIRED = {"RL306", "RL322"}
ARCHITECTURE = ROOT / "docs" / "design" / "architecture.md"
PAGES = ROOT / "docs" / "reference" / "rules"


def test_the_reference_is_as_generated() -> None:
    ended = subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "")


def test_rules_cases_and_pages_agree() -> None:
    slugs = {rule.slug for rule in rules()}
    cases = [*(CASES / "rules").iterdir(), *(CASES / "proofs").iterdir()]
    assert {folder.name for folder in cases if folder.is_dir()} == slugs - UNSHOWN
    assert {page.stem for page in PAGES.glob("*.md")} == slugs


def test_codes_are_unique() -> None:
    codes = [rule.code for rule in rules()]
    assert sorted(set(codes)) == codes


def test_a_code_that_was_a_rule_s_once_is_not_given_again() -> None:
    assert RETIRED.isdisjoint(rule.code for rule in rules())
    assert all(code in ARCHITECTURE.read_text(encoding="utf-8") for code in RETIRED)


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.slug)
def test_a_rule_tells_what_is_wrong_and_how_to_mend_it(rule: Rule) -> None:
    first, blank, *story = rule.page.splitlines()
    assert first.endswith(".")
    assert blank == ""
    assert story
    finds = rule.check is not None or rule.check_tasks is not None
    assert finds != (rule.describe is not None)
    assert rule.code.startswith("RL") and len(rule.code) == 5 and rule.code[2] in "12345678"


def test_every_key_in_the_reference_has_a_meaning() -> None:
    pages = sorted((PAGES.parent / "schemas").glob("*.md"))
    rows = [(page.name, line) for page in pages for line in page.read_text("utf-8").splitlines()]
    keys = [(page, line) for page, line in rows if line.startswith("| `")]
    assert keys
    assert [(page, line) for page, line in keys if line.endswith("|   |")] == []


def test_what_is_said_has_one_kind_of_apostrophe() -> None:
    said = [*(ROOT / "src").rglob("*.py"), *(ROOT / "schemas").glob("*.json"), ROOT / "README.md"]
    curly = [path.name for path in said if re.search(r"\w’\w", path.read_text(encoding="utf-8"))]
    assert curly == []
