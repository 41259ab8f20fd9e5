"""The words of an expression: what it names, where its loops are, and the text that the evaluator is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rollout.language.cel_functions import CHOSEN, COUNTED, KEPT, MAPPED, MATCHES, SIZE, Shape

LOOPS = frozenset({"all", "exists", "exists_one", "existsOne", "filter", "map"})
GATHERING = frozenset({"filter", "map"})
"""Those that gather a list, which the evaluator copies in every round."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a literal or a sign, and its offset into the text."""

    text: str
    start: int
    is_name: bool

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Name:
    """A part of a root that an expression looks at, such as ``state`` and ``cart``, and its offsets.

    ``key`` is None where the root is looked at whole. ``steps`` are all the names that follow the root, as in
    ``state.shop.open``. ``loop`` is the number of the innermost loop it stands in, None where it stands in none.
    """

    root: str
    key: str | None
    start: int
    end: int
    steps: tuple[str, ...] = ()
    loop: int | None = None
    is_asked_for: bool = False
    """Whether it stands in ``has(…)``."""


_LEXEME = re.compile(
    r"""//[^\n]*
    | [bB]?[rR][bB]?(?:\"\"\".*?\"\"\"|'''.*?'''|"[^"\n]*"|'[^'\n]*')
    | [bB]?(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | [0-9][0-9A-Za-z_.]*
    | \S""",
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text, without comments; never raises."""
    return tuple(
        Token(match[0], match.start(), match["name"] is not None)
        for match in _LEXEME.finditer(text)
        if not match[0].startswith("//")
    )


def loops(words: tuple[Token, ...]) -> Iterator[tuple[Token, int]]:
    """The loops of an expression, each with how many stand around it and itself."""
    open_brackets: list[bool] = []
    for number, token in enumerate(words):
        if token.text == "(":
            is_loop = number > 0 and _is_loop(words, number - 1)
            open_brackets.append(is_loop)
            if is_loop:
                yield words[number - 1], sum(open_brackets)
        elif token.text == ")" and open_brackets:
            open_brackets.pop()


def shape(words: tuple[Token, ...]) -> Shape:
    """What of an expression says how much it goes over."""
    around: list[int | None] = []
    loops_around: list[int | None] = []
    for number, token in enumerate(words):
        if token.text == "(":
            here = around[-1] if around else None
            if number and _is_loop(words, number - 1):
                loops_around.append(here)
                here = len(loops_around) - 1
            around.append(here)
        elif token.text == ")" and around:
            around.pop()
    return Shape(tuple(loops_around), sum(token.text == "+" for token in words))


def patterns(words: tuple[Token, ...]) -> Iterator[Token]:
    """The literal texts that are given to ``matches`` as patterns."""
    for number, token in enumerate(words[:-3]):
        if token.is_name and token.text == "matches" and words[number + 1].text == "(":
            # x.matches("…"), or matches(x, "…"): the pattern is what stands before the bracket that closes it.
            depth, at = 1, number + 2
            while at < len(words) and depth:
                depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(words[at].text, 0)
                at += 1
            last = words[at - 2]
            if last.text[-1] in "\"'" and words[at - 3].text in ("(", ","):
                yield last


def names(words: tuple[Token, ...], roots: tuple[str, ...]) -> Iterator[Name]:
    """What an expression looks at below ``roots``, in the order it is written."""
    around: list[int | None] = []
    count = 0
    for number, token in enumerate(words):
        if token.text == "(":
            if number and _is_loop(words, number - 1):
                around.append(count)
                count += 1
            else:
                around.append(around[-1] if around else None)
        elif token.text == ")" and around:
            around.pop()
        elif token.text in roots and token.is_name and (not number or words[number - 1].text != "."):
            steps = _steps(words, number)
            asked = [each.text for each in words[max(number - 2, 0) : number]] == ["has", "("]
            end = words[number + 2].end if steps else token.end
            yield Name(
                token.text,
                steps[0] if steps else None,
                token.start,
                end,
                steps,
                around[-1] if around else None,
                asked,
            )


def _steps(words: tuple[Token, ...], number: int) -> tuple[str, ...]:
    steps: list[str] = []
    while number + 2 < len(words) and words[number + 1].text == "." and words[number + 2].is_name:
        if number + 3 < len(words) and words[number + 3].text == "(":
            break  # a function of what came before
        number += 2
        steps.append(words[number].text)
    return tuple(steps)


_OURS = {"size": SIZE, "matches": MATCHES}


def for_evaluator(text: str, words: tuple[Token, ...]) -> str:
    """The text with our own ``size`` and ``matches``, and every loop counted: what it goes over, what it gathers.

    ``a.filter(x, p)`` becomes ``a.counted(0).filter(x, (p) && chosen(x, 0))``;
    ``a.map(x, e)`` becomes ``a.mapped(0).map(x, kept(e, 0))``.
    """
    put: list[tuple[int, int, str]] = []
    open_brackets: list[tuple[int, int, int]] = []
    """The loop's number or -1, the number of its name's token, and of the last comma in it."""
    count = 0
    for number, token in enumerate(words):
        follows = number + 1 < len(words) and words[number + 1].text == "("
        if token.is_name and token.text in _OURS and follows:
            put.append((token.start, token.end, _OURS[token.text]))
        elif token.text in ("(", "[", "{"):
            if token.text == "(" and number and _is_loop(words, number - 1):
                name = words[number - 1]
                counted = MAPPED if name.text == "map" else COUNTED
                put.append((name.start, name.start, f"{counted}({count})."))
                open_brackets.append((count, number - 1, -1))
                count += 1
            else:
                open_brackets.append((-1, number, -1))
        elif token.text == "," and open_brackets:
            open_brackets[-1] = (*open_brackets[-1][:2], number)
        elif token.text in (")", "]", "}") and open_brackets:
            loop, name_at, comma = open_brackets.pop()
            macro, variable = words[name_at].text, words[min(name_at + 2, len(words) - 1)].text
            if loop < 0 or comma < 0 or macro not in GATHERING:
                continue
            chosen = macro == "filter"
            put.append((words[comma].end, words[comma].end, " (" if chosen else f" {KEPT}("))
            last = f") && {CHOSEN}({variable}, {loop})" if chosen else f", {loop})"
            put.append((token.start, token.start, last))
    written, at = "", 0
    for start, end, what in sorted(put, key=lambda each: each[:2]):
        written += text[at:start] + what
        at = end
    return written + text[at:]


def _is_loop(words: tuple[Token, ...], number: int) -> bool:
    token = words[number]
    follows = number + 1 < len(words) and words[number + 1].text == "("
    return follows and token.is_name and token.text in LOOPS and number > 0 and words[number - 1].text == "."


__all__ = ["LOOPS", "Name", "Token", "for_evaluator", "loops", "names", "patterns", "shape", "tokens"]
