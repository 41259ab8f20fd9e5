"""The two parts of schemas/verifier.schema.json that follow from its definitions: the list of types, the branches."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

from rollout.source.contract import branch, primitives

_WIDTH = 120
_TYPES = re.compile(
    r'(?s)(?<=\n          "enum": \[\n).*?(?=\n          \]\n        \},\n        "description")'
)
_BRANCHES = re.compile(r'(?s)(?<=\n      "allOf": \[\n).*?(?=\n      \]\n    \},)')


def filled(root: Path) -> dict[Path, str]:
    """The verifier's schema with both parts as its ``$defs`` say, everything else as it is."""
    path = root / "schemas" / "verifier.schema.json"
    text = path.read_text(encoding="utf-8")
    names = primitives(json.loads(text))
    types = textwrap.fill(
        ", ".join(map(json.dumps, names)), _WIDTH, initial_indent=" " * 12, subsequent_indent=" " * 12
    )
    text = _put(_TYPES, types, text)
    return {path: _put(_BRANCHES, ",\n".join(map(_branch, names)), text)}


def _put(part: re.Pattern[str], wanted: str, text: str) -> str:
    if len(part.findall(text)) != 1:
        raise ValueError(f"The verifier's schema has no one place for {wanted.split(',')[0].strip()} ….")
    return part.sub(lambda _: wanted, text)


def _branch(name: str) -> str:
    told = branch(name)
    condition, then = _line(told["if"]), _line(told["then"])
    return f'        {{\n          "if": {condition},\n          "then": {then}\n        }}'


def _line(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)}: {_line(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)
