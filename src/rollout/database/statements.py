"""Takes SQL text apart: into its statements, and a statement into its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<text>[xX]?'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
      | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<word>[^\W\d][\w$]*)
      | (?P<sign>\|\||<=|>=|<>|!=|==|<<|>>|->>|->|.)""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """One token: its kind (``text``, ``quoted``, ``number``, ``word``, ``sign``), how it is written, where, how deep.

    ``depth`` counts the parentheses around it; those themselves count as outside.
    """

    kind: str
    text: str
    start: int
    depth: int

    @property
    def word(self) -> str:
        """An unquoted word in capitals; empty for any other token."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def name(self) -> str | None:
        """The identifier that the token is, without its quotes; None when it is none."""
        if self.kind == "word":
            return self.text
        if self.kind == "quoted":
            inner, quote = self.text[1:-1], self.text[-1]
            return inner if quote == "]" else inner.replace(quote * 2, quote)
        return None


def tokens(sql: str) -> list[Token]:
    """The tokens of SQL text in SQLite's dialect, without white space and comments."""
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(sql):
        kind = str(match.lastgroup)
        if kind == "space":
            continue
        text = match.group()
        if text == ")":
            depth = max(0, depth - 1)
        found.append(Token(kind, text, match.start(), depth))
        if text == "(":
            depth += 1
    return found


# What ends a statement, as SQLite's sqlite3_complete() has it: a semicolon, but within CREATE TRIGGER only one that
# follows on “; END”. Asking it anew at every semicolon would take time by the square of their number.
_PIECE = re.compile(
    r"""(?P<space>[ \t\n\r\f]+|--[^\n]*|/\*.*?\*/)
      | (?P<semicolon>;)
      | (?P<word>[0-9A-Za-z_$\x80-\U0010ffff]+)
      | (?P<open>(?:/\*|['"`\[]))
      | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_CLOSING: Final = {"'": "'", '"': '"', "`": "`", "[": "]"}


def statements(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of ``text`` that are one SQL statement each, without the white space and comments before them."""
    start = at = 0
    state = "start"
    while (piece := _PIECE.match(text, at)) is not None:
        at = piece.end()
        if piece.lastgroup == "semicolon":
            if state not in ("trigger", "trigger;"):
                yield from _trimmed(text, start, at)
                start, state = at, "start"
            else:
                state = "trigger;"
        elif piece.lastgroup == "open":
            closing = _CLOSING.get(piece.group())
            at = text.find(closing, at) + 1 if closing is not None else 0
            if at == 0:
                break  # it is never closed, so there is no other statement
            state = _after(state, "")
        elif piece.lastgroup != "space":
            state = _after(state, piece.group().lower() if piece.lastgroup == "word" else "")
    yield from _trimmed(text, start, len(text))


def _after(state: str, word: str) -> str:
    match state, word:
        case "start", "explain":
            return "explain"
        case "start" | "explain", "create":
            return "create"
        case "explain", "":
            return "explain"
        case "create", "temp" | "temporary":
            return "create"
        case "create", "trigger":
            return "trigger"
        case "trigger;", "end":
            return "end"
        case "trigger" | "trigger;" | "end", _:
            return "trigger"
        case "explain", _ if word not in ("explain", "temp", "temporary", "trigger", "end"):
            return "explain"
    return "normal"


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        if text[start].isspace() or text[start] == ";":
            start += 1
        elif text.startswith("--", start):
            newline = text.find("\n", start, end)
            start = end if newline < 0 else newline + 1
        elif text.startswith("/*", start):
            close = text.find("*/", start + 2, end)
            start = end if close < 0 else close + 2
        else:
            yield start, end
            return


__all__ = ["Token", "statements", "tokens"]
