"""What one call of a tool knows: its arguments, the state before it, and the tool's ``vars``, worked out on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rollout.language.canonical import whole_numbers
from rollout.language.cel import TOOL_ROOTS, Condition, Facts, MalformedConditionError, parse
from rollout.language.circles import circles
from rollout.language.interpolation import ROOM, FillError, Scope
from rollout.language.placeholders import spots
from rollout.language.room import OverfullError, weight
from rollout.templates import TemplateError

MOST = 100
"""How many vars a tool may have: each may need the one before it, so that this is how deep they lie."""

LARGEST = 5_000_000
"""About how many bytes one of the ``vars`` may come to."""


class Variables:
    """The ``vars`` of a tool, read once."""

    def __init__(self, tool: str, written: Mapping[str, Any]) -> None:
        self.tool = tool
        if len(written) > MOST:
            raise TemplateError(f"“{tool}” has {len(written)} vars; there may be {MOST}.")
        self.expressions = {name: self.read(text, f"vars.{name}") for name, text in written.items()}
        needs = {
            name: self.needed(variables_in(expression), f"vars.{name}")
            for name, expression in self.expressions.items()
        }
        for name, _ in circles(needs):
            raise TemplateError(f"“vars.{name}” of “{tool}” needs itself to be worked out.")

    def read(self, text: Any, where: str) -> Condition:
        """An expression of the tool. Raises TemplateError."""
        if not isinstance(text, str):
            raise TemplateError(f"“{where}” of “{self.tool}” is no text.")
        try:
            condition = parse(text, TOOL_ROOTS)
        except MalformedConditionError as error:
            raise TemplateError(f"“{where}” of “{self.tool}” cannot be read. {error.message}") from None
        return condition

    def needed(self, names: Iterator[str], where: str) -> tuple[str, ...]:
        """The names, each once. Raises TemplateError for one that is not declared."""
        wanted = tuple(dict.fromkeys(names))
        for name in wanted:
            if name not in self.expressions:
                raise TemplateError(f"“{where}” of “{self.tool}” uses “vars.{name}”, which is not declared.")
        return wanted


class OneCall:
    """The facts of one call. ``scope`` is what placeholders see before it."""

    def __init__(self, variables: Variables, scope: Scope) -> None:
        self._expressions = variables.expressions
        self.scope = scope
        self._known: dict[str, Any] = {}
        self._failed: dict[str, FillError] = {}

    def holds(self, condition: Condition) -> bool:
        """Whether a condition is true. Raises FillError."""
        return bool(self._ask(condition, Condition.holds))

    def filled(self, names: tuple[str, ...], state: Any = None) -> Scope:
        """What placeholders see that need ``names`` of the vars; with ``state`` in place of the state before."""
        shown = {name: whole_numbers(self._variable(name)) for name in names}
        return (
            {**self.scope, "vars": shown} if state is None else {**self.scope, "vars": shown, "state": state}
        )

    def _variable(self, name: str) -> Any:
        if name in self._failed:
            raise self._failed[name]
        if name not in self._known:
            try:
                value = self._ask(self._expressions[name], Condition.value)
                if weight(value) > LARGEST:
                    raise OverfullError(f"works out more than {LARGEST:,} bytes, for “vars.{name}”")
            except FillError as error:
                self._failed[name] = error
                raise
            self._known[name] = value
        return self._known[name]

    def _ask(self, condition: Condition, how: Any) -> Any:
        facts, missing = self._facts(condition)
        try:
            return how(condition, facts)
        except FillError:
            # What could not be worked out is only missed where the condition gets to it.
            if missing is not None:
                raise missing from None
            raise

    def _facts(self, condition: Condition) -> tuple[Facts, FillError | None]:
        known: dict[str, Any] = {}
        missing: FillError | None = None
        for name in variables_in(condition):
            try:
                known[name] = self._variable(name)
            except FillError as error:
                missing = missing or error
        scope = {"vars": known, ROOM: self.scope.get(ROOM)}
        for root in ("args", "state", "task"):
            scope[root] = _part(self.scope[root], {look.key for look in condition.looks if look.root == root})
        return Facts(scope), missing


def _part(value: Any, keys: set[str | None]) -> Any:
    # The evaluator copies whatever it is shown.
    return value if None in keys else {key: value[key] for key in keys if key is not None and key in value}


def variables_in(condition: Condition) -> Iterator[str]:
    """The names of the vars that an expression looks at."""
    return (look.key for look in condition.looks if look.root == "vars" and look.key is not None)


def variables_of(value: Any) -> Iterator[str]:
    """The names of the vars that the placeholders of a value stand for."""
    for spot in spots(value):
        for look in spot.interpolation.looks:
            if look.root == "vars" and look.steps:
                yield str(look.steps[0])


__all__ = ["OneCall", "Variables", "variables_in", "variables_of"]
