"""What JavaScript and TypeScript code does to the prototypes of built-ins.

A name that a prototype does not have yet means nothing to assertions, and an assignment under a guard that there is
none never runs where there is one. Another meaning for a name that is there is felt by all code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rollout.verifiers._javascript_scopes import Scopes
from rollout.verifiers._javascript_tokens import Token
from rollout.verifiers._reaching_python import Found, words

_NAMES: Mapping[str, frozenset[str]] = {
    "Array": words(
        """
        length at concat copyWithin fill find findIndex findLast findLastIndex lastIndexOf pop push reverse shift
        unshift slice sort splice includes indexOf join keys entries values forEach filter flat flatMap map every some
        reduce reduceRight toLocaleString toReversed toSorted toSpliced with
        """
    ),
    "String": words(
        """
        length anchor at big blink bold charAt charCodeAt codePointAt concat endsWith fontcolor fontsize fixed includes
        indexOf isWellFormed italics lastIndexOf link localeCompare match matchAll normalize padEnd padStart repeat
        replace replaceAll search slice small split strike sub substr substring sup startsWith toWellFormed trim
        trimStart trimLeft trimEnd trimRight toLocaleLowerCase toLocaleUpperCase toLowerCase toUpperCase
        """
    ),
    "Number": words("toExponential toFixed toPrecision toLocaleString"),
    "Date": words("toJSON toGMTString"),
    "Map": words("get set has delete clear entries forEach size keys values"),
    "Set": words(
        """
        has add delete clear entries forEach size values keys union intersection difference symmetricDifference
        isSubsetOf isSupersetOf isDisjointFrom
        """
    ),
    "RegExp": words(
        "exec dotAll flags global hasIndices ignoreCase multiline source sticky unicode compile test unicodeSets"
    ),
    "Boolean": frozenset(),
    "Promise": words("catch finally"),
    "Function": words("length name arguments caller apply bind call prototype"),
    "Error": words("name message stack cause errors code"),
    "WeakMap": words("delete get set has"),
    "WeakSet": words("delete has add"),
    "Symbol": words("description"),
}
_OF_ALL = words(
    """
    constructor toString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString then nodeType nodeName
    isEqualNode asymmetricMatch tagName
    """
)
_OF_DATES = re.compile(
    r"getTimezoneOffset|(?:get|set|to)(?:UTC|Locale|ISO|Date|Time|GMT)?"
    r"(?:Date|Day|Time|Hours|Milliseconds|Minutes|Month|Seconds|FullYear|Year|String)"
)
_PLAIN = re.compile(r"[A-Za-z]\w*")
_ONLY = words("Object Iterator")
_OF_MODULES = {"EventEmitter": "events", "AssertionError": "assert", "AsyncResource": "async_hooks"}
_DEFINERS = words("defineProperty defineProperties assign setPrototypeOf set deleteProperty")
_SETS = words("= += -= *= /= %= &= |= ^= &&=")
_FURTHEST, _DEEPEST = 400, 12


class Prototypes:
    """The reading of one program."""

    def __init__(self, tokens: Sequence[Token], scopes: Scopes) -> None:
        self._tokens = tokens
        self._scopes = scopes
        self._given = Counter(tokens[at - 1].text for at, token in enumerate(tokens) if token.text == "=")
        self._modules = {token.text.removeprefix("node:") for token in tokens if token.kind == "text"}

    def read(self) -> Iterator[Found]:
        """What is reached for."""
        aliases: dict[str, str] = {}
        for at in range(3, len(self._tokens) - 5):
            kind, text, _ = self._tokens[at]
            if kind != "name":
                continue
            before = self._tokens[at - 1].text
            if text == "prototype" and before in (".", "?.") and (owner := self._owner(at - 2)) is not None:
                yield from self._of(at, owner, self._start(at - 2))
                if (name := self._name_for(at)) is not None:
                    aliases[name] = owner
            elif (
                text in aliases and before not in (".", "?.") and self._tokens[at + 1].text in (".", "[", ",")
            ):
                yield from self._of(at, aliases[text], at)

    def _name_for(self, at: int) -> str | None:
        """The name that is given to the prototype that ends at ``at``, and to nothing else."""
        start, (_, following, line) = self._start(at - 2), self._tokens[at + 1]
        kind, name, _ = self._tokens[start - 2]
        ends = following in (";", ",") or line > self._tokens[at].line
        if self._tokens[start - 1].text != "=" or kind != "name" or following in (".", "?.", "[") or not ends:
            return None
        return name if self._given[name] == 1 else None

    def _owner(self, at: int) -> str | None:
        """The built-in that is named at ``at``, unless that is a name of the program's own."""
        text = self._tokens[at].text
        is_member = self._tokens[at - 1].text in (".", "?.")
        if is_member and self._tokens[at - 2].text not in ("globalThis", "global", "window"):
            return text if text in _OF_MODULES and _OF_MODULES[text] in self._modules else None
        if text in _OF_MODULES:
            return text if _OF_MODULES[text] in self._modules else None
        if text not in _NAMES and text not in _ONLY:
            return None
        return None if not is_member and self._scopes.has(text, at) else text

    def _start(self, at: int) -> int:
        return at - 2 if self._tokens[at - 1].text in (".", "?.") else at

    def _of(self, at: int, owner: str, start: int) -> Iterator[Found]:
        """What is done to the prototype whose name begins at ``start`` and ends at ``at``."""
        line, what = self._tokens[at].line, f"{owner}.prototype"
        after, home = self._tokens[at + 1].text, self._said(start, at + 1)
        before, callee = self._tokens[start - 1].text, self._tokens[start - 2].text
        if after == ".":
            key = self._tokens[at + 2].text
            name = at + 4 if self._tokens[at + 3].text == "." else at + 2
            is_set = self._tokens[name + 1].text in _SETS or before == "delete"
            if is_set and not self._is_free(owner, key) and not self._is_guarded(start, name + 1, home, key):
                yield line, what, True
        elif after == "[":
            end = self._scopes.partner.get(at + 1, at + 1)
            is_set = self._tokens[end + 1].text in _SETS or before == "delete"
            key = self._said(at + 2, end)
            if (is_set or owner == "Object") and not self._is_guarded(start, end + 1, home, f"[{key}]"):
                yield line, what, True
        elif before == "(" and callee in _DEFINERS:
            kind, text, _ = self._tokens[at + 2]
            if after == "," and text == "{" and kind == "sign":
                keys = list(self._keys(at + 2))
                honest = all(self._is_free(owner, key) for key in keys) and callee != "setPrototypeOf"
            elif after == "," and callee in ("defineProperty", "set"):
                end = self._end_of_argument(at + 2)
                key = text if kind == "text" and end == at + 3 else f"[{self._said(at + 2, end)}]"
                is_of = self._tokens[start - 3].text in (".", "?.")
                call = start - 4 if is_of else start - 2
                honest = self._is_free(owner, key) or self._is_guarded(call, at + 2, home, key)
            else:
                honest = False
            if not honest:
                yield line, what, True
        elif (
            before == "="
            and owner == "Object"
            and self._tokens[start - 2].text != "}"
            and after not in ("?.", "==", "===")
        ):
            yield line, what, True

    def _is_free(self, owner: str, key: str) -> bool:
        """Whether a prototype does not have a name, nor anything that compares values asks for it."""
        if owner not in _NAMES or not _PLAIN.fullmatch(key) or key in _OF_ALL or key in _NAMES[owner]:
            return False
        return not (owner == "Date" and _OF_DATES.fullmatch(key))

    def _is_guarded(self, start: int, end: int, home: str, key: str) -> bool:
        """Whether what begins at ``start`` is done only where ``home`` has no ``key``."""
        thing = home + (key if key.startswith("[") else f".{key}")
        return adds_what_is_missing(self._tokens, self._scopes, start, end, thing, home)

    def _keys(self, brace: int) -> Iterator[str]:
        end = self._scopes.partner.get(brace, brace)
        at = brace + 1
        while at < end:
            is_word = self._tokens[at].text in ("get", "set", "async", "*") and self._tokens[
                at + 1
            ].text not in (":", "(", ",")
            if self._tokens[at - 1].text in ("{", ",", "get", "set", "async", "*") and not is_word:
                yield self._tokens[at].text
            at = self._scopes.partner.get(at, at) + 1 if self._tokens[at].text in ("(", "[", "{") else at + 1

    def _end_of_argument(self, at: int) -> int:
        while at < len(self._tokens) - 2 and self._tokens[at].text not in (",", ")", ";"):
            at = self._scopes.partner.get(at, at) + 1
        return at

    def _said(self, start: int, end: int) -> str:
        return said(self._tokens, start, end)


def said(tokens: Sequence[Token], start: int, end: int) -> str:
    """What stands there without white space, texts between single quotation marks."""
    return "".join(
        f"'{token.text}'" if token.kind == "text" else token.text for token in tokens[max(start, 0) : end]
    )


def adds_what_is_missing(
    tokens: Sequence[Token], scopes: Scopes, start: int, end: int, thing: str, home: str
) -> bool:
    """Whether ``thing``, a member of ``home``, is set only where there is none.

    Its setting begins at ``start``; ``end`` is the token after its name. ``if (!x) x = …``, ``x = x || …``,
    ``x || (x = …)`` and ``if (x) return; x = …`` count, however the question is put.
    """
    if tokens[end].text == "=" and re.match(
        rf"{re.escape(thing)}(?:\|\||\?\?)", said(tokens, end + 1, end + 30)
    ):
        return True
    before = said(tokens, start - 20, start)
    if re.search(rf"(?:^|[;{{}}()&]){re.escape(thing)}(?:\|\||\?\?)\(?$", before):
        return True
    if (ahead := re.search(r"!([^!;{}]+)&&\(?$", before)) and _tells_missing(f"!{ahead[1]}", thing, home):
        return True
    statement = start
    for _ in range(_DEEPEST):
        opens = scopes.opener[statement]
        first = max(opens + 1, start - _FURTHEST)
        if _returns_before(tokens, scopes, first, statement, thing):
            return True
        for closes in (statement - 1, opens - 1 if opens >= 0 and tokens[opens].text == "{" else -1):
            if closes > 0 and tokens[closes].text == ")" and (asks := scopes.partner.get(closes)) is not None:
                asked = said(tokens, asks + 1, closes)
                if tokens[asks - 1].text == "if" and _tells_missing(asked, thing, home):
                    return True
        if opens < 0:
            break
        statement = opens
    return False


def _returns_before(tokens: Sequence[Token], scopes: Scopes, first: int, last: int, thing: str) -> bool:
    at = first
    while at < last:
        if tokens[at].text == "if" and tokens[at - 1].text in (";", "{", "}"):
            closes = scopes.partner.get(at + 1, at)
            after = tokens[closes + 1 : closes + 3]
            if said(tokens, at + 2, closes) == thing and "return" in [each.text for each in after]:
                return True
        at = max(scopes.partner.get(at, at), at) + 1
    return False


def _tells_missing(asked: str, thing: str, home: str) -> bool:
    """Whether a condition holds only where ``home`` has no such thing."""
    if "||" in asked or "?" in asked:
        return False
    plain, place = re.escape(thing), re.escape(home)
    key = thing[len(home) :]
    name = re.escape(key[1:-1] if key.startswith("[") else f"'{key[1:]}'")
    nothing = r"(?:undefined|null|void0)"
    missing = re.compile(
        rf"!{plain}|typeof{plain}(?:!==?'function'|===?'undefined')|(?:'function'!==?|'undefined'===?)typeof{plain}"
        rf"|{plain}===?{nothing}|{nothing}===?{plain}|!\({name}in{place}\)|!{place}\.hasOwnProperty\({name}\)"
        rf"|!(?:Object\.hasOwn|Reflect\.has|Object\.prototype\.hasOwnProperty\.call)\({place},{name}\)"
    )
    return any(missing.fullmatch(part) for part in asked.split("&&"))


__all__ = ["Prototypes", "adds_what_is_missing", "said"]
