"""What follows from the definitions in schemas/verifier.schema.json: its types, its branches, the guide's table."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

from pages.markdown import code, table
from rollout.source.contract import branch, primitives

_WIDTH = 120
_TYPES = re.compile(
    r'(?s)(?<=\n          "enum": \[\n).*?(?=\n          \]\n        \},\n        "description")'
)
_BRANCHES = re.compile(r'(?s)(?<=\n      "allOf": \[\n).*?(?=\n      \]\n    \},)')
_TABLE = re.compile(
    r"(?s)(?<=<!-- The table is written by scripts/generate from schemas/verifier.schema.json. -->\n\n)"
    r".*?(?=<!-- The table ends here. -->)"
)


def filled(root: Path) -> dict[Path, str]:
    """The verifier's schema and the guide to it with these parts as its ``$defs`` say, everything else as it is."""
    path = root / "schemas" / "verifier.schema.json"
    text = path.read_text(encoding="utf-8")
    written = json.loads(text)
    names = primitives(written)
    types = textwrap.fill(
        ", ".join(map(json.dumps, names)), _WIDTH, initial_indent=" " * 12, subsequent_indent=" " * 12
    )
    text = _put(_TYPES, types, text)
    guide = root / "docs" / "guides" / "writing-a-verifier.md"
    return {
        path: _put(_BRANCHES, ",\n".join(map(_branch, names)), text),
        guide: _put(_TABLE, _table(written["$defs"], names), guide.read_text(encoding="utf-8")),
    }


def _table(definitions: dict[str, Any], names: tuple[str, ...]) -> str:
    rows = [
        [f"[{code(name)}](../reference/schemas/verifier.md#{name})", definitions[name]["description"]]
        for name in names
    ]
    return table(["type", "what has to hold"], rows) + "\n\n"


def _put(part: re.Pattern[str], wanted: str, text: str) -> str:
    if len(part.findall(text)) != 1:
        raise ValueError(
            f"The verifier's schema or guide has no one place for {wanted.split(',')[0].strip()} …."
        )
    return part.sub(lambda _: wanted, text)


def _branch(name: str) -> str:
    told = branch(name)
    condition, then = _line(told["if"]), _line(told["then"])
    return f'        {{\n          "if": {condition},\n          "then": {then}\n        }}'


def _line(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)}: {_line(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)
