"""Small pieces of SVG, with the two palettes that pictures have: one on light paper, one on dark."""

from __future__ import annotations

from html import escape

SANS = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def element(name: str, content: str = "", /, **attributes: str | float) -> str:
    """An element; ``content`` is SVG already. ``class_`` is ``class``, and ``_`` in names is ``-``."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(shown(value))}"' for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def shown(value: str | float) -> str:
    """A number with at most one decimal, so that pictures are the same on every machine; a text as it is."""
    return value if isinstance(value, str) else f"{round(value, 1) + 0.0:g}"


def document(width: float, height: float, *, title: str, style: str, body: list[str]) -> str:
    """A whole picture: what it is called, for those who hear it read, then its style and its parts."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {shown(width)} {shown(height)}"'
        f' width="{shown(width)}" height="{shown(height)}" role="img">'
    )
    lines = [head, element("title", escape(title)), f"<style>\n{style.strip()}\n</style>", *body, "</svg>"]
    return "<!-- Written by scripts/generate. -->\n" + "\n".join(lines) + "\n"
