"""What JavaScript and TypeScript code does to what all code shares: built-ins, the global object, a runner's names.

Assertions use the built-ins of the moment that they are made in. So code that gives ``Object.is`` another meaning makes
them hold, while code that adds what is not there yet (``Object.groupBy ??= …``) changes nothing for them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from rollout.verifiers._javascript_scopes import Scopes
from rollout.verifiers._javascript_tokens import Token
from rollout.verifiers._reaching_prototypes import Prototypes, adds_what_is_missing
from rollout.verifiers._reaching_python import Found, words
from rollout.verifiers._reaching_values import Values

_STATICS: Mapping[str, frozenset[str]] = {
    "Object": words(
        """
        is keys entries values getPrototypeOf setPrototypeOf getOwnPropertyNames getOwnPropertyDescriptor
        getOwnPropertyDescriptors getOwnPropertySymbols hasOwn assign freeze isFrozen seal isSealed isExtensible
        preventExtensions create defineProperty defineProperties fromEntries prototype
        """
    ),
    "Array": words("isArray from of prototype"),
    "Number": words("isNaN isFinite isInteger isSafeInteger prototype"),
    "String": words("raw fromCharCode prototype"),
    "JSON": words("stringify parse"),
    "Reflect": words(
        """
        apply construct defineProperty deleteProperty get getOwnPropertyDescriptor getPrototypeOf has isExtensible
        ownKeys preventExtensions set setPrototypeOf
        """
    ),
    "Math": words("abs pow max min floor ceil round sqrt trunc sign"),
    "Symbol": words("for keyFor iterator asyncIterator hasInstance toPrimitive toStringTag"),
    "Promise": words("resolve reject all allSettled race prototype"),
    "Error": words("captureStackTrace"),
}
STATICS = _STATICS["Object"] | _STATICS["Array"] | _STATICS["Number"]
"""What assertions use of the constructors that any value leads to."""

_BUILT_IN = _STATICS.keys() | words(
    """
    Function RegExp Map Set WeakMap WeakSet Iterator Boolean BigInt Proxy EventEmitter AssertionError AsyncResource
    TypeError RangeError isNaN isFinite
    """
)
_RUNNER = words("jest vi vitest expect beforeEach afterEach beforeAll afterAll")
_RUNNER_WORDS = words("test it describe suite")
_VARIANTS = words("only skip todo each concurrent sequential fails failing skipIf runIf extend")
_GLOBAL_OBJECT = words("globalThis global window self")
_DEFINERS = words("defineProperty defineProperties setPrototypeOf")
_HARMLESS_AFTER = words("=== !== == != in instanceof && || ??")
_LISTS = words(
    "getOwnPropertySymbols getOwnPropertyNames getOwnPropertyDescriptors ownKeys keys values entries"
)
_REVEALS = _LISTS - words("keys values entries")
_SETS = words("= += -= *= /= %= &= |= ^= &&=")
_KEYWORDS = words(
    "return typeof case in of delete void throw new await yield else do default => let const var as"
)
_MARKS = re.compile(
    r"\$\$jest|jest\.asymmetric|__vitest|__jest|JEST_STATE|JEST_MATCHERS|vitest[:_-]|expect-global|/run/rollout"
)
_MARK = re.compile(r"jest|vitest|expect", re.IGNORECASE)


class Globals:
    """The reading of one program."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._scopes = Scopes(tokens)
        self._aliases = self._find_aliases()
        self._keys_by_name = self._find_keys()
        self._lists = any(token.kind == "name" and token.text in _REVEALS for token in tokens)

    def read(self) -> Iterator[Found]:
        """What is reached for."""
        for at in range(1, len(self._tokens) - 5):
            kind, text, line = self._tokens[at]
            if kind == "text":
                if _MARKS.search(text) or (
                    self._texts(at - 4, at) == ["Symbol", ".", "for", "("] and _MARK.search(text)
                ):
                    yield line, text[:60], True
            elif kind == "name":
                yield from self._at(at)
        yield from Prototypes(self._tokens, self._scopes).read()
        yield from Values(self._tokens, self._scopes, _STATICS, self._meaning).read()

    def _at(self, at: int) -> Iterator[Found]:
        _, text, line = self._tokens[at]
        if text.startswith(("__vitest", "__jest")) or text == "asymmetricMatch":
            yield line, text, True
            return
        if text == "arguments" and self._tokens[at - 1].text not in (".", "?."):
            # What Jest hands to a file, the object “jest” among it.
            after = self._tokens[at + 1].text
            if (
                after not in (":", "=")
                and not self._scopes.is_in_function(at)
                and not self._scopes.has(text, at)
            ):
                yield line, "what a module is called with", after in ("[", ".", ")", ";")
            return
        if text == "getPrototypeOf" and (end := self._scopes.partner.get(at + 1)) is not None:
            following = self._texts(end + 1, end + 4)
            if following[:1] == ["."] and following[2:] and following[2] in _SETS:
                yield line, "what others share", False
        owner = self._meaning(at)
        if owner is None:
            return
        if owner in _GLOBAL_OBJECT:
            yield from self._of_global_object(at, owner)
        if owner in _STATICS:
            yield from self._of_built_in(at, owner)
        if owner in _BUILT_IN and text == owner and self._is_set_as_a_whole(at):
            yield line, text, True
        if owner in _RUNNER or owner in _RUNNER_WORDS:
            yield from self._of_runner(at, owner)

    def _of_built_in(self, at: int, owner: str) -> Iterator[Found]:
        line, names = self._tokens[at].line, _STATICS[owner]
        after = self._texts(at + 1, at + 4)
        if after[0] in (".", "?."):
            start = self._start_of(at)
            is_set = after[2] in _SETS or self._tokens[start - 1].text == "delete" or self._is_target(start)
            if after[1] in names and is_set and not self._adds_what_is_missing(at, owner, after[1]):
                yield line, f"{owner}.{after[1]}", True
        elif (after[0] == "[" and self._after_brackets(at + 1) in _SETS) or self._is_given_where_written(at):
            yield line, f"what {owner} has", False
        else:
            yield from self._of_definer(at, owner, names)

    def _is_target(self, at: int) -> bool:
        """Whether a value is taken apart into what begins at ``at``: ``[Object.is] = …``, ``for (Object.is of …)``."""
        before, after = self._tokens[at - 1].text, self._tokens[at + 3].text
        if before == "(":
            return self._tokens[at - 2].text == "for" and after in ("of", "in")
        if before not in (":", "[", ",", "...") or after not in (",", "]", "}", "="):
            return False
        closes = next(
            (
                each
                for each in range(at + 3, at + 60)
                if self._scopes.partner.get(each, len(self._tokens)) < at
            ),
            0,
        )
        return self._tokens[closes].text in ("]", "}") and self._tokens[closes + 1].text == "="

    def _of_definer(self, at: int, owner: str, names: Collection[str]) -> Iterator[Found]:
        """What is defined by ``Object.defineProperty(owner, …)`` and the like."""
        start, line = self._start_of(at), self._tokens[at].line
        if self._tokens[start - 1].text != "(" or self._tokens[at + 1].text != ",":
            return
        definer, dot, home = (self._tokens[max(start - each, 0)].text for each in (2, 3, 4))
        is_of = dot == "." and home in ("Object", "Reflect")
        if not (definer in _DEFINERS or (definer in ("assign", "set", "deleteProperty") and is_of)):
            return
        what = owner if owner in _GLOBAL_OBJECT else f"what {owner} has"
        kind, text, _ = self._tokens[at + 2]
        if kind == "text":
            if text in names and not self._adds_what_is_missing(start - (4 if is_of else 2), owner, text):
                yield line, f"{owner}.{text}", True
        elif text == "{" and kind == "sign":
            keys = set(self._keys(at + 2))
            for name in sorted(keys & set(names)):
                yield line, f"{owner}.{name}", True
            if keys & {"[", "..."}:
                yield line, what, False
        else:
            yield line, what, False

    def _of_global_object(self, at: int, name: str) -> Iterator[Found]:
        _, written, line = self._tokens[at]
        before, after = self._tokens[at - 1].text, self._texts(at + 1, at + 5)
        if after[0] in (".", "?."):
            if after[1] in _RUNNER or (after[1] in _BUILT_IN | _RUNNER_WORDS and after[2] in _SETS):
                yield line, f"{name}.{after[1]}", True
        elif after[0] == "[":
            if not self._is_plain_key(at + 2):
                yield line, name, False
        elif before == "=" and self._tokens[at - 2].text == "}":
            yield from self._taken_apart(at, name)
        elif self._is_listed(at):
            yield line, name, False
        elif found := list(self._of_definer(at, name, _BUILT_IN | _RUNNER | _RUNNER_WORDS)):
            yield from found
        elif written in ("globalThis", "global") and written not in self._aliases:
            is_given = (
                (self._lists and self._is_given_where_written(at))
                or before in ("return", "=>", "...", "[")
                or (before in ("(", ",") and self._is_handed_over(at) and not self._is_harmless_call(at))
            )
            if is_given and after[0] not in _HARMLESS_AFTER:
                yield line, name, False

    def _is_listed(self, at: int) -> bool:
        """Whether what the global object has is listed: ``Object.keys(globalThis)``, ``for (… in globalThis)``."""
        before, callee = self._tokens[at - 1].text, self._tokens[at - 2].text
        if before == "in":
            start = self._scopes.partner.get(at + 1, 1)
            return self._tokens[at + 1].text == ")" and self._tokens[start - 1].text == "for"
        return before == "(" and callee in _LISTS

    def _taken_apart(self, at: int, name: str) -> Iterator[Found]:
        start = self._scopes.partner.get(at - 2, at - 2)
        inside = set(self._texts(start + 1, at - 2))
        for each in sorted(inside & _RUNNER):
            yield self._tokens[at].line, f"{name}.{each}", True
        if inside & words("... [ Object Array Number JSON Math Reflect"):
            yield self._tokens[at].line, name, False

    def _of_runner(self, at: int, name: str) -> Iterator[Found]:
        kind, before, _ = self._tokens[at - 1]
        after = self._texts(at + 1, at + 3)
        # Words between tags look like names.
        if (kind == "name" and before not in _KEYWORDS) or kind in ("number", "text", "pattern"):
            return
        is_call = after[0] == "(" and not self._is_method(at + 1)
        is_member = after[0] in (".", "?.") and (name in _RUNNER or after[1] in _VARIANTS)
        is_set = self._is_set_as_a_whole(at)
        is_value = name in ("jest", "vi", "expect") and before == "=" and after[0] in (";", ",", ")")
        if is_call or is_member or is_set or is_value:
            yield self._tokens[at].line, name, before != ">"

    def _is_set_as_a_whole(self, at: int) -> bool:
        """Whether a name that is not the program's own is given another value by ``name = …``."""
        if self._tokens[at + 1].text not in _SETS:
            return False
        kind, before, line = self._tokens[at - 1]
        if before in (";", "}", ")", "=>", "&&", "||", "else", "="):
            return True
        if before == "{":
            return self._tokens[at - 2].text in (")", "=>", ";", "}", "{", "else", "try", "do", "finally")
        return (
            line < self._tokens[at].line
            and before not in (",", "(", "[", "let", "const", "var")
            and kind != "sign"
        )

    def _adds_what_is_missing(self, at: int, owner: str, name: str) -> bool:
        """Whether a static is set only where there is none: ``if (!Object.is) Object.is = …``, ``x = x || …``."""
        thing = f"{owner}.{name}"
        end = at + 3 if self._texts(at, at + 3) == [owner, ".", name] else at
        return adds_what_is_missing(self._tokens, self._scopes, at, end, thing, owner)

    def _find_aliases(self) -> dict[str, str]:
        """Names that a program has for a built-in or the global object: ``const O = Object``."""
        found: dict[str, str] = {}
        for at in range(3, len(self._tokens) - 2):
            kind, text, _ = self._tokens[at]
            if kind != "name" or not (text in _STATICS or text in _GLOBAL_OBJECT):
                continue
            if self._tokens[at - 1].text in (".", "?.") or self._scopes.has(text, at):
                continue
            after = self._tokens[at + 1].text
            if self._tokens[at - 1].text == "=" and after not in (".", "?.", "(", "["):
                home = at - 2
            elif text in ("globalThis", "global") and self._tokens[at - 1].text in ("?", ":", "||", "??"):
                home = self._assigned(at)
            else:
                continue
            if self._tokens[home].kind == "name" and self._tokens[home - 1].text not in (".", "?."):
                found[self._tokens[home].text] = text
        return found

    def _assigned(self, at: int) -> int:
        """The token before the ``=`` of the statement that ``at`` is in, or 0."""
        for back in range(at - 1, max(at - 60, 1), -1):
            if self._tokens[back].text == "=":
                return back - 1
            if self._tokens[back].text in (";", "{", "}", "return"):
                return 0
        return 0

    def _meaning(self, at: int) -> str | None:
        """What a name stands for that is not a member or a key, unless it is the program's own."""
        text = self._tokens[at].text
        if self._tokens[at - 1].text in (".", "?."):
            home = self._tokens[at - 2].text
            is_global = home in _GLOBAL_OBJECT and self._tokens[at - 3].text not in (".", "?.")
            return text if is_global and text in _STATICS else None
        if text in self._aliases and not (
            self._tokens[at + 1].text == "=" or self._tokens[at - 1].text == "}"
        ):
            return self._aliases[text]
        if text not in _STATICS and text not in _BUILT_IN | _RUNNER | _RUNNER_WORDS | _GLOBAL_OBJECT:
            return None
        if self._tokens[at + 1].text == ":" and self._tokens[at - 1].text in ("{", ","):
            return None
        return None if self._scopes.has(text, at) else text

    def _start_of(self, at: int) -> int:
        """Where ``globalThis.Object`` begins, when ``at`` is ``Object``."""
        return at - 2 if self._tokens[at - 1].text in (".", "?.") else at

    def _is_handed_over(self, at: int) -> bool:
        """Whether a value is an argument of a call, but not of a function that is called where it is written."""
        start = at - 1
        while start > 0 and self._tokens[start].text not in ("(", "[", "{", ";"):
            start = self._scopes.partner[start] - 1 if start in self._scopes.partner else start - 1
        if self._tokens[start].text != "(":
            return False
        kind, before, _ = self._tokens[start - 1]
        return (kind == "name" and before not in ("if", "while", "switch", *_KEYWORDS)) or before == "]"

    def _is_given_where_written(self, at: int) -> bool:
        """Whether a value is the first argument of a function that is called where it is written."""
        return self._tokens[at - 1].text == "(" and self._tokens[at - 2].text in (")", "}")

    def _is_harmless_call(self, at: int) -> bool:
        callee = self._tokens[at - 2].text
        if callee in ("call", "apply", "bind"):
            return self._tokens[at - 1].text == "("
        is_definer = callee in (*_DEFINERS, "assign", "set")
        return is_definer and self._tokens[at - 1].text == "(" and self._tokens[at + 1].text == ","

    def _is_plain_key(self, at: int) -> bool:
        """Whether ``Symbol.for("…")``, or a constant that is one, is all that is between these brackets."""
        if self._tokens[at].text in self._keys_by_name and self._tokens[at + 1].text == "]":
            return True
        return self._texts(at, at + 4) == ["Symbol", ".", "for", "("] and (
            self._tokens[at + 4].kind == "text" and self._texts(at + 5, at + 7) == [")", "]"]
        )

    def _find_keys(self) -> frozenset[str]:
        """The constants that are a symbol of the program's own: ``const KEY = Symbol.for("…")``."""
        return frozenset(
            self._tokens[at + 1].text
            for at in range(len(self._tokens) - 7)
            if self._tokens[at].text == "const"
            and self._texts(at + 2, at + 4) == ["=", "Symbol"]
            and (
                self._tokens[at + 5].kind == "text"
                or (self._tokens[at + 4].text == "." and self._tokens[at + 7].kind == "text")
            )
        )

    def _is_method(self, bracket: int) -> bool:
        """Whether what is in these brackets are parameters of a method, not arguments."""
        after = self._scopes.partner.get(bracket, -2) + 1
        return self._tokens[after].text in ("{", ":", "=>") and after > 0

    def _after_brackets(self, bracket: int) -> str:
        end = self._scopes.partner.get(bracket)
        return self._tokens[end + 1].text if end is not None and end + 1 < len(self._tokens) else ""

    def _keys(self, brace: int) -> Iterator[str]:
        end = self._scopes.partner.get(brace, brace)
        at = brace + 1
        while at < end:
            if self._tokens[at - 1].text in ("{", ",", "get", "set", "async"):
                yield self._tokens[at].text
            at = self._scopes.partner.get(at, at) + 1 if self._tokens[at].text in ("(", "[", "{") else at + 1

    def _texts(self, start: int, end: int) -> list[str]:
        return [each.text for each in self._tokens[max(start, 0) : end]]


__all__ = ["STATICS", "Globals"]
