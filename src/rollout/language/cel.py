"""Conditions, the CEL way: ``state.order.status == "delivered" && args.amount <= state.order.total``.

A condition sees ``args``, ``state`` and ``task`` and has to come to true or false. Anything else, such as a key that is
not there or two values that cannot be compared, is an error and never counts as true. The language is
https://github.com/google/cel-spec; its evaluator is loaded when the first condition is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from types import ModuleType
from typing import Any, Final

from rollout.language.interpolation import FillError

ROOTS: Final = ("args", "state", "task")
"""What a condition can name."""

LONGEST: Final = 2_000
"""How many characters a condition may have."""

DEEPEST_LOOP: Final = 2
"""How many all, exists, filter and map may stand inside one another; each multiplies the time by a list's length."""


class MalformedConditionError(ValueError):
    """A text that is no condition. ``start`` and ``end`` are offsets into the text; ``hint`` is the way out."""

    def __init__(self, message: str, start: int, end: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint


class ConditionError(FillError):
    """A condition that came to neither true nor false; its text is a sentence that says why."""


class Facts:
    """What conditions are asked of: built once, it serves any number of conditions over the same values."""

    def __init__(self, scope: Mapping[str, Any]) -> None:
        evaluator = _evaluator()
        values = {root: scope.get(root, {}) for root in ROOTS}
        self.context = evaluator.Context(values, {_SIZE: _size})


@dataclass(frozen=True, slots=True)
class Name:
    """A part of a root that a condition cannot do without, such as ``state`` and ``cart``, and its offsets."""

    root: str
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was read, ready to be asked any number of times.

    ``names`` are the parts of the roots that it names, without those that it asks for with ``has``.
    """

    text: str
    program: Any
    names: tuple[Name, ...] = ()

    def holds(self, facts: Facts | Mapping[str, Any]) -> bool:
        """Whether it is true of the facts, or of a scope with :data:`ROOTS`. Raises ConditionError."""
        known = facts if isinstance(facts, Facts) else Facts(facts)
        try:
            value = self.program.execute(known.context)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of the evaluator is no Exception
            raise ConditionError(
                f"The condition {_quoted(self.text)} cannot be told: {_why(error)}"
            ) from None
        if not isinstance(value, bool):
            raise ConditionError(f"The condition {_quoted(self.text)} is neither true nor false.")
        return value


@lru_cache(maxsize=1024)
def parse(text: str) -> Condition:
    """Reads a condition. Raises MalformedConditionError with its place."""
    if not text.strip():
        raise MalformedConditionError("The condition is empty.", 0, len(text), "Leave it out, or say when.")
    if len(text) > LONGEST:
        raise MalformedConditionError(f"The condition is longer than {LONGEST} characters.", 0, len(text))
    tokens = tuple(_tokens(text))
    _refuse_deep_loops(tokens)
    evaluator = _evaluator()
    try:
        program = evaluator.compile(text)
        variables, functions = program.variables(), program.functions()
        if "size" in functions:
            program = evaluator.compile(_with_our_size(text, tokens))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise _malformed(text, str(error)) from None
    _refuse_unknown(tokens, frozenset(variables), frozenset(functions))
    return Condition(text, program, tuple(_names(tokens)))


@cache
def _evaluator() -> ModuleType:
    import sys

    name = "cel.cli"
    if name in sys.modules or "cel" in sys.modules:
        import cel

        return cel
    # The package imports its own command line, which takes 250 ms and is not needed to evaluate anything.
    sys.modules[name] = ModuleType(name)
    try:
        import cel
    finally:
        del sys.modules[name]
    return cel


def _names(tokens: tuple[_Token, ...]) -> Iterator[Name]:
    found: list[Name] = []
    asked_for: set[tuple[str, str]] = set()
    for number in range(len(tokens) - 2):
        root, dot, key = tokens[number : number + 3]
        before = [token.text for token in tokens[max(number - 2, 0) : number]]
        if root.text in ROOTS and dot.text == "." and key.is_name and before[-1:] != ["."]:
            if before == ["has", "("]:
                asked_for.add((root.text, key.text))
            found.append(Name(root.text, key.text, root.start, key.start + len(key.text)))
    return (name for name in found if (name.root, name.key) not in asked_for)


_SIZE = "size_in_characters"


def _size(value: Any) -> int | None:
    # The evaluator's own size counts the bytes of a text; the specification has it count characters.
    return len(value) if isinstance(value, str | bytes | list | dict | tuple) else None


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    is_name: bool


_LEXEME = re.compile(
    r"""//[^\n]*
    | [bB]?[rR][bB]?(?:\"\"\".*?\"\"\"|'''.*?'''|"[^"\n]*"|'[^'\n]*')
    | [bB]?(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | [0-9][0-9A-Za-z_.]*
    | \S""",
    re.VERBOSE | re.DOTALL,
)


def _tokens(text: str) -> Iterator[_Token]:
    for match in _LEXEME.finditer(text):
        if not match[0].startswith("//"):
            yield _Token(match[0], match.start(), match["name"] is not None)


_LOOPS = frozenset({"all", "exists", "exists_one", "existsOne", "filter", "map"})


def _refuse_deep_loops(tokens: tuple[_Token, ...]) -> None:
    open_brackets: list[bool] = []
    for number, token in enumerate(tokens):
        if token.text == "(":
            before = tokens[number - 1] if number else None
            open_brackets.append(before is not None and before.is_name and before.text in _LOOPS)
            if sum(open_brackets) > DEEPEST_LOOP:
                assert before is not None
                raise MalformedConditionError(
                    f"More than {DEEPEST_LOOP} loops stand inside one another here.",
                    before.start,
                    before.start + len(before.text),
                    "Split the condition, or keep a count in the state.",
                )
        elif token.text == ")" and open_brackets:
            open_brackets.pop()


def _with_our_size(text: str, tokens: tuple[_Token, ...]) -> str:
    written, at = "", 0
    for token, after in pairwise(tokens):
        if token.is_name and token.text == "size" and after.text == "(":
            written += text[at : token.start] + _SIZE
            at = token.start + len(token.text)
    return written + text[at:]


_FUNCTIONS = frozenset(
    {
        "bytes",
        "contains",
        "double",
        "duration",
        "dyn",
        "endsWith",
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getFullYear",
        "getHours",
        "getMilliseconds",
        "getMinutes",
        "getMonth",
        "getSeconds",
        "int",
        "matches",
        "size",
        "startsWith",
        "string",
        "timestamp",
        "type",
        "uint",
    }
)


def _refuse_unknown(tokens: tuple[_Token, ...], variables: frozenset[str], functions: frozenset[str]) -> None:
    bound = {
        tokens[number + 2].text
        for number, token in enumerate(tokens[:-2])
        if token.text in _LOOPS and tokens[number + 1].text == "("
    }
    names = {name for name in functions if name[:1].isalpha()}
    for number, token in enumerate(tokens):
        if not token.is_name:
            continue
        called = number + 1 < len(tokens) and tokens[number + 1].text == "("
        member = number > 0 and tokens[number - 1].text == "."
        end = token.start + len(token.text)
        if called and token.text in names - _FUNCTIONS:
            raise MalformedConditionError(
                f"There is no function {_quoted(token.text)}.",
                token.start,
                end,
                "The functions are size, contains, startsWith, endsWith, matches, has, in; all, exists, filter, map.",
            )
        if not called and not member and token.text in variables - {*ROOTS, *bound}:
            raise MalformedConditionError(
                f"{_quoted(token.text)} is not known here.",
                token.start,
                end,
                "A condition sees args, state and task; a text stands in quotes.",
            )


_PLACE = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?([^\n]*)")
_FOUND = re.compile(
    r"(?:mismatched|extraneous) input (?P<quote>['\"])(?P<text>.*?)(?P=quote)(?: expecting|$)"
)


def _malformed(text: str, words: str) -> MalformedConditionError:
    match = _PLACE.search(words)
    if match is None:
        return MalformedConditionError("This is no condition.", 0, len(text))
    lines = text.split("\n")
    line = min(int(match[1]), len(lines)) - 1
    start = sum(len(each) + 1 for each in lines[:line]) + int(match[2]) - 1
    start = max(0, min(start, len(text)))
    found = _FOUND.search(match[3])
    hint = "Compare with ==, join with && and ||, and put texts into quotes."
    if (found is not None and found["text"] == "<EOF>") or start >= len(text.rstrip()):
        end = len(text.rstrip())
        return MalformedConditionError("The condition ends too early.", max(end - 1, 0), end, hint)
    if found is not None:
        return MalformedConditionError(
            f"{_quoted(found['text'])} cannot stand here.", start, start + len(found["text"]), hint
        )
    return MalformedConditionError(
        "This is no condition from here on.", start, min(start + 1, len(text)), hint
    )


def _why(error: BaseException) -> str:
    if isinstance(error, KeyError):
        return f"there is no {_quoted(str(error.args[0]))}."
    if isinstance(error, IndexError):
        return "a list has no item of that number."
    if isinstance(error, ZeroDivisionError):
        return "it divides by zero."
    if isinstance(error, TypeError):
        return "two values in it do not go together, such as a text and a number, or a whole number and a fraction."
    words = str(error).partition("\n")[0].partition(". Check")[0] or type(error).__name__
    return f"{words}."


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line if len(line) <= 120 else line[:119] + '…'}”"


__all__ = [
    "DEEPEST_LOOP",
    "LONGEST",
    "ROOTS",
    "Condition",
    "ConditionError",
    "Facts",
    "MalformedConditionError",
    "Name",
    "parse",
]
