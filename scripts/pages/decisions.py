"""The list of decisions in docs/decisions/README.md: each page by its number and its title."""

from __future__ import annotations

import re
from pathlib import Path

_LIST = re.compile(r"(?s)(?<=<!-- The list is written by scripts/generate. -->\n\n).*\Z")


def filled(root: Path) -> dict[Path, str]:
    """The README of the decisions with its list as the pages' first lines say."""
    folder = root / "docs" / "decisions"
    lines = []
    for page in sorted(folder.glob("[0-9]*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        lines.append(f"- [{page.name[:4]}]({page.name}) {title}\n")
    readme = folder / "README.md"
    return {readme: _LIST.sub(lambda _: "".join(lines), readme.read_text(encoding="utf-8"))}
