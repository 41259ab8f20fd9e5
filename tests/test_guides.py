"""What the guides say of the families is so: every primitive is in the verifier guide, and whether it runs here."""

from __future__ import annotations

import json
import re
from pathlib import Path

from rollout.family import members

ROOT = Path(__file__).parent.parent
GUIDE = ROOT / "docs" / "guides" / "writing-a-verifier.md"
_ROW = re.compile(r"^\|[^|\n]*\| `(?P<type>\w+)` \| (?P<runs>yes|not yet) \|$", re.M)


def told() -> dict[str, bool]:
    """The primitives in the guide's table, and whether it says that they run here."""
    return {row["type"]: row["runs"] == "yes" for row in _ROW.finditer(GUIDE.read_text(encoding="utf-8"))}


def test_the_verifier_guide_has_every_primitive_of_the_format() -> None:
    schema = json.loads((ROOT / "schemas" / "verifier.schema.json").read_text(encoding="utf-8"))
    types = schema["$defs"]["primitive"]["properties"]["type"]["enum"]
    assert sorted(told()) == sorted(types)


def test_the_verifier_guide_says_which_primitives_run_here() -> None:
    runs = {name for name, does in told().items() if does}
    assert runs == set(members("rollout.verifiers")), "mend the last column of the table in the guide"
