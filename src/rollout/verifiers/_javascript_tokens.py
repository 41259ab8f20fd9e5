"""The tokens of a JavaScript or TypeScript program, read without a grammar: any text has some."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rollout.verifiers._reaching_python import words


class Token(NamedTuple):
    """``kind`` is name, text (a string), pattern, number or sign."""

    kind: str
    text: str
    line: int


_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|\A\#![^\n]*)
    |(?P<name>\#?(?:[A-Za-z_$\u0080-\U0010ffff]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]+\}))(?:[\w$\u0080-\U0010ffff]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]+\}))*)
    |(?P<number>\.?\d[\w.]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)
    |(?P<sign>=>|===?|!==?|<=|>=|\?\.|\?\?=?|&&=?|\|\|=?|\.\.\.|[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_PATTERN = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
_LONGEST_PATTERN, _MOST_FAILURES = 1000, 30
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\n|.))", re.DOTALL)
_BEFORE_PATTERN = words("( , = : [ ! & | ? { } ; + - * % ~ ^ < > => == === != !== && || ?? ... ${")
_WORDS_BEFORE_PATTERN = words(
    """
    return typeof case in of delete void throw new await
    """
)
_NO_VALUE = _WORDS_BEFORE_PATTERN | words("yield else do default extends instanceof export from import")


def tokens_of(content: str) -> list[Token]:
    """The tokens of a program, without white space and comments; what a template holds in ${} is among them."""
    found: list[Token] = []
    at, line = 0, 1
    # How deep braces are when a template goes on.
    depth, templates = 0, [-1]
    failures: Counter[int] = Counter()
    while at < len(content):
        is_template = content[at] == "`" or (content[at] == "}" and depth == templates[-1])
        if is_template:
            if content[at] == "}":
                templates.pop()
                depth -= 1
            end, opens = _template_end(content, at + 1)
            found.append(Token("text", _decoded(content[at + 1 : end]), line))
            line += content.count("\n", at, end)
            at = end + (2 if opens else 1)
            if opens:
                depth += 1
                templates.append(depth)
                found.append(Token("sign", "${", line))
            continue
        pattern = None
        if content[at] == "/" and _may_be_pattern(found) and failures[line] < _MOST_FAILURES:
            pattern = _PATTERN.match(content, at, at + _LONGEST_PATTERN)
            failures[line] += pattern is None
        if pattern is not None and content[at : at + 2] not in ("//", "/*"):
            found.append(Token("pattern", pattern[0], line))
            at = pattern.end()
            continue
        match = _TOKEN.match(content, at)
        assert match is not None and match.lastgroup is not None
        kind, text = match.lastgroup, match[0]
        if kind == "name":
            found.append(Token(kind, _decoded(text), line))
        elif kind == "text":
            found.append(Token(kind, _decoded(text[1:].removesuffix(text[0])), line))
        elif kind in ("number", "sign"):
            depth += {"{": 1, "}": -1}.get(text, 0)
            found.append(Token(kind, text, line))
        line += text.count("\n")
        at = match.end()
    return found


def _template_end(content: str, at: int) -> tuple[int, bool]:
    while at < len(content):
        if content[at] == "\\":
            at += 2
        elif content[at] == "`":
            return at, False
        elif content.startswith("${", at):
            return at, True
        else:
            at += 1
    return len(content), False


def _may_be_pattern(found: Sequence[Token]) -> bool:
    if not found:
        return True
    kind, text, _ = found[-1]
    if kind == "sign":
        return text in _BEFORE_PATTERN
    return kind == "name" and text in _WORDS_BEFORE_PATTERN


def _decoded(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is None:
        return "" if match[4] == "\n" else match[4]
    number = int(digits, 16)
    return chr(number) if number < 0x110000 else ""


def plainly(tokens: Sequence[Token]) -> list[Token]:
    """The same tokens with ``a["b"]`` and ``a?.["b"]`` as ``a.b``, and ``(a).b`` and ``(a as any).b`` as ``a.b``."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if _is_value(found[-1:]) and (name := _named_member(tokens, at)) is not None:
            if found[-1].text != "?.":
                found.append(Token("sign", ".", token.line))
            found.append(name)
            at += 3
        elif _is_sign(token, "(") and not _is_value(found[-1:]) and (end := _end_of_wrapping(tokens, at)):
            found += tokens[at + 1 : at + _length_of_name(tokens, at + 1) + 1]
            at = end
        else:
            found.append(token)
            at += 1
    return found


def _is_value(last: Sequence[Token]) -> bool:
    if not last:
        return False
    kind, text, _ = last[0]
    if kind == "sign":
        return text in (")", "]", "?.")
    return kind == "text" or (kind == "name" and text not in _NO_VALUE)


def _is_sign(token: Token, text: str) -> bool:
    return token.kind == "sign" and token.text == text


def _named_member(tokens: Sequence[Token], at: int) -> Token | None:
    if at + 2 >= len(tokens) or not _is_sign(tokens[at], "[") or not _is_sign(tokens[at + 2], "]"):
        return None
    kind, text, line = tokens[at + 1]
    return Token("name", text, line) if kind == "text" and re.fullmatch(r"[\w$]+", text) else None


def _length_of_name(tokens: Sequence[Token], at: int) -> int:
    """How many tokens ``a.b.c`` has."""
    end = at + 1
    while end + 1 < len(tokens) and tokens[end].text in (".", "?.") and tokens[end + 1].kind == "name":
        end += 2
    return end - at


def _end_of_wrapping(tokens: Sequence[Token], at: int) -> int | None:
    """Where what follows ``(name)`` or ``(a.b as type)`` begins, if a member of it follows."""
    if at + 3 >= len(tokens) or tokens[at + 1].kind != "name":
        return None
    end = at + 1 + _length_of_name(tokens, at + 1)
    if end + 1 >= len(tokens):
        return None
    if tokens[end].text == "as":
        while end < min(len(tokens) - 1, at + 20) and tokens[end].text not in ("(", ")"):
            end += 1
    if not _is_sign(tokens[end], ")"):
        return None
    return end + 1 if tokens[end + 1].text in (".", "?.", "[") else None


__all__ = ["Token", "plainly", "tokens_of"]
