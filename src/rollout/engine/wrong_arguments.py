"""Wrong arguments for right tools: another task's right ones, the strongest there are, or drawn from the schema.

What is drawn is the same in every run, satisfies the tool's parameters, and is never what the task's solution says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from math import isfinite
from random import Random
from typing import Any

from rollout.engine.toolbox import BadCallError, Toolbox
from rollout.language.canonical import canonical, dump
from rollout.language.compare import compare
from rollout.models import Call
from rollout.models._drawing import Drawing
from rollout.templates import Script, Tool

_MOST_KEPT = 200
_DRAWS = 20
_MOST_OTHERS = 2
_UNKNOWN = "I could not find that out."

Steps = tuple[str | int, ...]


class Pool:
    """The right arguments and answers of all tasks of an environment, from which one task's wrong ones are taken."""

    def __init__(self, toolbox: Toolbox, scripts: Sequence[Script | None]) -> None:
        self.toolbox = toolbox
        self._tools = {tool.name: tool for tool in toolbox.tools}
        self._by_tool: dict[str, dict[bytes, dict[str, Any]]] = defaultdict(dict)
        self._answers: dict[bytes, Any] = {}
        for step in (step for script in scripts for step in script or ()):
            if not isinstance(step, dict):
                continue
            args = step.get("args") or {}
            if "answer" in step:
                if len(self._answers) < _MOST_KEPT:
                    self._answers.setdefault(canonical(step["answer"]), step["answer"])
            elif isinstance(args, dict) and len(kept := self._by_tool[str(step.get("tool"))]) < _MOST_KEPT:
                kept.setdefault(canonical(args), args)

    def wrong(self, tool: str, right: Sequence[Mapping[str, Any]], key: str) -> dict[str, Any] | None:
        """Arguments that are none of ``right``: another task's, else drawn with ``key`` as the seed, else None."""
        taken = {canonical(args) for args in right}
        # A form or a page has to be the same, or it is another deed.
        like = [args for args in self._by_tool[tool].values() if _same_place(args, right)]
        for args in (*like, *self._by_tool[tool].values()):
            if canonical(args) not in taken:
                return args
        return next((args for args in self._drawn(tool, key) if canonical(args) not in taken), None)

    def any(self, tool: Tool, right: Sequence[Mapping[str, Any]], key: str) -> dict[str, Any]:
        """Arguments for a call of ``tool``, wrong ones where there are any."""
        return self.wrong(tool.name, right, key) or next(self._drawn(tool.name, key), {})

    def one_wrong(
        self, tool: str, args: Mapping[str, Any], *, tolerance: float = 0.0
    ) -> Iterator[dict[str, Any]]:
        """``args`` with one value after the other wrong. Free text is left as it is: there is no wrong one.

        Each number is also replaced by one as far off as ``tolerance`` lets it be.
        """
        for steps, value in _leaves(args, ()):
            others = (_at(each, steps) for each in self._by_tool[tool].values() if _same_place(each, [args]))
            for candidates in (chain(others, _beside(value)), _at_the_edge(value, tolerance)):
                for other in candidates:
                    if type(other) is not type(value) or compare(value, other) is None:
                        continue
                    varied = _with(args, steps, other)
                    if self._fits(tool, varied):
                        yield varied
                        break

    @property
    def answers(self) -> Sequence[Any]:
        """The answers of all tasks, each once."""
        return list(self._answers.values())

    def wrong_answers(self, right: Any, *, tolerance: float = 0.0) -> Iterator[Any]:
        """Other tasks' answers of the same kind, then answers made up: 711 and 12 for 11, a list without its end.

        A number is also off by as much as ``tolerance`` lets it be.
        """
        others = (each for each in self._answers.values() if type(each) is type(right))
        yield from islice((each for each in others if compare(right, each) is not None), _MOST_OTHERS)
        made_up = chain(_made_up(right), islice(_at_the_edge(right, tolerance), 1))
        yield from (each for each in made_up if compare(right, each) is not None)

    def _drawn(self, name: str, key: str) -> Iterator[dict[str, Any]]:
        tool = self._tools.get(name)
        if tool is None:
            return
        drawing = Drawing(Random(f"{key}/{name}"), tool.parameters)
        for _ in range(_DRAWS):
            args = drawing.value()
            if isinstance(args, dict) and self._fits(name, args):
                yield args

    def _fits(self, tool: str, args: Mapping[str, Any]) -> bool:
        try:
            self.toolbox.read(Call("", tool, dump(args).decode("utf-8")))
        except BadCallError:
            return False
        return True


def _made_up(right: Any) -> Iterator[Any]:
    if isinstance(right, bool):
        yield not right
    elif isinstance(right, int | float):
        yield from (each for each in (right + 1, longer(right)) if isinstance(each, int) or isfinite(each))
    elif isinstance(right, list):
        yield right[:-1] or [*right, _UNKNOWN]
    else:
        yield _UNKNOWN


def longer(number: int | float) -> int | float:
    """A number that ends like ``number`` and is another: 711 for 11."""
    digits = str(abs(number))
    written = f"{'-' if number < 0 else ''}7{digits}"
    return int(written) if isinstance(number, int) else float(written)


def _same_place(args: Mapping[str, Any], right: Sequence[Mapping[str, Any]]) -> bool:
    return any(args.keys() == each.keys() and args.get("element") == each.get("element") for each in right)


def _leaves(value: Any, steps: Steps) -> Iterator[tuple[Steps, Any]]:
    if isinstance(value, Mapping):
        for key, member in value.items():
            if (*steps, key) != ("element",):
                yield from _leaves(member, (*steps, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _leaves(member, (*steps, index))
    elif isinstance(value, int | float) or (isinstance(value, str) and not any(map(str.isspace, value))):
        yield steps, value


def _at(value: Any, steps: Steps) -> Any:
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _with(value: Any, steps: Steps, other: Any) -> Any:
    if not steps:
        return other
    copy: Any = dict(value) if isinstance(value, Mapping) else list(value)
    copy[steps[0]] = _with(value[steps[0]], steps[1:], other)
    return copy


def _at_the_edge(value: Any, tolerance: float) -> Iterator[Any]:
    """Numbers that are as far from a number as is tolerated, or less far where the schema allows no such number."""
    if tolerance <= 0 or isinstance(value, bool) or not isinstance(value, int | float):
        return
    for share in (1, 0.5, 0.1, 0.01):
        step = tolerance * share
        for other in (value + step, value - step):
            if isfinite(other) and (isinstance(value, float) or abs(step) >= 1):
                yield type(value)(other)


def _beside(value: Any) -> Iterator[Any]:
    """Values that are near a value and other than it."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
        yield value - 1
    elif value[-1:].isdecimal():  # a digit such as “²” is no number
        yield value[:-1] + str((int(value[-1]) + 1) % 10)
    elif value:
        yield f"{value}x"


__all__ = ["Pool", "longer"]
