"""What a text that is made code of while it runs reaches for."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors

import types

FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame", "f_back", "f_globals", "f_locals", "f_builtins")
HOMES = frozenset(
    (
        *("pytest", "_pytest", "pluggy", "unittest", "gc", "ctypes"),
        *(
            "rollout_witness",
            "rollout_witness_pytest",
            "rollout_watch",
            "rollout_equal",
            "rollout_files",
            "rollout_frames",
            "rollout_handed",
            "rollout_lines",
            "rollout_programs",
            "rollout_texts",
        ),
    )
)
_LOADERS = frozenset(("__import__", "import_module", "modules"))
_NAMES = frozenset(
    (
        *("_exit", "_getframe", "settrace", "setprofile", "get_objects", "get_referrers", "__code__"),
        *("__closure__", "__globals__", "__subclasses__", "__builtins__", "PYTEST_CURRENT_TEST", *FRAMES),
    )
)


def reached_in(code, is_made, tests):
    """What a text that is made code of reaches for; ``tests`` are the names of modules. One that a library made itself
    has the names of fields in it."""
    names, imports = set(), [False]
    _gather(code, names, imports, 0)
    # A field may be called “modules”, too.
    loads = imports[0] or names & (_LOADERS - {"modules"} if is_made else _LOADERS)
    found = names & HOMES if loads else set()
    found |= {name for name in names & _NAMES if loads or not is_made or name.startswith("__")}
    if imports[0]:
        found |= {name for name in names if not tests.isdisjoint(name.split("."))}
    return found


def _gather(code, names, imports, depth):
    names.update(code.co_names)
    # Instructions are two bytes each.
    imports[0] = imports[0] or _IMPORT in code.co_code[::2]
    for each in code.co_consts:
        if isinstance(each, types.CodeType) and depth < 40:
            _gather(each, names, imports, depth + 1)
        elif isinstance(each, str):
            names.add(each)


def _import_number():
    import opcode

    return opcode.opmap["IMPORT_NAME"]


_IMPORT = _import_number()
