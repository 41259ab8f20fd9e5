"""The pictures in docs/pictures: drawn from what they show, so that a stale one is told like a stale page."""

from __future__ import annotations

from pathlib import Path


def generate(root: Path) -> dict[Path, str]:
    """All pictures as they should be, by path below ``root``'s docs/pictures."""
    from pictures import architecture, terminal

    return {
        root / "docs" / "pictures" / "architecture.svg": architecture.draw(root / "src" / "rollout"),
        root / "docs" / "pictures" / "validate.svg": terminal.draw(
            root / "docs" / "pictures", ["rollout", "validate", "hotel"]
        ),
    }
