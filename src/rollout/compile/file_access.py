"""Whether code that judges may read files: told from its text, and where that leaves a doubt, it may."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import PurePosixPath

_WITHOUT_FILES = frozenset(
    {
        "__future__",
        "abc",
        "base64",
        "bisect",
        "collections",
        "copy",
        "dataclasses",
        "datetime",
        "decimal",
        "difflib",
        "enum",
        "fractions",
        "functools",
        "hashlib",
        "heapq",
        "html",
        "itertools",
        "json",
        "math",
        "numbers",
        "random",
        "re",
        "statistics",
        "string",
        "textwrap",
        "time",
        "typing",
        "unicodedata",
    }
)
"""Modules of the standard library that give what they are asked for without reading a file."""
_BUILTINS = frozenset(
    {"breakpoint", "compile", "eval", "exec", "getattr", "globals", "locals", "open", "vars"}
)
_ATTRIBUTES = frozenset(
    {
        "Formatter",
        "ForwardRef",
        "bltns",
        "builtins",
        "codecs",
        "get_type_hints",
        "inspect",
        "make_dataclass",
        "open",
    }
    | {"_os", "_sys", "modules", "os", "read_bytes", "read_text", "sys"}
)
"""Names by which a harmless module leads to one that is not, or to code that is made of text."""
_OWN = frozenset({"__init__", "__name__", "__post_init__"})


def may_read_files(code: Mapping[str, str]) -> bool:
    """Whether any of the Python texts, by path, may open a file; those may import each other."""
    own = {part.removesuffix(".py") for path in code for part in PurePosixPath(path).parts}
    known = _WITHOUT_FILES | own
    return any(_may_read(text, known) for path, text in code.items() if path.endswith(".py"))


def _may_read(text: str, known: frozenset[str]) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(_leads_to_files(node, known) for node in ast.walk(tree))


def _leads_to_files(node: ast.AST, known: frozenset[str]) -> bool:
    match node:
        case ast.Import(names=names):
            return any(each.name.partition(".")[0] not in known for each in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            is_known = level > 0 or (module or "").partition(".")[0] in known
            return not is_known or any(each.name in _ATTRIBUTES for each in names)
        case ast.Name(id=name):
            return name in _BUILTINS or _is_inner(name)
        case ast.Attribute(attr=name):
            return name in _ATTRIBUTES or _is_inner(name)
        case ast.MatchClass(kwd_attrs=names):
            return any(name in _ATTRIBUTES or _is_inner(name) for name in names)
    return False


def _is_inner(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _OWN


__all__ = ["may_read_files"]
