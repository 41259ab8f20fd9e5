"""A file is not YAML.

It cannot be read on from the place that is named, so nothing behind it was checked. Most of these mistakes are a
quote or bracket that is never closed, a line that is indented differently from its neighbours, or text that has to be
in quotes because it holds a colon and a space or begins with one of `@`, `` ` ``, `%`, `*`, `&`, `!`, `[`, `{`.

Before:

    description: Refunds: the basics
    author: @anna

After:

    description: "Refunds: the basics"
    author: "@anna"
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL107"
SEVERITY = Severity.ERROR

_QUOTE = "Put the text in quotes."
# By kind: the sentence, and the way out. Names in braces are facts of the problem, in quotation marks.
_WORDS: dict[str, tuple[str, str | None]] = {
    "after-end": (
        "There is text after the end of the document.",
        "Delete the line that ends it (“...”), or this text; a file holds one document.",
    ),
    "bad-escape": (
        "{written} is no escape that double quotes know.",
        "Write the backslash twice for a backslash, or use single quotes, where it is an ordinary character.",
    ),
    "block-header": (
        "After {mark} only “+”, “-”, a digit from 1 to 9 or a comment may stand on the line.",
        "Begin the text on the next line, indented; or put it in quotes if it begins with {mark}.",
    ),
    "colon-in-text": (
        "This text holds a colon and a space, which would begin another key.",
        _QUOTE,
    ),
    "conflict": (
        "This is the mark that an unfinished merge leaves.",
        "Choose between the two sides and delete the lines that begin with <<<<<<<, ======= and >>>>>>>.",
    ),
    "directive": (
        "A line that begins with “%” is an instruction to the reader, and this one is not known.",
        "Delete the line; %YAML 1.2 is the only one that is needed at times.",
    ),
    "extra-closer": ("{written} closes nothing: there is no bracket open before it.", "Delete it."),
    "indentation": (
        "This line does not line up with any line that it could belong to; it is indented by {spaces}.",
        "Keys of one object, and members of one list, begin in the same column.",
    ),
    "indented-below-value": (
        "The key {key} is indented below a line that has a value already.",
        "Give it the indentation of the keys above it, or take away the value above if it belongs inside.",
    ),
    "inline-list": (
        "A list with dashes cannot begin on the line of its key.",
        "Begin it on the next line, write it as [a, b], or put the text in quotes if the dash is part of it.",
    ),
    "item-among-keys": (
        "A member of a list stands among the keys of an object.",
        "Give the list a key, or delete the dash.",
    ),
    "key-among-items": (
        "This stands among the members of a list, but has no dash.",
        "Begin it with “- ”, or indent it so that it belongs to the member above.",
    ),
    "long-key": (
        "The text before this colon is too long for a key, which may have {limit} characters.",
        "Put the whole text in quotes if it is a value.",
    ),
    "mismatch": ("{written} cannot close the {opened} of line {line}.", "Use the bracket that fits."),
    "missing-colon": (
        "{written} stands where a key is expected, but there is no colon and space after it.",
        "Write “key: value”; indent the line further if it continues the text above.",
    ),
    "missing-comma": ("A comma is missing here.", "Members inside brackets are parted by commas."),
    "no-character": (
        "{written} is the number of no character; the last one is \\U0010FFFF.",
        "Write the character itself, or its number with eight digits: \\U0001F600",
    ),
    "no-key": ("A key is missing before this colon.", "Write the key, or put the text in quotes."),
    "placeholder": (
        "Inside brackets the brace of {written} begins an object.",
        'Put the whole text in quotes: "{plain}"',
    ),
    "question-mark": (
        "A question mark and a space begin a long key in YAML, which cannot stand here.",
        _QUOTE,
    ),
    "reference": (
        "{written} begins like an anchor or an alias, but there is no name that it could have.",
        _QUOTE,
    ),
    "reserved-character": ("An unquoted value cannot begin with {written}.", _QUOTE),
    "surrogate-escape": (
        "{written} is half a character; YAML has no pairs of escapes as JSON does.",
        "Write the character itself, or the whole of it with eight digits: \\U0001F600",
    ),
    "tag": (
        "{written} is read as a tag, because it begins with an exclamation mark, but it is none.",
        _QUOTE,
    ),
    "text-after-alias": ("There is text after an alias.", "Put the whole text in quotes if it is no alias."),
    "text-after-quote": (
        "There is text after the closing quote.",
        "Put all of it inside the quotes. Inside single quotes a quote is written twice (''), in double ones \\\".",
    ),
    "unclosed": ("This {opened} is never closed.", "Put a {closer} where it ends."),
    "unclosed-quote": (
        "The text that this quote begins does not end where it should.",
        "Close the quote; inside single quotes a quote is written twice (''), in double ones \\\".",
    ),
    "unexpected": ("{written} cannot stand here.", "Put the text in quotes if it is part of it."),
}


def describe(problem: Problem) -> tuple[str, str | None]:
    message, hint = _WORDS.get(problem.facts["kind"], ("The file cannot be read as YAML from here on.", None))
    facts = {
        name: quoted(fact, 40) if isinstance(fact, str) else f"{fact:,}"
        for name, fact in problem.facts.items()
    }
    facts["plain"] = problem.facts.get("written", "")
    if "spaces" in problem.facts:
        spaces = problem.facts["spaces"]
        facts["spaces"] = "1 space" if spaces == 1 else f"{spaces:,} spaces" if spaces else "no space"
    return message.format(**facts), hint.format(**facts) if hint else None


__all__ = ["CODE", "SEVERITY", "describe"]
