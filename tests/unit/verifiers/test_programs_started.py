"""Programs that code under test starts, where nothing sees them while the tests run."""

from __future__ import annotations

import pytest

from rollout.verifiers._final_files import FinalFiles
from rollout.verifiers._reaching import Reach, find_reach

CODE = "const { execSync } = require('node:child_process')\nexports.double = (n) => execSync('cat *.te*')\n"
HIDDEN = frozenset(("area.test.js",))


def laid(start: str, code: str = CODE, secret: frozenset[str] = HIDDEN) -> FinalFiles:
    files = {"area.js": code, "area.test.js": "test('double', () => {})\n"}
    return FinalFiles(files, (), HIDDEN, frozenset(("area.js",)), {"area.js": start}, HIDDEN, secret)


@pytest.mark.parametrize("runner", ["jest", "vitest"])
def test_a_module_that_starts_programs_is_doubtful(runner: str) -> None:
    reach = find_reach(laid(""), runner, allow=(), asked="")
    assert reach == Reach("area.js", 1, "child_process", False)


def test_it_is_not_where_it_was_there_or_is_allowed_or_nothing_is_hidden() -> None:
    assert find_reach(laid("require('child_process')\n"), "jest", allow=(), asked="") is None
    assert find_reach(laid(""), "jest", allow=("child_process",), asked="") is None
    assert find_reach(laid("", secret=frozenset()), "jest", allow=(), asked="") is None
