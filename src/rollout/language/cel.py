"""Conditions, the CEL way: ``state.order.status == "delivered" && args.amount <= state.order.total``.

A condition sees ``args``, ``state`` and ``task`` and has to come to true or false. Anything else, such as a key that is
not there or two values that cannot be compared, is an error and never counts as true. The language is
https://github.com/google/cel-spec; its evaluator is loaded when the first condition is read. The ``vars`` of a tool are
written in it too, and come to any JSON value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from math import isfinite
from types import ModuleType
from typing import Any, Final

from rollout.language.cel_functions import NAMES, Meter, Shape, is_match
from rollout.language.cel_paths import Told, UntoldError
from rollout.language.cel_paths import prepare as prepare_path
from rollout.language.cel_tokens import (
    LOOPS,
    Name,
    Token,
    for_evaluator,
    loops,
    names,
    patterns,
    shape,
    tokens,
)
from rollout.language.interpolation import ROOM, FillError
from rollout.language.room import OverfullError, weight

ROOTS: Final = ("args", "state", "task")
"""What a condition can name."""

TOOL_ROOTS: Final = (*ROOTS, "vars")
"""What an expression of a tool can name."""

LONGEST: Final = 2_000
"""How many characters a condition may have."""

_FEW_JOINS: Final = 3

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


class OverworkedError(ConditionError, OverfullError):
    """An expression that goes over more than there is time for; its text is a clause, as of an OverfullError."""


class Facts:
    """What conditions are asked of: built once, it serves any number of conditions over the same values."""

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self.values: dict[str, Any] = {root: scope.get(root, {}) for root in TOOL_ROOTS}
        self.meter = Meter(scope.get(ROOM))

    @cached_property
    def context(self) -> Any:
        """The values and functions as the evaluator takes them."""
        return _evaluator().Context(self.values, self.meter.functions)

    @cached_property
    def weights(self) -> dict[str, int]:
        """About how many bytes the evaluator copies when an expression looks at a root."""
        return {root: weight(value) for root, value in self.values.items()}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was read, ready to be asked any number of times.

    ``looks`` are all the parts of the roots that it looks at; ``told`` is how it is told without the evaluator.
    """

    text: str
    program: Any
    looks: tuple[Name, ...] = ()
    shape: Shape = Shape()  # noqa: RUF009
    told: Told | None = None

    @property
    def names(self) -> tuple[Name, ...]:
        """The parts of the roots that it cannot do without: those it does not ask for with ``has``."""
        asked_for = {(name.root, name.key) for name in self.looks if name.is_asked_for}
        return tuple(
            name for name in self.looks if name.key is not None and (name.root, name.key) not in asked_for
        )

    def holds(self, facts: Facts | Mapping[str, Any]) -> bool:
        """Whether it is true of the facts, or of a scope with :data:`ROOTS`. Raises ConditionError."""
        value = self._come_to(facts, f"The condition {_quoted(self.text)} cannot be told")
        if not isinstance(value, bool):
            raise ConditionError(f"The condition {_quoted(self.text)} is neither true nor false.")
        return value

    def value(self, facts: Facts | Mapping[str, Any]) -> Any:
        """The JSON value it comes to, which may share parts with the facts. Raises ConditionError."""
        subject = f"{_quoted(self.text)} cannot be worked out"
        value = self._come_to(facts, subject)
        try:
            return value if self.told is not None else _in_order(value)
        except TypeError as error:
            raise ConditionError(f"{subject}: {error}") from None

    def _come_to(self, facts: Facts | Mapping[str, Any], subject: str) -> Any:
        known = facts if isinstance(facts, Facts) else Facts(facts)
        if self.told is not None:
            try:
                return self.told(known.values)
            except UntoldError:
                pass  # the evaluator says why
        meter = known.meter
        meter.start(self.shape, self._weights(known) if self.shape.around else (), self._joined(known))
        value: Any = None
        failure: BaseException | None = None
        if not meter.is_overworked:
            try:
                value = self.program.execute(known.context)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # a panic of the evaluator is no Exception
                failure = error
        if meter.is_overworked:
            raise OverworkedError(f"goes over too much to work out {_quoted(self.text)}")
        if failure is not None:
            raise ConditionError(f"{subject}: {meter.fault or _why(failure)}") from None
        if meter.fault is not None:
            raise ConditionError(f"{subject}: {meter.fault}")
        return value

    def _weights(self, facts: Facts) -> list[int]:
        weights = [0] * len(self.shape.around)
        for name in self.looks:
            if name.loop is not None:
                weights[name.loop] += facts.weights[name.root]
        return weights

    def _joined(self, facts: Facts) -> int:
        if self.shape.joins <= _FEW_JOINS:
            return 0
        return sum(facts.weights[name.root] for name in self.looks)


@lru_cache(maxsize=1024)
def parse(text: str, roots: tuple[str, ...] = ROOTS) -> Condition:
    """Reads a condition over ``roots``. Raises MalformedConditionError with its place."""
    if not text.strip():
        raise MalformedConditionError("The condition is empty.", 0, len(text), "Leave it out, or say when.")
    if len(text) > LONGEST:
        raise MalformedConditionError(f"The condition is longer than {LONGEST} characters.", 0, len(text))
    words = tokens(text)
    _refuse_deep_loops(words)
    evaluator = _evaluator()
    try:
        program = evaluator.compile(text)
        variables, functions = program.variables(), program.functions()
        program = evaluator.compile(for_evaluator(text, words))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise _malformed(text, str(error)) from None
    _refuse_unknown(words, roots, frozenset(variables), frozenset(functions))
    looks = tuple(names(words, roots))
    for name in looks:
        if name.root == "vars" and name.key is None:
            raise MalformedConditionError(
                "“vars” is no value by itself.", name.start, name.end, "Name one of them, such as vars.total."
            )
    _refuse_patterns(words)
    return Condition(text, program, looks, shape(words), prepare_path(words, roots))


def _in_order(value: Any) -> Any:
    """A value of the evaluator as JSON, the keys of objects sorted: it gives them in another order every time."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not isfinite(value):
            raise TypeError("it comes to no finite number.")
        return value
    if isinstance(value, list | tuple):
        return [_in_order(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("it makes an object whose keys are not all texts.")
        return {key: _in_order(value[key]) for key in sorted(value)}
    raise TypeError("it comes to a time, a type or bytes, which JSON does not have.")


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


def _refuse_patterns(words: tuple[Token, ...]) -> None:
    for token in patterns(words):
        pattern = _evaluator().compile(token.text).execute({})
        try:
            is_match(pattern, "")
        except TypeError:
            raise MalformedConditionError(
                "This is no pattern that “matches” can use.",
                token.start,
                token.end,
                "Its language is RE2's: no look-ahead such as (?=…), no back reference such as \\1, and "
                "repetitions of a few thousand at most.",
            ) from None


def _refuse_deep_loops(words: tuple[Token, ...]) -> None:
    for token, depth in loops(words):
        if depth > DEEPEST_LOOP:
            raise MalformedConditionError(
                f"More than {DEEPEST_LOOP} loops stand inside one another here.",
                token.start,
                token.end,
                "Split the condition, or keep a count in the state.",
            )


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
        *NAMES,
    }
)


_NEGATION: Final = "For “not”, write !(…)."


def _refuse_unknown(
    words: tuple[Token, ...], roots: tuple[str, ...], variables: frozenset[str], functions: frozenset[str]
) -> None:
    bound = {
        words[number + 2].text
        for number, token in enumerate(words[:-2])
        if token.text in LOOPS and words[number + 1].text == "("
    }
    names = {name for name in functions if name[:1].isalpha()}
    for number, token in enumerate(words):
        if not token.is_name:
            continue
        called = number + 1 < len(words) and words[number + 1].text == "("
        member = number > 0 and words[number - 1].text == "."
        if called and token.text in names - _FUNCTIONS:
            raise MalformedConditionError(
                f"There is no function {_quoted(token.text)}.",
                token.start,
                token.end,
                _NEGATION
                if token.text == "not"
                else "The functions are size, contains, startsWith, endsWith, matches, has, in; all, exists, "
                f"filter, map; {', '.join(sorted(NAMES))}.",
            )
        if not called and not member and token.text in variables - {*roots, *bound}:
            raise MalformedConditionError(
                f"{_quoted(token.text)} is not known here.",
                token.start,
                token.end,
                f"A condition sees {', '.join(roots[:-1])} and {roots[-1]}; a text stands in quotes.",
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
    hint = _way_out(text)
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


def _way_out(text: str) -> str:
    words = list(pairwise(token.text for token in tokens(text)))
    if ("$", "{") in words:
        return "Names stand as they are in a condition, such as state.open: leave “${” and “}” away."
    if ("not", "in") in words:
        return "For “not in”, write !(… in …)."
    if any("not" in pair for pair in words):
        return _NEGATION
    return "Compare with ==, join with && and ||, and put texts into quotes."


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
    "TOOL_ROOTS",
    "Condition",
    "ConditionError",
    "Facts",
    "MalformedConditionError",
    "Name",
    "OverworkedError",
    "parse",
]
