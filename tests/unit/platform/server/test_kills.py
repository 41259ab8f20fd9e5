"""Servers and clients that are killed at random moments: what is there in the end is what would be there without.

`benchmarks/kills.py` does it for longer, and with PostgreSQL and a Ray cluster.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

KILLS = Path(__file__).parents[4] / "benchmarks" / "kills.py"


def test_killed_servers_and_clients_leave_the_rows_of_an_undisturbed_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(KILLS), "--kills", "8", "--seed", "6", "--people", "2"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "killed: " in done.stdout and " × server" in done.stdout and " × client" in done.stdout
    assert done.stdout.endswith("ok: as undisturbed\n")
