"""What JavaScript and TypeScript code reaches for, by its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rollout.verifiers._javascript_tokens import Token, plainly, tokens_of
from rollout.verifiers._reaching_globals import STATICS, Globals
from rollout.verifiers._reaching_python import Found, words

_MODULES = words(
    """
    node:test node:test/reporters vm inspector inspector/promises repl trace_events vitest @jest/globals jest
    jest-circus chai mocha ava tape uvu
    """
)
_DOUBTFUL_MODULES = words(
    """
    v8 diagnostics_channel
    """
)
_OF_RUNNER = re.compile(r"@?(?:vitest|jest)(?:[/-]|$)|expect(?:/|$)")
_OF_NODE = words(
    """
    fs fs/promises crypto child_process worker_threads timers timers/promises util events url os path perf_hooks
    stream buffer assert assert/strict
    """
)
_MEMBERS = words(
    """
    registerHooks syncBuiltinESMExports executionAsyncResource _linkedBinding reallyExit _debugProcess
    _rawDebug __defineGetter__ __defineSetter__ mainModule NODE_TEST_CONTEXT NODE_OPTIONS JEST_WORKER_ID
    VITEST VITEST_WORKER_ID VITEST_POOL_ID ROLLOUT_WITNESS
    """
)
_OF_MODULE = words("_load _cache _extensions _resolveFilename _compile _nodeModulePaths")
_OF_PROCESS = words(
    """
    binding dlopen ppid removeAllListeners
    """
)
_DEFINERS = words(
    """
    defineProperty defineProperties assign setPrototypeOf set
    """
)
_REPLACED = words("= += &&= ||= ??=")
_HANDLES_OF_PROCESS = words("exit on once off nextTick hrtime cwd")


def reaches_in_javascript(content: str, tests: frozenset[str]) -> list[Found]:
    """What a file reaches for, in order. ``tests`` are the names, without ends, of the files that hold the tests."""
    found: list[Found] = []
    tokens = [Token("sign", ";", 1), *plainly(tokens_of(content)), *[Token("sign", ";", 1)] * 6]
    imports = {text.removeprefix("node:") for text, _ in _specifiers(tokens) if text is not None}
    for text, line in _specifiers(tokens):
        found += _of_specifier(text, line, tests)
    for at in range(1, len(tokens) - 5):
        found += _at(tokens, at, imports)
        if tokens[at].kind == "text" and (name := _named_test(tokens, at, tests)) is not None:
            found.append((tokens[at].line, name, False))
    found += _module_changes(tokens)
    found += Globals(tokens).read()
    return sorted(set(found))


def modules_named(content: str) -> frozenset[str]:
    """The last parts of the names of the modules that a file asks for, as far as these are written."""
    tokens = [Token("sign", ";", 1), *plainly(tokens_of(content)), *[Token("sign", ";", 1)] * 6]
    found = (text.partition("?")[0] for text, _ in _specifiers(tokens) if text is not None)
    return frozenset(text.rpartition("/")[2] for text in found)


def _specifiers(tokens: Sequence[Token]) -> Iterator[tuple[str | None, int]]:
    """Each module that is asked for, None for one that is worked out, with its line."""
    loaders = {"require", "getBuiltinModule"} | {
        tokens[at - 2].text
        for at in range(2, len(tokens))
        if tokens[at].text == "createRequire" and tokens[at - 1].text == "=" and tokens[at - 2].kind == "name"
    }
    for at in range(1, len(tokens) - 2):
        kind, text, line = tokens[at]
        following, after = tokens[at + 1], tokens[at + 2]
        is_call = following.text == "(" and following.kind == "sign"
        if kind == "name" and (text in loaders or text == "import") and is_call:
            member = tokens[at - 1].text in (".", "?.") and tokens[at - 1].kind == "sign"
            if member and text != "getBuiltinModule" and tokens[at - 2].text not in ("module", "main"):
                continue
            is_whole = after.kind == "text" and tokens[at + 3].text in (")", ",")
            yield after.text if is_whole or after.text.startswith("./") else None, line
        elif kind == "name" and text in ("from", "import") and following.kind == "text":
            yield following.text, line


def _of_specifier(text: str | None, line: int, tests: frozenset[str]) -> Iterator[Found]:
    if text is None:
        yield line, "a module whose name is worked out", False
        return
    plain = text.removeprefix("node:")
    if text in _MODULES or (plain in _MODULES and plain != "test") or _OF_RUNNER.match(plain):
        yield line, text, True
    elif text.startswith("data:"):
        yield line, "a module in a text", False
    elif "node_modules" in text or plain in _DOUBTFUL_MODULES:
        yield line, text, False
    elif text.startswith("."):
        name = text.rpartition("/")[2]
        if {name, re.sub(r"\.[cm]?[jt]sx?$", "", name)} & tests:
            yield line, text, True


def _named_test(tokens: Sequence[Token], at: int, tests: frozenset[str]) -> str | None:
    """The name of a test's file that is a text, but not that of a module that is asked for."""
    name = tokens[at].text.rpartition("/")[2]
    stem = re.sub(r"\.[cm]?[jt]sx?$", "", name)
    if stem == name or stem not in tests or tokens[at - 1].text in ("from", "import"):
        return None
    return None if tokens[at - 2].text in ("require", "import") else name


def _is_function(tokens: Sequence[Token], name: str) -> bool:
    """Whether ``name`` is that of a function that is written with the word, and so knows who calls it."""
    return any(
        (each.text == "function" and name in (tokens[at + 1].text, tokens[at + 2].text))
        or (each.text == name and tokens[at + 1].text == "=" and tokens[at + 2].text in ("function", "async"))
        for at, each in enumerate(tokens[:-2])
    )


def _at(tokens: Sequence[Token], at: int, imports: set[str]) -> Iterator[Found]:
    kind, text, line = tokens[at]
    before, after = tokens[at - 1], [each.text for each in tokens[at + 1 : at + 6]]
    member = before.kind == "sign" and before.text in (".", "?.")
    owner = tokens[at - 2].text if member and at > 1 else ""
    if text == "caller" and at > 1 and before.text in (".", "?.", "["):
        # That of an arrow function or in strict code is an error.
        if _is_function(tokens, tokens[at - 2].text):
            yield line, f"{tokens[at - 2].text}.caller", False
        return
    if kind == "text":
        if text in _MEMBERS:
            yield line, text, True
        return
    if kind != "name":
        return
    dot = after[0] in (".", "?.")
    if text in _MEMBERS:
        yield line, f"{owner}.{text}" if owner in ("module", "Module", "process") else text, True
    elif (
        text in _OF_MODULE
        and owner != "this"
        and ("module" in imports or owner in ("module", "Module", "require", "constructor"))
    ):
        yield line, f"module.{text}", True
    elif text == "createHook" and "async_hooks" in imports:
        yield line, "async_hooks.createHook", True
    elif text == "register" and "module" in imports and (owner.lower() == "module" or not member):
        yield line, "module.register", True
    elif (
        member
        and owner == "process"
        and (text in _OF_PROCESS or text.startswith("_") or (text == "emit" and after[0] == "="))
    ):
        yield line, f"process.{text}", True
    elif member and owner == "process" and text in ("kill", "send", "listeners", "rawListeners"):
        yield line, f"process.{text}", False
    elif (
        member and owner == "stdout" and text in ("write", "_handle") and (text != "write" or after[0] == "=")
    ):
        yield line, f"process.stdout.{text}", True
    elif text == "writeSync" and after[:2] == ["(", "1"]:
        yield line, "process.stdout", True
    elif (text == "module" and dot and after[1] in ("parent", "children")) or (
        text == "require" and dot and (after[1] in ("cache", "extensions") or after[1:3] == ["main", "."])
    ):
        yield line, f"{text}.{after[1]}", True
    elif text == "__proto__" and member and after[0] in (".", "[", ","):
        yield line, "__proto__", True
    elif text == "getPrototypeOf" and "".join(after[:4]) in ("({})", "([])"):
        yield line, "what all objects share", True
    elif text == "eval" and not member and after[0] == "(":
        yield line, "eval", False
    elif text == "Function" and not member and after[0] == "(" and before.text != "function":
        yield line, "Function", False
    elif text == "constructor" and member and after[0] == "." and after[1] in ("constructor", "prototype"):
        yield line, f"constructor.{after[1]}", True
    elif text == "constructor" and member and after[:1] == ["("] and _is_made_of_text(tokens, at):
        yield line, "Function", False
    elif (
        text == "constructor"
        and member
        and owner != "this"
        and dot
        and after[1] in STATICS
        and after[2] == "="
    ):
        yield line, f"constructor.{after[1]}", True
    elif text == "prepareStackTrace" and after[0] in _REPLACED:
        yield line, "prepareStackTrace", False
    elif text == "callee" and owner == "arguments" and dot and after[1] == "caller":
        yield line, "arguments.callee.caller", True
    elif text == "parentPort" and "worker_threads" in imports:
        yield line, "parentPort", False
    elif text == "this" and before.text == "return" and _is_called_where_written(tokens, at):
        yield line, "globalThis", False


def _is_made_of_text(tokens: Sequence[Token], at: int) -> bool:
    """Whether ``x.constructor("…")`` is called, but not with ``new`` or of ``this``."""
    start = at
    while start > 1 and tokens[start - 1].text in (".", "?."):
        start -= 2
    return tokens[at + 2].kind == "text" and tokens[start].text != "this" and tokens[start - 1].text != "new"


def _is_called_where_written(tokens: Sequence[Token], at: int) -> bool:
    """Whether ``this`` is what ``(function () { return this })()`` returns, which is the global object."""
    before = [each.text for each in tokens[max(at - 6, 0) : at]]
    after = [each.text for each in tokens[at + 1 : at + 5] if each.text != ";"]
    return before[-5:] == ["function", "(", ")", "{", "return"] and after[:1] == ["}"] and "(" in after[1:3]


def _module_changes(tokens: Sequence[Token]) -> Iterator[Found]:
    """Where a function of one of Node's modules is replaced, which the test runner may use as well."""
    names = {"process": "process"}
    for at in range(3, len(tokens) - 6):
        if tokens[at].kind != "text" or (module := tokens[at].text.removeprefix("node:")) not in _OF_NODE:
            continue
        before = tokens[at - 1].text
        home = (
            at - 4
            if before == "(" and tokens[at - 2].text == "require" and tokens[at - 3].text == "="
            else at - 2
        )
        if (home == at - 4 and tokens[at + 2].text != ".") or (
            before == "from" and tokens[at - 2].kind == "name"
        ):
            names[tokens[home].text] = module
    for at in range(1, len(tokens) - 6):
        kind, text, line = tokens[at]
        if kind != "name" or text not in names or tokens[at - 1].text in (".", "?."):
            continue
        after = [each.text for each in tokens[at + 1 : at + 6]]
        if after[0] == "." and after[2] == "." and after[1] == "promises":
            after = after[2:]
        is_handle = names[text] != "process" or after[1] in _HANDLES_OF_PROCESS
        is_defined = tokens[at - 1].text == "(" and tokens[at - 2].text in _DEFINERS and after[0] == ","
        if after[0] == "." and is_handle and (after[2:3] or [""])[0] in _REPLACED:
            yield line, f"{names[text]}.{after[1]}", False
        elif is_defined and tokens[at - 3].text == "." and tokens[at - 4].text in ("Object", "Reflect"):
            yield line, f"what {names[text]} has", False


__all__ = ["modules_named", "reaches_in_javascript"]
