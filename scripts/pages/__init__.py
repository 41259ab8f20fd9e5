"""The reference pages: one module a kind of page, each with ``pages(root)``, path below docs/reference to text."""

from __future__ import annotations

import sys
from pathlib import Path

NOTICE = "<!-- Written by scripts/generate; change the source that it names, not this page. -->"


def generate(root: Path) -> dict[Path, str]:
    """All pages and pictures, and the parts of schemas and pages that follow from others, as they should be."""
    import pictures
    from pages import commands, decisions, primitives, rules, schemas

    made = pictures.generate(root) | primitives.filled(root) | decisions.filled(root)
    return made | {
        root / "docs" / "reference" / path: text
        for kind in (rules, commands, schemas)
        for path, text in kind.pages(root).items()
    }


def stale(root: Path) -> list[str]:
    """What is not as it should be: ``missing …``, ``changed …`` or ``left over …``, by path; sorted."""
    wanted = generate(root)
    found = {
        path: "missing" if not path.is_file() else "changed"
        for path, text in wanted.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
    written = (root / "docs" / "reference").rglob("*.md")
    found |= {
        path: "left over"
        for path in written
        if path not in wanted and NOTICE in path.read_text(encoding="utf-8")
    }
    return [f"{what} {path.relative_to(root)}" for path, what in sorted(found.items())]


def write(root: Path) -> None:
    """Writes the pages that are not as they should be, and removes those that nothing asks for any more."""
    wanted = generate(root)
    for entry in stale(root):
        path = root / entry.removeprefix("missing ").removeprefix("changed ").removeprefix("left over ")
        if path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
        else:
            path.unlink()


def main(root: Path, *, check: bool) -> int:
    """Runs the command; 1 when ``check`` finds a stale page."""
    found = stale(root)
    if not check:
        write(root)
    for entry in found:
        print(entry)
    if check and found:
        print("Run scripts/generate and commit what it writes.", file=sys.stderr)
        return 1
    return 0
