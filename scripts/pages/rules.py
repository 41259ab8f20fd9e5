"""A page for each rule, from its module's docstring and its first bad case, and the list of all rules."""

from __future__ import annotations

import re
from pathlib import Path

from pages import NOTICE
from pages.markdown import fence, table
from rollout.check.rulebook import Rule, rules

INTRODUCTION = """What `rollout validate` and `rollout prove` can find. The digit after `RL` is the stage that a
rule belongs to. `rollout explain CODE` shows a rule's page in the terminal. A comment excuses one line of YAML or TOML
from one rule, or from several told apart by commas: `# rollout: allow <slug> — reason`. Errors of reading and of shape
(RL1nn, RL2nn) cannot be excused."""
STAGES = {
    "1": "Reading",
    "2": "Shape",
    "3": "References and meaning",
    "4": "Compiling",
    "5": "Verifiers",
    "6": "Proof",
    "7": "Platform",
    "8": "Training",
}
SHOWN_LINES = 40
SHOWN_WIDTH = 160
_SIGNS = (
    ("console", r"\A\$ "),
    ("json", r'\A\s*\{"'),
    ("python", r"\A(import|from|def|env =)\b"),
    ("sql", r"\A(SELECT|CREATE|INSERT|WITH)\b"),
    ("toml", r"\A(\[|\w+ = )"),
    ("yaml", r"(?m)^\s*(- |[\w.'\"-]+:( |$)|#)"),
)
_LANGUAGES = {"yml": "yaml", "jsonl": "json", "py": "python", "js": "javascript", "md": "markdown"}


def pages(root: Path) -> dict[str, str]:
    known = rules()
    return {"rules.md": _index(known)} | {f"rules/{rule.slug}.md": _page(rule, root) for rule in known}


def _index(known: tuple[Rule, ...]) -> str:
    parts = [
        "# Rules",
        NOTICE,
        INTRODUCTION,
    ]
    for stage in sorted({rule.code[2] for rule in known}):
        members = [rule for rule in known if rule.code[2] == stage]
        rows = [
            [rule.code, f"[{rule.slug}](rules/{rule.slug}.md)", str(rule.severity), rule.summary]
            for rule in members
        ]
        parts += [f"## {STAGES[stage]}", table(["code", "rule", "severity", "what it finds"], rows)]
    return "\n\n".join(parts) + "\n"


def _page(rule: Rule, root: Path) -> str:
    # What is certain before any rollout (from RL610 on) is told when the files are checked.
    is_proof = rule.code.startswith("RL60")
    parts = [
        f"# {rule.code} {rule.slug}",
        NOTICE,
        f"*{str(rule.severity).capitalize()}, found by `rollout {'prove' if is_proof else 'validate'}`.*",
        _story(rule.page),
        *_example(root / "tests" / "cases" / ("proofs" if is_proof else "rules") / rule.slug),
    ]
    return "\n\n".join(parts) + "\n"


def _story(page: str) -> str:
    """The docstring with its indented examples as code blocks that an editor can colour."""
    blocks = re.split(r"\n\s*\n", page)
    told: list[str] = []
    for block in blocks:
        if all(line.startswith("    ") for line in block.splitlines()):
            text = "\n".join(line[4:] for line in block.splitlines())
            told.append(fence(text, _language(text)))
        else:
            told.append(block)
    return "\n\n".join(told)


def _language(text: str) -> str:
    """What an example is written in, as far as its first characters tell."""
    return next((name for name, pattern in _SIGNS if re.search(pattern, text)), "text")


def _example(folder: Path) -> list[str]:
    """The first bad case that can be shown: the files that the findings are in, and the findings."""
    for expected in sorted(folder.glob("bad*.expected")):
        found = expected.read_text(encoding="utf-8")
        places: dict[str, list[int]] = {}
        for line in found.splitlines():
            if place := re.match(r"(.+?):(\d+):\d+: ", line):
                places.setdefault(place[1], []).append(int(place[2]))
        parts: list[str] = []
        for path, lines in places.items():
            if shown := _excerpt(folder / path, lines):
                suffix = Path(path).suffix.removeprefix(".")
                parts += [f"`{path}`", fence(shown, _LANGUAGES.get(suffix, suffix))]
        if parts:
            return ["## A case", "The tests hold this one:", *parts, "is reported as", fence(found, "text")]
    return []


def _excerpt(path: Path, wanted: list[int]) -> str:
    """The text of a file, or of a large one only the lines around those wanted; empty when there is none to show."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        return ""
    kept = range(1, len(lines) + 1)
    if len(lines) > SHOWN_LINES:
        near = {line + offset for line in wanted[:3] for offset in range(-4, 5)}
        kept = [number for number in kept if number in near]
    shown: list[str] = []
    last = 0
    for number in kept:
        if number > last + 1:
            shown.append("…")
        shown.append(_cut(lines[number - 1]))
        last = number
    if last < len(lines) and "\n".join(lines[last:]).strip():
        shown.append("…")
    return "\n".join(shown).strip("\n")


def _cut(line: str) -> str:
    line = re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]", "�", line.rstrip("\r")
    )
    return line if len(line) <= SHOWN_WIDTH else f"{line[:SHOWN_WIDTH]}…"
