"""Finds out whether a test handed a path to the code that it tests, so that this may open it."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH100

import os
import sys
import types

_DEEP, _MOST = 3, 2000
_VARARGS, _VARKEYWORDS = 0x04, 0x08


def entry(frame, known, is_installed):
    """The agent's frame by which other code came to ``frame``: the outermost before one whose file is ``known``."""
    found = frame
    while frame is not None:
        name = frame.f_code.co_filename
        if name in known:
            break
        if not name.startswith("<") and not is_installed(name):
            found = frame
        frame = frame.f_back
    return found


def by_call(frame, path):
    """Whether an argument of a call is this path, or leads to it."""
    return _leads(_arguments(frame), lambda text: _is_way(text, path), 2, [0])


def by_member(frame, path):
    """Whether an argument of a call is code that is written in this file, or a class or an object of such."""
    return any(os.path.abspath(name) == path for value in _arguments(frame) for name in _homes(value))


def _homes(value):
    if type(value) is types.MethodType:
        value = value.__func__
    if type(value) is types.FunctionType:
        return [value.__code__.co_filename]
    home = value if isinstance(value, type) else type(value)
    title = type.__dict__["__module__"].__get__(home)
    module = (
        value if type(value) is types.ModuleType else sys.modules.get(title) if type(title) is str else None
    )
    name = getattr(module, "__file__", None)
    return [name] if type(name) is str else []


def anyhow(root):
    """A function as :func:`by_call`, for other ways to hand a path over since: an object, a setting, the command line.

    A folder that the project is in says nothing.
    """
    before = {*sys.argv, *os.environ.values()}

    def find(frame, path):
        values = [
            value
            for name, value in list(frame.f_globals.items())
            if not name.startswith("__") and (type(value) in (str, list, tuple, dict) or is_path(value))
        ]
        values += [value for value in (*sys.argv, *os.environ.values()) if value not in before]
        return _leads(
            [*_arguments(frame), *values],
            lambda text: (
                _is_way(text, path) and not root.startswith(os.path.abspath(text).rstrip(os.sep) + os.sep)
            ),
            _DEEP,
            [0],
        )

    return find


def _arguments(frame):
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)
    values = frame.f_locals
    return [values[name] for name in code.co_varnames[:count] if name in values]


def is_path(value):
    """Whether a value is a path of pathlib's."""
    return type(value).__module__ == "pathlib" or type(value).__module__.startswith("pathlib.")


def _leads(values, is_way, depth, seen):
    for value in values:
        seen[0] += 1
        if seen[0] > _MOST:
            return True
        kind = type(value)
        if kind is str or kind is bytes or is_path(value):
            if is_way(os.fsdecode(value)):
                return True
        elif depth > 0:
            if kind in (list, tuple, set, frozenset):
                inside = list(value)
            elif kind is dict:
                inside = list(value.values())
            else:
                inside = [] if isinstance(value, type) else _attributes(value)
            if _leads(inside, is_way, depth - 1, seen):
                return True
    return False


def _attributes(value):
    try:
        return list(object.__getattribute__(value, "__dict__").values())
    except (AttributeError, TypeError):
        return []


def _is_way(text, path):
    if not text or len(text) > 4096 or "\0" in text:
        return False
    whole = os.path.abspath(text)
    return whole == path or path.startswith(whole.rstrip(os.sep) + os.sep) or path.endswith(os.sep + text)
