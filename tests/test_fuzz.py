"""The fuzzer runs, finds findings and no exception; `scripts/fuzz 600` is the long run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FUZZ = Path(__file__).parents[1] / "scripts" / "fuzz"


def test_a_short_run_of_the_fuzzer_ends_in_diagnostics_only(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, FUZZ, "3", "1"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"[1-9]\d* tries, [1-9]\d* findings, 0 exceptions", done.stdout)
