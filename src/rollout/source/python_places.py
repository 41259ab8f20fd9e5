"""Finds where in a Python file a value was written, by following literals and the builders' arguments.

The value itself comes from running the file; the places are a best effort beside it. Where the trail ends, at a
loop or a function of the user's own, the place is the nearest expression around it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from rollout.source.place import Place
from rollout.source.text import SourceFile

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_MAX_STEPS = 100

# The parameters that may be passed by position, and the keys that those have whose name differs.
_POSITIONAL = {
    "Environment": ("slug", "name", "template", "tasks", "description", "schema", "seed", "config"),
    "Task": ("instruction", "hidden_ground_truth", "input", "split"),
    "lookup_tool": ("name",),
    "action_tool": ("name",),
    "mock_tool": ("name",),
    "custom_tool": ("name",),
    "browser_page": ("url",),
    "primitive": ("name", "type"),
}
_KEYS = {
    "from_array": "fromArray",
    "match_field": "matchField",
    "params_schema": "paramsSchema",
    "state_array": "stateArray",
    "initial_state": "initialState",
    "initial_mutable_state": "initialMutableState",
    "initial_url": "initialUrl",
    "read_only": "readOnly",
    "pass_threshold": "passThreshold",
}
_KEEPS_KEYS = frozenset({"primitive", "dict", "Task", "Environment"})


class PlaceFinder:
    """The syntax of one file, and the places of its expressions."""

    def __init__(self, source: SourceFile, tree: ast.Module) -> None:
        self.source = source
        self.tree = tree
        self._starts = [0, *(match.end() for match in _LINE_BREAK.finditer(source.text))]
        self._calls = {
            (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset): node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
        }
        self._assigned = dict(_single_assignments(tree))
        self._offsets: dict[ast.expr, tuple[int, int]] = {}

    def call_at(self, position: tuple[int, int, int, int]) -> ast.Call | None:
        """The call at a position that ``code.co_positions`` gave."""
        return self._calls.get(position)

    def later(self, names: set[str]) -> dict[str, ast.expr]:
        """What is assigned to an attribute of one of the variables ``names``: attribute to the last expression."""
        found: dict[str, ast.expr] = {}
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if (
                        isinstance(target, ast.Attribute)
                        and isinstance(target.value, ast.Name)
                        and target.value.id in names
                    ):
                        found[target.attr] = statement.value
        return found

    def assignment(self, name: str) -> ast.expr | None:
        """What the module-level variable ``name`` is assigned, when that is done once."""
        return self._assigned.get(name)

    def whole(self) -> Place:
        """The place that stands for the file."""
        return Place(self.source, 0, 0)

    def place(self, node: ast.expr, value: Any, *, steps: int = 0) -> Place:
        """The place of ``node``, with the places of what ``value`` holds as far as the syntax shows them."""
        start, end = self.offsets(node)
        place = Place(self.source, start, end)
        meant = self._meant(node)
        if steps >= _MAX_STEPS:
            return place
        if isinstance(value, dict):
            place.children = {
                key: self._member(key_span, written, value[key], steps + 1)
                for key, (key_span, written) in self._members(meant).items()
                if key in value
            }
        elif isinstance(value, list):
            items = self._items(meant)
            if items is not None and len(items) == len(value):
                place.children = [
                    self.place(item, member, steps=steps + 1)
                    for item, member in zip(items, value, strict=True)
                ]
        return place

    def _member(self, key: tuple[int, int] | None, node: ast.expr, value: Any, steps: int) -> Place:
        place = self.place(node, value, steps=steps)
        if key is not None:
            place.key_start, place.key_end = key
        return place

    def _members(self, node: ast.expr, steps: int = 0) -> dict[str, tuple[tuple[int, int] | None, ast.expr]]:
        """The keys that an expression gives an object, each with its span (if it is written) and its value."""
        found: dict[str, tuple[tuple[int, int] | None, ast.expr]] = {}
        if steps >= _MAX_STEPS:
            return found
        if isinstance(node, ast.Dict):
            for key, written in zip(node.keys, node.values, strict=True):
                if key is None:
                    found |= self._members(self._meant(written), steps + 1)
                elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                    found[key.value] = (self.offsets(key), written)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            found |= self._members(self._meant(node.left), steps + 1)
            found |= self._members(self._meant(node.right), steps + 1)
        elif isinstance(node, ast.Call):
            found |= self._arguments(node, steps)
        return found

    def _arguments(self, call: ast.Call, steps: int) -> dict[str, tuple[tuple[int, int] | None, ast.expr]]:
        name = _name_of(call.func)
        found: dict[str, tuple[tuple[int, int] | None, ast.expr]] = {}
        if name == "verifier_config":
            primitives = ast.List(elts=call.args, ctx=ast.Load())
            found["primitives"] = (None, ast.copy_location(primitives, call))
        if name == "dict" and call.args:
            found |= self._members(self._meant(call.args[0]), steps + 1)
        for parameter, written in zip(_POSITIONAL.get(name, ()), call.args, strict=False):
            if isinstance(written, ast.Starred):
                break
            found[parameter] = (None, written)
        for keyword in call.keywords:
            if keyword.arg is None:
                found |= self._members(self._meant(keyword.value), steps + 1)
                continue
            key = keyword.arg if name in _KEEPS_KEYS else _KEYS.get(keyword.arg, keyword.arg)
            start = self._offset(keyword.lineno, keyword.col_offset)
            found[key] = ((start, start + len(keyword.arg)), keyword.value)
        return found

    def _items(self, node: ast.expr, steps: int = 0) -> list[ast.expr] | None:
        """The members that an expression gives a list; None where the syntax does not show them."""
        if steps >= _MAX_STEPS:
            return None
        if isinstance(node, ast.List | ast.Tuple):
            found: list[ast.expr] = []
            for item in node.elts:
                if not isinstance(item, ast.Starred):
                    found.append(item)
                    continue
                more = self._items(self._meant(item.value), steps + 1)
                if more is None:
                    return None
                found += more
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left = self._items(self._meant(node.left), steps + 1)
            right = self._items(self._meant(node.right), steps + 1)
            return None if left is None or right is None else left + right
        return None

    def _meant(self, node: ast.expr) -> ast.expr:
        """What a variable stands for, when the file assigns it once; other expressions stand for themselves."""
        for _ in range(_MAX_STEPS):
            if not isinstance(node, ast.Name) or node.id not in self._assigned:
                return node
            node = self._assigned[node.id]
        return node

    def offsets(self, node: ast.expr) -> tuple[int, int]:
        """Where an expression begins and ends in the text."""
        known = self._offsets.get(node)
        if known is None:
            start = self._offset(node.lineno, node.col_offset)
            end = self._offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
            known = self._offsets[node] = (start, end)
        return known

    def _offset(self, line: int, column: int) -> int:
        """The offset of a line (from 1) and a column in UTF-8 bytes, as Python counts them."""
        text = self.source.text
        start = self._starts[min(line, len(self._starts)) - 1]
        end = self._starts[line] if line < len(self._starts) else len(text)
        written = text[start:end]
        if not written.isascii():
            column = len(written.encode("utf-8")[:column].decode("utf-8", "ignore"))
        return min(start + column, len(text))


def _single_assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            values.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.AugAssign | ast.For | ast.NamedExpr | ast.comprehension) and isinstance(
            node.target, ast.Name
        ):
            # Two values, so that the name is never followed.
            values.setdefault(node.target.id, []).extend([ast.Constant(None)] * 2)
        elif isinstance(node, ast.arg):
            values.setdefault(node.arg, []).extend([ast.Constant(None)] * 2)
    for name, found in values.items():
        if len(found) == 1:
            yield name, found[0]


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


__all__ = ["PlaceFinder"]
