"""The picture of a report can be made; how its pixels look is a matter of the machine."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from pictures import report  # noqa: E402


def size(picture: Path) -> tuple[int, ...]:
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def test_the_picture_of_a_report_can_be_made(tmp_path: Path) -> None:
    report.photograph(tmp_path / "report.png")
    assert size(tmp_path / "report.png") == size(report.PICTURE)
    # A page that shows nothing is a few kilobytes.
    assert (tmp_path / "report.png").stat().st_size > report.PICTURE.stat().st_size / 2
