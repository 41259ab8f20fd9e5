"""What JavaScript and TypeScript code reaches for, by its tokens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rollout.verifiers._reaching_python import Found, words


class Token(NamedTuple):
    """``kind`` is name, text (a string), pattern, number or sign."""

    kind: str
    text: str
    line: int


_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|\A\#![^\n]*)
    |(?P<name>\#?(?:[A-Za-z_$\u0080-\U0010ffff]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]+\}))(?:[\w$\u0080-\U0010ffff]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]+\}))*)
    |(?P<number>\.?\d[\w.]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)
    |(?P<sign>=>|===?|!==?|<=|>=|\?\.|\?\?=?|&&=?|\|\|=?|\.\.\.|[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_PATTERN = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
_LONGEST_PATTERN, _MOST_FAILURES = 1000, 30
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\n|.))", re.DOTALL)
_BEFORE_PATTERN = words("( , = : [ ! & | ? { } ; + - * % ~ ^ < > => == === != !== && || ?? ... ${")
_WORDS_BEFORE_PATTERN = words(
    """
    return typeof case in of delete void throw new await
    """
)

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
_MEMBERS = words(
    """
    registerHooks syncBuiltinESMExports executionAsyncResource _linkedBinding reallyExit _debugProcess
    _rawDebug __defineGetter__ __defineSetter__ mainModule NODE_TEST_CONTEXT NODE_OPTIONS JEST_WORKER_ID
    VITEST VITEST_WORKER_ID VITEST_POOL_ID ROLLOUT_WITNESS ROLLOUT_GUARDED
    """
)
_OF_MODULE = words("_load _cache _extensions _resolveFilename _compile _nodeModulePaths")
_OF_PROCESS = words(
    """
    binding dlopen ppid removeAllListeners
    """
)
_BUILT_IN = words(
    """
    Object Array Function Promise Error String Number RegExp Map Set WeakMap WeakSet Symbol Iterator Boolean
    Date AsyncResource EventEmitter AssertionError
    """
)
_GLOBALS = words(
    """
    test it describe expect jest vi beforeEach afterEach beforeAll afterAll assert
    """
)
_DEFINERS = words(
    """
    defineProperty defineProperties assign setPrototypeOf set
    """
)
_MOCKS = words(
    """
    mock fn spyOn doMock stubGlobal useFakeTimers unmock replaceProperty
    """
)


def reaches_in_javascript(content: str, tests: frozenset[str]) -> list[Found]:
    """What a file reaches for, in order. ``tests`` are the names, without ends, of the files that hold the tests."""
    found: list[Found] = []
    tokens = [Token("sign", ";", 1), *tokens_of(content), *[Token("sign", ";", 1)] * 6]
    imports = {text.removeprefix("node:") for text, _ in _specifiers(tokens) if text is not None}
    for text, line in _specifiers(tokens):
        found += _of_specifier(text, line, tests)
    for at in range(1, len(tokens) - 5):
        found += _at(tokens, at, imports)
    return sorted(set(found))


def _specifiers(tokens: Sequence[Token]) -> Iterator[tuple[str | None, int]]:
    """Each module that is asked for, None for one that is worked out, with its line."""
    for at in range(1, len(tokens) - 2):
        kind, text, line = tokens[at]
        following, after = tokens[at + 1], tokens[at + 2]
        if (
            kind == "name"
            and text in ("require", "import")
            and following.text == "("
            and following.kind == "sign"
        ):
            if tokens[at - 1].text == "." and tokens[at - 1].kind == "sign":
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
    if text in _MODULES or (plain in _MODULES and plain != "test") or plain.startswith(("vitest/", "jest/")):
        yield line, text, True
    elif plain in _DOUBTFUL_MODULES:
        yield line, text, False
    elif text.startswith("."):
        name = text.rpartition("/")[2]
        if {name, re.sub(r"\.[cm]?[jt]sx?$", "", name)} & tests:
            yield line, text, True


def _at(tokens: Sequence[Token], at: int, imports: set[str]) -> Iterator[Found]:
    kind, text, line = tokens[at]
    before, after = tokens[at - 1], [each.text for each in tokens[at + 1 : at + 6]]
    member = before.kind == "sign" and before.text in (".", "?.")
    owner = tokens[at - 2].text if member and at > 1 else ""
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
    elif member and owner == "process" and text == "kill":
        yield line, "process.kill", False
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
    elif text == "prototype" and member:
        yield from _of_prototype(tokens, at, owner)
    elif text == "__proto__" and member and after[0] in (".", "[", ","):
        yield line, "__proto__", True
    elif text == "getPrototypeOf" and "".join(after[:4]) in ("({})", "([])"):
        yield line, "what all objects share", True
    elif text in ("globalThis", "global") and not member:
        if dot and after[1] in _GLOBALS | _BUILT_IN and after[2] == "=":
            yield line, f"{text}.{after[1]}", True
        elif before.text == "(" and tokens[at - 2].text in _DEFINERS:
            yield line, text, False
    elif text == "eval" and not member and after[0] == "(":
        yield line, "eval", False
    elif text == "Function" and not member and after[0] == "(" and before.text != "function":
        yield line, "Function", False
    elif text == "constructor" and member and after[0] == "." and after[1] in ("constructor", "prototype"):
        yield line, f"constructor.{after[1]}", True
    elif not member and (
        (text in ("jest", "vi") and dot and after[1] in _MOCKS)
        or (text in ("test", "it", "expect", "describe") and after[0] == "=" and before.text in (";", "}"))
    ):
        yield line, text, True


def _of_prototype(tokens: Sequence[Token], at: int, owner: str) -> Iterator[Found]:
    if owner not in _BUILT_IN:
        return
    line, after = tokens[at].line, [each.text for each in tokens[at + 1 : at + 4]]
    first = tokens[at - 3] if at >= 3 else tokens[0]
    is_handed_over = first.text == "(" and tokens[at - 4].text in _DEFINERS
    is_set = (after[0] == "." and after[2] == "=") or (after[0] == "[")
    is_named = (
        first.text == "=" and tokens[at - 4].text != "}" and after[0] not in (".", "?.") and owner == "Object"
    )
    if is_handed_over or is_set or is_named:
        yield line, f"{owner}.prototype", True


def tokens_of(content: str) -> list[Token]:
    """The tokens of a program, without white space and comments; what a template holds in ${} is among them."""
    found: list[Token] = []
    at, line = 0, 1
    # How deep braces are when a template goes on.
    depth, templates = 0, [-1]
    failures: Counter[int] = Counter()
    while at < len(content):
        is_template = content[at] == "`" or (content[at] == "}" and depth == templates[-1])
        if is_template:
            if content[at] == "}":
                templates.pop()
                depth -= 1
            end, opens = _template_end(content, at + 1)
            found.append(Token("text", _decoded(content[at + 1 : end]), line))
            line += content.count("\n", at, end)
            at = end + (2 if opens else 1)
            if opens:
                depth += 1
                templates.append(depth)
                found.append(Token("sign", "${", line))
            continue
        pattern = None
        if content[at] == "/" and _may_be_pattern(found) and failures[line] < _MOST_FAILURES:
            pattern = _PATTERN.match(content, at, at + _LONGEST_PATTERN)
            failures[line] += pattern is None
        if pattern is not None and content[at : at + 2] not in ("//", "/*"):
            found.append(Token("pattern", pattern[0], line))
            at = pattern.end()
            continue
        match = _TOKEN.match(content, at)
        assert match is not None and match.lastgroup is not None
        kind, text = match.lastgroup, match[0]
        if kind == "name":
            found.append(Token(kind, _decoded(text), line))
        elif kind == "text":
            found.append(Token(kind, _decoded(text[1:].removesuffix(text[0])), line))
        elif kind in ("number", "sign"):
            depth += {"{": 1, "}": -1}.get(text, 0)
            found.append(Token(kind, text, line))
        line += text.count("\n")
        at = match.end()
    return found


def _template_end(content: str, at: int) -> tuple[int, bool]:
    while at < len(content):
        if content[at] == "\\":
            at += 2
        elif content[at] == "`":
            return at, False
        elif content.startswith("${", at):
            return at, True
        else:
            at += 1
    return len(content), False


def _may_be_pattern(found: Sequence[Token]) -> bool:
    if not found:
        return True
    kind, text, _ = found[-1]
    if kind == "sign":
        return text in _BEFORE_PATTERN
    return kind == "name" and text in _WORDS_BEFORE_PATTERN


def _decoded(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is None:
        return "" if match[4] == "\n" else match[4]
    number = int(digits, 16)
    return chr(number) if number < 0x110000 else ""


__all__ = ["Token", "reaches_in_javascript", "tokens_of"]
