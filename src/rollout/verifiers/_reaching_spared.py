"""Which parts of a Python program only look as if it reached for what tests it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from rollout.verifiers._found import words

_CHECKS = (ast.Compare, ast.UnaryOp, ast.BoolOp, ast.If, ast.IfExp)
_HARMLESS_OF: dict[str, frozenset[str]] = {
    "gc": words(
        "collect enable disable isenabled freeze unfreeze get_count get_stats get_threshold set_threshold"
    ),
    "builtins": words(
        """
        abs all any ascii bin bool bytearray bytes callable chr complex dict dir divmod enumerate filter float format
        frozenset hash hex id input int isinstance issubclass iter len list map max min next object oct open ord pow
        print range repr reversed round set slice sorted str sum super tuple type zip Exception ValueError TypeError
        KeyError NotImplementedError ArithmeticError ZeroDivisionError RuntimeError OSError
        """
    ),
}


def spared(tree: ast.Module, runner: Collection[str], own: Collection[str]) -> frozenset[int]:
    """The identities of nodes that are harmless where they are.

    ``runner`` are names of modules that no harmless text may name, and ``own`` those of the project's modules.
    """
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = {id(each) for node in ast.walk(tree) for each in _of_node(node, parents, runner, own)}
    found |= {id(each) for each in _imports_of_harmless(tree)}
    return frozenset(found)


def _of_node(
    node: ast.AST, parents: dict[int, ast.AST], runner: Collection[str], own: Collection[str]
) -> Iterator[ast.AST]:
    match node:
        case ast.Subscript(value=value, slice=ast.Name(id="__name__")):
            # sys.modules[__name__] is how a module speaks of itself.
            yield value
        case ast.Compare(
            ops=[ast.In() | ast.NotIn()], comparators=[ast.Attribute(attr="modules") as modules]
        ):
            yield modules
        case ast.Subscript(
            value=ast.Attribute(attr="modules") as modules,
            slice=ast.Constant(value=str(name)),
            ctx=ast.Load(),
        ) if _is_plain(name, runner):
            yield modules
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="modules") as modules, attr="get"),
            args=[ast.Constant(value=str(name)), *_],
        ) if _is_plain(name, runner):
            yield modules
        case ast.Call(func=ast.Attribute(attr="import_module") as function, args=[name, *_]):
            if _is_known(name, runner, own):
                yield function
        case ast.Call(func=ast.Attribute(value=ast.Attribute() as util, attr="find_spec")):
            # Whether a module is there, not what it is.
            if isinstance(parents.get(id(node)), _CHECKS):
                yield util
        case ast.Dict(keys=keys):
            # eval(text, {"__builtins__": {}}) restricts what the text can do.
            yield from (key for key in keys if key is not None and _is_builtins(key))
        case ast.Subscript(value=ast.Name(), slice=key, ctx=ast.Store() | ast.Del()) if _is_builtins(key):
            yield key
        case ast.Compare(left=left, comparators=others):
            yield from (each for each in (left, *others) if _is_builtins(each))
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="pop"), args=[key, *_]) if _is_builtins(key):
            if isinstance(parents.get(id(node)), ast.Expr):
                yield key


def _imports_of_harmless(tree: ast.Module) -> Iterator[ast.AST]:
    """Imports of which nothing but what is harmless is used."""
    for name, harmless in _HARMLESS_OF.items():
        imports = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            and [(each.name, each.asname) for each in node.names] == [(name, None)]
        ]
        uses = sum(
            isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
            for node in ast.walk(tree)
        )
        good = sum(
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == name
            and isinstance(node.ctx, ast.Load)
            and node.attr in harmless
            for node in ast.walk(tree)
        )
        if uses == good:
            yield from imports
    yield from _imports_of_util(tree)


def _imports_of_util(tree: ast.Module) -> Iterator[ast.AST]:
    uses = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "util"
    ]
    whole = sum(isinstance(node, ast.Attribute) and node.attr == "util" for node in ast.walk(tree))
    if len(uses) == whole and all(each.attr == "find_spec" for each in uses):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (
                    each for each in node.names if (each.name, each.asname) == ("importlib.util", None)
                )
    names = sum(isinstance(node, ast.Name) and node.id == "find_spec" for node in ast.walk(tree))
    checks = sum(
        isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "find_spec"
        for node in ast.walk(tree)
        if isinstance(node, _CHECKS)
        for call in ast.iter_child_nodes(node)
    )
    if names == checks:
        for node in ast.walk(tree):
            match node:
                case ast.ImportFrom(
                    module="importlib.util", names=[ast.alias(name="find_spec", asname=None)]
                ):
                    yield node


def _is_builtins(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value == "__builtins__"


def _is_plain(name: str, runner: Collection[str]) -> bool:
    return bool(name) and not any(part in runner for part in name.split("."))


def _is_known(node: ast.expr, runner: Collection[str], own: Collection[str]) -> bool:
    match node:
        case ast.Constant(value=str(name)):
            return _is_plain(name, runner)
        case ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]):
            # A plugin of the project's own.
            root, dot, _ = start.partition(".")
            return bool(dot) and root in own and _is_plain(root, runner)
    return False


__all__ = ["spared"]
