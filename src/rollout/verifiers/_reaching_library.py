"""What Python code puts in the place of a part of Python's own library, or of another's, by its syntax tree.

Tests assert and load with these. So code that gives ``math.isclose`` another meaning makes assertions hold, while code
that adds what is not there yet, or changes a setting (``sys.stdout``, ``logging.raiseExceptions``), changes nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from rollout.verifiers._found import Found, words

_SETTINGS = words(
    """
    sys.excepthook sys.displayhook sys.unraisablehook sys.breakpointhook threading.excepthook warnings.showwarning
    warnings.formatwarning ssl._create_default_https_context logging.Formatter.converter socket.timeout
    """
)
_NOT_ASSERTED_WITH = words(
    """
    socket ssl http urllib asyncio threading multiprocessing logging warnings email xmlrpc locale readline getpass
    tkinter webbrowser subprocess smtplib ftplib imaplib poplib select selectors concurrent queue sched tempfile
    sqlite3 argparse cmd optparse copyreg
    """
)
_OF_OTHERS = frozenset(("numpy", "pandas", "attr", "attrs", "hamcrest", "hypothesis", "approvaltests"))
DOUBTFUL = frozenset(("json.JSONEncoder.default", "json.encoder.JSONEncoder.default"))
_ALL_CONSTANT = frozenset(("math", "cmath", "string"))
_OF_CACHES = frozenset(("sys.pycache_prefix", "sys.dont_write_bytecode", "sys.implementation", "sys.flags"))
_NEVER_IMPORTED = words("antigravity this idlelib turtledemo turtle tkinter test __phello__ lib2to3")
_DICT_WRITES = frozenset(("update", "setdefault", "pop", "__setitem__", "clear", "popitem"))


class _Change(NamedTuple):
    line: int
    place: str
    value: ast.expr | None
    is_sure: bool


def reaches_for_library(tree: ast.Module, own: Collection[str]) -> Iterator[Found]:
    """What is reached for; ``own`` are the names that modules and folders of the project have."""
    makes = frozenset(
        each.name
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )
    for change in _Reading(tree).changes():
        root = change.place.partition(".")[0]
        if root in own or root == "builtins":
            continue
        makes_function = isinstance(change.value, ast.Lambda) or (
            isinstance(change.value, ast.Name) and change.value.id in makes
        )
        if change.place.endswith(".*"):
            if root in sys.stdlib_module_names or root in _OF_OTHERS:
                yield change.line, f"what {change.place[:-2]} has", False
        elif root not in sys.stdlib_module_names:
            if makes_function:
                yield change.line, change.place, change.is_sure and root in _OF_OTHERS
        elif (is_part := _is_part(change.place)) or (is_part is None and makes_function):
            doubtful = root in _NOT_ASSERTED_WITH or change.place in DOUBTFUL or is_part is None
            yield change.line, change.place, change.is_sure and not doubtful


def _is_part(place: str) -> bool | None:
    """Whether a function, a class or a method of Python's library is there; None where that cannot be known."""
    parts = place.split(".")
    if place in _SETTINGS:
        return False
    if place in _OF_CACHES:
        return True
    home: Any = None
    for at, part in enumerate(parts[:-1]):
        inside = getattr(home, part, None) if at else None
        if inside is None and (at == 0 or isinstance(home, ModuleType)):
            try:
                inside = None if parts[0] in _NEVER_IMPORTED else import_module(".".join(parts[: at + 1]))
            except Exception:
                return None
        if not isinstance(inside, ModuleType | type):
            # What an object has is no part of the library, but where even its module is not known.
            return None if inside is None and at == 0 else False
        home = inside
    missing = object()
    found = getattr(home, parts[-1], missing)
    if found is missing:
        return False
    is_private = parts[0] == "json" and parts[-1].startswith("_")
    return (
        callable(found)
        or isinstance(found, property | ModuleType)
        or is_private
        or (parts[0] in _ALL_CONSTANT and len(parts) == 2)
    )


class _Reading:
    """What a program's names stand for, and what it changes."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._imported: dict[str, str] = {}
        self._bound: set[str] = set()
        self._values: dict[int, ast.expr] = {}
        aliases: Mapping[str, ast.expr]
        aliases = {}
        for node in ast.walk(tree):
            match node:
                case ast.Import(names=names):
                    for each in names:
                        name = each.asname or each.name.partition(".")[0]
                        self._imported[name] = each.name if each.asname else name
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    for each in names:
                        self._imported[each.asname or each.name] = f"{module}.{each.name}"
                case ast.Assign(targets=targets, value=value):
                    self._values |= {id(target): value for target in targets}
                    match targets, value:
                        case [ast.Name(id=name)], ast.Name() | ast.Attribute() | ast.Call() | ast.Subscript():
                            aliases[name] = value
                case ast.arg(arg=name):
                    self._bound.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    self._bound.add(name)
        for name, value in aliases.items():
            if name not in self._imported and (place := self._place(value)) is not None:
                self._imported[name] = place
                self._bound.discard(name)

    def changes(self) -> Iterator[_Change]:
        """What is set, taken away, or written into the dictionary of a module or class."""
        for node in ast.walk(self._tree):
            line = getattr(node, "lineno", 1)
            match node:
                case ast.Attribute(value=home, attr=attr, ctx=ast.Store() | ast.Del()):
                    yield from self._change(line, home, attr, self._values.get(id(node)))
                case ast.Subscript(value=dictionary, slice=key, ctx=ast.Store() | ast.Del()):
                    if (owner := self._home_of(dictionary)) is not None:
                        yield from self._change(line, owner, _text(key), self._values.get(id(node)))
                case ast.Call(
                    func=ast.Name(id="setattr" | "delattr")
                    | ast.Attribute(attr="__setattr__" | "__delattr__"),
                    args=[home, name, *rest],
                ):
                    yield from self._change(line, home, _text(name), rest[0] if rest else None)
                case ast.Call(func=ast.Attribute(value=dictionary, attr=attr)) if attr in _DICT_WRITES:
                    if (owner := self._home_of(dictionary)) is not None:
                        yield from self._of_update(line, owner, node)

    def _of_update(self, line: int, home: ast.expr, call: ast.Call) -> Iterator[_Change]:
        for keyword in call.keywords:
            yield from self._change(line, home, keyword.arg, keyword.value)
        for each in call.args[:1]:
            if isinstance(each, ast.Dict):
                for key, value in zip(each.keys, each.values, strict=True):
                    yield from self._change(line, home, _text(key), value)
            else:
                yield from self._change(line, home, _text(each), None)

    def _change(
        self, line: int, home: ast.expr, attr: str | None, value: ast.expr | None
    ) -> Iterator[_Change]:
        place = self._place(home)
        if place is not None:
            root = next((each.id for each in ast.walk(home) if isinstance(each, ast.Name)), "")
            yield _Change(line, f"{place}.{attr or '*'}", value, root not in self._bound)

    def _home_of(self, dictionary: ast.expr) -> ast.expr | None:
        match dictionary:
            case ast.Attribute(value=home, attr="__dict__"):
                return home
            case ast.Call(func=ast.Name(id="vars"), args=[home]):
                return home
        return None

    def _place(self, node: ast.expr) -> str | None:
        match node:
            case ast.Name(id=name):
                return self._imported.get(name)
            case ast.Attribute(value=value, attr=attr):
                place = self._place(value)
                return None if place is None else f"{place}.{attr}"
            case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
                return name if self._place(value) == "sys.modules" else None
            case ast.Call(func=ast.Name(id="__import__"), args=[ast.Constant(value=str(name)), *_]):
                return name
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
                return name if self._place(function) == "importlib.import_module" else None
        return None


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


__all__ = ["DOUBTFUL", "reaches_for_library"]
