"""A file is not TOML.

TOML writes `key = value`, one a line. Text stands in quotes; `true` and `false` are the only words; a value that goes
on over several lines is a list, or text in three quotes. Tables have a header: `[config]` for one, `[[config.tools]]`
for the next member of a list of them. The rest of the file is read once this is mended.

Before:

    template = workflow
    [config
    tools = [1 2]

After:

    template = "workflow"
    [config]
    tools = [1, 2]
"""

from __future__ import annotations

from typing import Any

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL130"
SEVERITY = Severity.ERROR

_CURLY = "“”„‟‘’‚«»"
# By kind: the sentence, and the way out. Names in braces are facts of the problem, in quotation marks.
_WORDS: dict[str, tuple[str, str]] = {
    "no-equals": (
        "There is no “=” after the key {key}.",
        "Write: key = value. A key with blanks in it is quoted.",
    ),
    "no-value": (
        "There is no value here.",
        'Write one: text in quotes, a number, true or false; "" for empty text.',
    ),
    "unclosed-header": (
        "The header of this table does not end in “{close}”.",
        "Write [name] for a table, [[name]] for the next member of a list of tables; blanks in a name need quotes.",
    ),
    "text-after-value": (
        "{rest} follows where the line should end.",
        "Put the next key on a line of its own; a comment begins with #.",
    ),
    "unclosed-string": ("The text that begins here has no closing {delimiter}.", "Close it."),
    "line-break-in-string": (
        "The text that begins here goes on on the next line, or its closing {delimiter} is missing.",
        "Close it on the same line, or begin and end it with three quotes.",
    ),
    "bad-escape": (
        "{escape} is no escape in TOML.",
        "Write a backslash that is part of the text twice, or put the text in single quotes, which know no escapes.",
    ),
    "no-code-point": ("{escape} is not the number of a character.", "Write the character itself."),
    "unclosed-array": ("The list that begins here has no closing “]”.", "Close it."),
    "no-comma-in-array": (
        "A comma or “]” is missing before {found}.",
        "Members of a list are parted by commas.",
    ),
    "unclosed-table": ("The table that begins here has no closing “}}”.", "Close it."),
    "comma-before-brace": (
        "The last key of a table in braces is followed by a comma.",
        "Delete the comma; TOML allows it in lists only.",
    ),
    "no-comma-in-table": (
        "A comma or “}}” is missing before {found}.",
        "Keys of a table in braces are parted by commas.",
    ),
    "line-break-in-table": (
        "A table in braces goes on on the next line, which TOML does not allow.",
        "Keep it on one line, or give the table a header of its own: [name].",
    ),
    "number-too-long": ("This number has {digits} digits.", "Put it in quotes if it is text."),
    "no-such-date": (
        "{word} is not a day of the calendar.",
        "Correct the date, or put it in quotes if it is text.",
    ),
}


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    match facts["kind"]:
        case "bad-value":
            return _describe_value(str(facts["word"]))
        case "no-key":
            return _describe_key(facts)
        case "short-code-point":
            return (
                f"\\{facts['letter']} is followed by fewer than {facts['digits']} hexadecimal digits.",
                "Write \\u and four digits, or \\U and eight; write a backslash that is part of the text twice.",
            )
    message, hint = _WORDS[facts["kind"]]
    words = {key: value if key in ("close", "digits") else quoted(str(value)) for key, value in facts.items()}
    return message.format(**words), hint


def _describe_value(word: str) -> tuple[str, str]:
    shown = quoted(word)
    if word.lower() in ("true", "false"):
        return f"{shown} is no TOML value.", f"Write {word.lower()}, in small letters."
    if word.lower() in ("null", "none", "nil", "~"):
        return (
            f"TOML has no {shown}.",
            "Leave the key out; where null is meant, write the file as YAML or JSON.",
        )
    if word.lstrip("+-")[:1].isdigit():
        return (
            f"{shown} is no number, date or time as TOML writes it.",
            "Put it in quotes if it is text. A number has no leading zero and a digit on each side of its point.",
        )
    if word[:1] in _CURLY:
        return _describe_curly(word[0])
    return (
        f"{shown} is no TOML value.",
        f'Put text in quotes: "{word}".' if '"' not in word else "Put text in quotes.",
    )


def _describe_curly(quote: str) -> tuple[str, str]:
    return f"{quote} is a typographic quote, which means nothing in TOML.", 'Write straight quotes: "'


def _describe_key(facts: dict[str, Any]) -> tuple[str, str]:
    found, hint = str(facts["found"]), "A key has letters, digits, “_” and “-”; any other is quoted."
    if facts["after_dot"]:
        return "A part of the key is missing after the dot.", hint
    if found in ("", "\n", "\r"):
        return "A key is missing here.", hint
    if found in _CURLY:
        return _describe_curly(found)
    if found in "{(":
        return (
            f"{quoted(found)} stands where a key is expected.",
            "TOML has no braces around the file: key = value.",
        )
    return f"{quoted(found)} stands where a key is expected.", hint


__all__ = ["CODE", "SEVERITY", "describe"]
