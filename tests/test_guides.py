"""What the guides and the pages say of the project itself is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

from rollout.family import members

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "guides" / "writing-a-verifier.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]


def test_the_verifier_guide_has_every_primitive_and_where_its_keys_are() -> None:
    rows = re.findall(
        r"(?m)^\| \[`(\w+)`\]\(\.\./reference/schemas/verifier\.md#(\w+)\) \| \S", GUIDE.read_text("utf-8")
    )
    schema = json.loads((ROOT / "schemas" / "verifier.schema.json").read_text(encoding="utf-8"))
    assert [name for name, _ in rows] == schema["$defs"]["primitive"]["properties"]["type"]["enum"]
    assert {name for name, _ in rows} == set(members("rollout.verifiers"))
    assert all(name == anchor for name, anchor in rows)


def test_no_page_installs_from_an_index_what_is_not_published() -> None:
    version = re.search(r"(?m)^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert version is not None
    if not version[1].endswith("(unreleased)"):
        return
    installed = {
        (page.name, line)
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.search(r"pip install [^`#]*rolloutdev(?!==)", line)
    }
    assert installed == set()
