"""Placeholders as other tools write them, such as ``{{args.x}}`` or ``$x``: plain text here, and never filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rollout.check.tool_view import ToolView
from rollout.check.walk import leaves
from rollout.language.tool_texts import templates
from rollout.source.place import At, Route

_NAME = r"([A-Za-z_]\w*(?:\.\w+|\[\d+\])*)"
_FOREIGN = re.compile(
    rf"\{{\{{\s*{_NAME}\s*\}}\}}|(?<![$\w{{])#?\{{\s*{_NAME}\s*\}}|(?<![$\w]){re.escape('$')}{_NAME}"
)
UNFILLED = re.compile(r"(?<!\$)\$\{\s*(?:args|state|fixtures|vars|input|task\.input)\s*[.\[][^{}\n]*\}")
"""A placeholder as it is written, to be found where nothing is filled in."""

_PATHS = frozenset({"fixturePath", "appendTo", "path"})


class Foreign(NamedTuple):
    """One of them: the ``text`` it stands in, from where, as it is written there, and the placeholder meant."""

    route: Route
    at: At
    text: str
    start: int
    written: str
    meant: str


def foreign_placeholders(tool: ToolView) -> Iterator[Foreign]:
    """Those in the texts of a tool that are filled in. What names nothing the tool knows is text, except in a path."""
    for place, value in templates(tool.item.value):
        for leaf in leaves(value, (*tool.route, *place)):
            if not isinstance(leaf.value, str) or not ("{" in leaf.value or "$" in leaf.value):
                continue
            for match in _FOREIGN.finditer(leaf.value):
                name = next(filter(None, match.groups()))
                is_braced = not match[0].startswith("$")
                meant = _meant(tool, name, is_path=is_braced and leaf.route[-1] in _PATHS)
                if meant is not None:
                    yield Foreign(leaf.route, leaf.at, leaf.value, match.start(), match[0], meant)


def _meant(tool: ToolView, name: str, *, is_path: bool) -> str | None:
    root, _, rest = re.sub(r"\[.*", "", name, count=1).partition(".")
    if root in ("args", "state", "fixtures") and rest:
        return f"${{{name}}}"
    if name.startswith("task.input"):
        return f"${{{name}}}"
    return f"${{args.{name}}}" if root in tool.parameters.names or is_path else None


__all__ = ["UNFILLED", "Foreign", "foreign_placeholders"]
