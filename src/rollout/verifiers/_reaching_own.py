"""What in a Python program looks as if it led to what tests it, and leads to the program's own parts only."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

_LEADS_UP = frozenset(("__base__", "__bases__", "__mro__", "mro"))
_HAS_ALL = frozenset(("object", "type"))


def of_its_own(tree: ast.Module, own: Collection[str]) -> tuple[frozenset[int], frozenset[int]]:
    """The identities of nodes that lead nowhere else, and of those of which that cannot be told.

    ``own`` are the names that modules and folders of the project have.
    """
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    names, functions = _names_of_its_own(tree, own), _plain_functions(tree)
    harmless, doubtful = set(_marks_of_classes(tree)), set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="__subclasses__", value=home):
                call = parents.get(id(node))
                if not _calls_without_arguments(call, node):
                    continue
                if _root(home) in names or _is_class_of_a_method(home, parents):
                    harmless.add(id(node))
                elif _root(home) not in _HAS_ALL | {None} and not _leads_up(home):
                    doubtful.add(id(node))
            case ast.Attribute(attr="__globals__", value=ast.Name(id=name)) if name in functions:
                harmless.add(id(node))
            case ast.Attribute(attr="_getframe" | "currentframe", value=ast.Name()):
                call = parents.get(id(node))
                if isinstance(call, ast.Call) and _asks_for_its_own(call, node, parents):
                    doubtful.add(id(node))
    return frozenset(harmless), frozenset(doubtful)


def _names_of_its_own(tree: ast.Module, own: Collection[str]) -> set[str]:
    """The names of classes of this file and of what it imports from the project, where they mean nothing else."""
    found: set[str] = set()
    others: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=names):
                for each in names:
                    root = each.name.partition(".")[0]
                    (found if root in own else others).add(each.asname or root)
            case ast.ImportFrom(names=names, module=module, level=level):
                is_own = level > 0 or (module or "").partition(".")[0] in own
                (found if is_own else others).update(each.asname or each.name for each in names)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                others.add(name)
    return found - others


def _plain_functions(tree: ast.Module) -> set[str]:
    """The names of functions of this file that are what is written there."""
    found: list[str] = []
    others: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name, decorator_list=[]):
                found.append(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ClassDef(name=name):
                others.add(name)
            case ast.alias(name=name, asname=other):
                others.add(other or name)
    return {name for name in found if found.count(name) == 1} - others


def _marks_of_classes(tree: ast.Module) -> Iterator[int]:
    """Classes that say of themselves that they are no tests."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
                yield from (
                    id(target)
                    for target in targets
                    if isinstance(target, ast.Name) and target.id == "__test__"
                )


def _calls_without_arguments(call: ast.AST | None, function: ast.AST) -> bool:
    # With one, a class of classes is asked for those of another.
    return isinstance(call, ast.Call) and call.func is function and not call.args and not call.keywords


def _root(node: ast.expr) -> str | None:
    """The name at the start of ``a``, ``a.b`` or ``type(a)``; None for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value):
            return _root(value)
        case ast.Call(func=ast.Name(id="type"), args=[ast.Name()]):
            return ""
    return None


def _leads_up(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr in _LEADS_UP for each in ast.walk(node))


def _is_class_of_a_method(node: ast.expr, parents: dict[int, ast.AST]) -> bool:
    """Whether this is the first argument of a class method around it."""
    around: ast.AST | None = node
    while around is not None and not isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        around = parents.get(id(around))
    return (
        isinstance(around, ast.FunctionDef)
        and isinstance(node, ast.Name)
        and isinstance(parents.get(id(around)), ast.ClassDef)
        and bool(around.args.args)
        and around.args.args[0].arg == node.id
        and any(isinstance(each, ast.Name) and each.id == "classmethod" for each in around.decorator_list)
        and not any(
            isinstance(each, ast.Name) and each.id == node.id and isinstance(each.ctx, ast.Store)
            for each in ast.walk(around)
        )
    )


def _asks_for_its_own(call: ast.Call, function: ast.AST, parents: dict[int, ast.AST]) -> bool:
    """Whether this is ``sys._getframe().f_code`` or the like, of which nothing but the code or the line is kept."""
    look = parents.get(id(call))
    depth = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    return (
        call.func is function
        and not call.keywords
        and (not call.args or (depth == 0 and len(call.args) == 1))
        and isinstance(look, ast.Attribute)
        and look.value is call
        and look.attr in ("f_code", "f_lineno")
    )


__all__ = ["of_its_own"]
