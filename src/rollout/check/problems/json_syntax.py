"""A file, or a line of a task file, is not JSON.

JSON is stricter than it looks: keys and texts stand in double quotes, there is no comma after the last member, there
are no comments, and the only words are `true`, `false` and `null`. In a `.jsonl` file each line is one JSON object,
and an object may not go on on the next line.

Before:

    {'instruction': 'Refund order O-1.', "paid": True,}  // the simple case

After:

    {"instruction": "Refund order O-1.", "paid": true}
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL121"
SEVERITY = Severity.ERROR

_WORDS_OF_OTHERS = {
    "none": "null",
    "nil": "null",
    "undefined": "null",
    "true": "true",
    "false": "false",
    "null": "null",
}
# By kind: the sentence, and the way out. Names in braces are facts of the problem, in quotation marks.
_WORDS: dict[str, tuple[str, str | None]] = {
    "bad-escape": (
        'After a backslash JSON knows only " \\ / b f n r t, or u and four hexadecimal digits.',
        "Write a backslash that is part of the text twice.",
    ),
    "bad-number": (
        "{written} is no number as JSON writes it.",
        "No leading zero or plus, digits on both sides of the point, no underscores; in quotes if it is text.",
    ),
    "bare-key": ("The key {written} is not in double quotes.", 'Write it as "{plain}".'),
    "bare-word": (
        "{written} is no JSON value.",
        "Text stands in double quotes; the only words are true, false and null.",
    ),
    "comma-after-end": (
        "A comma follows the value.",
        "Delete it; in a .jsonl file only line breaks stand between the objects.",
    ),
    "comment": ("JSON has no comments.", "Delete it; YAML and TOML files may have comments."),
    "control-character": (
        "The character {code} stands inside a string as it is.",
        "Write it as an escape: {escape}",
    ),
    "curly-quotes": (
        "{plain} is a typographic quote, which means nothing in JSON.",
        'Write straight quotes: "',
    ),
    "mismatch": ("{written} cannot close the {opened} of line {line}.", "Use the bracket that fits."),
    "missing-colon": ("A colon is missing after the key {key}.", 'Write "key": value.'),
    "missing-comma": ("A comma is missing here.", "Members are parted by commas."),
    "missing-value": ("A value is missing before this.", "Write the value, or delete the comma before it."),
    "no-key": ("{written} stands where a key is expected.", "Keys are texts in double quotes."),
    "one-list": (
        "A list over several lines begins here; a .jsonl file has one JSON object on each line.",
        "Rewrite the list, one member a line: jq -c '.[]' list.json > tasks.jsonl",
    ),
    "single-quotes": ("Single quotes mean nothing in JSON.", "Use double quotes."),
    "trailing": (
        "There is more after the end of the value.",
        "A file, or a line of a .jsonl file, holds one value.",
    ),
    "trailing-comma": ("JSON has no comma after the last member.", "Delete the comma."),
    "unclosed": (
        "This {opened} is never closed.",
        "Close it; in a .jsonl file each object ends on its own line.",
    ),
    "unclosed-string": (
        "The text that this quote begins does not end on its line.",
        "Close the quote; a line break inside a text is written \\n.",
    ),
    "unexpected": ("{written} cannot stand here.", None),
}


def describe(problem: Problem) -> tuple[str, str | None]:
    kind, facts = problem.facts["kind"], problem.facts
    written = facts.get("written", "")
    message, hint = _WORDS[kind]
    if kind == "bare-word" and (meant := _WORDS_OF_OTHERS.get(written.lower())) is not None:
        hint = f"JSON writes {meant}."
    if kind == "missing-value" and facts["after"] == ":":
        hint = "Write the value after the colon; null where there is none."
    said = {name: quoted(fact, 40) if isinstance(fact, str) else f"{fact:,}" for name, fact in facts.items()}
    said["plain"] = written
    if "code" in facts:
        said["code"] = f"U+{facts['code']:04X}"
        said["escape"] = {9: "\\t", 8: "\\b", 12: "\\f"}.get(facts["code"], f"\\u{facts['code']:04x}")
    return message.format(**said), hint.format(**said) if hint else None


__all__ = ["CODE", "SEVERITY", "describe"]
