"""The pictures of pages can be made; how their pixels look is a matter of the machine."""

from __future__ import annotations

import sys
from pathlib import Path

from browser.test_report_picture import size

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from pictures import pages  # noqa: E402


def test_the_pictures_of_pages_can_be_made(tmp_path: Path) -> None:
    pages.photograph(tmp_path)
    made = sorted(each.name for each in tmp_path.iterdir())
    assert made == sorted(each.name for each in pages.FOLDER.glob("page-*.png"))
    for name in made:
        assert size(tmp_path / name) == size(pages.FOLDER / name)
        # A page that shows nothing is a few kilobytes.
        assert (tmp_path / name).stat().st_size > (pages.FOLDER / name).stat().st_size / 2
