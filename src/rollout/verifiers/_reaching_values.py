"""Where JavaScript and TypeScript code hands on a built-in as a value, and gives something of such a name a value.

Of ``patch(Object, "is", …)`` or ``for (const o of [Object]) o.is = …`` no single place says what it does. Both halves
in one file are doubtful, each alone is honest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rollout.verifiers._javascript_scopes import Scopes
from rollout.verifiers._javascript_tokens import Token
from rollout.verifiers._reaching_python import Found, words

_OWNERS = words("Object Array Number JSON Math Reflect")
_RARELY_VALUES = words("Object JSON Reflect")
_SETS = words("= += -= *= /= %= &= |= ^= &&= ||= ??=")
_BEFORE = words("[ , = : => return ? || ?? && ... {")
_AFTER = words(") ] } , ; : || ?? && ?")
_METHODS = words(
    """
    map flatMap filter some every forEach find reduce then catch from of has get set add includes indexOf call apply
    bind is keys values entries freeze create construct getOwnPropertyNames getOwnPropertyDescriptor equal strictEqual
    getOwnPropertyDescriptors getPrototypeOf hasOwn ownKeys isPrototypeOf log defineProperty defineProperties
    setPrototypeOf assign deleteProperty
    """
)
_CALLS = words("expect equal strictEqual String typeof if while switch defineProperty defineProperties")
_KEYS = words("type of default")
_OWN = words("this exports module super")


class Values:
    """The reading of one program. ``meaning`` tells which built-in a token stands for."""

    def __init__(
        self,
        tokens: Sequence[Token],
        scopes: Scopes,
        statics: Mapping[str, frozenset[str]],
        meaning: Callable[[int], str | None],
    ) -> None:
        self._tokens = tokens
        self._scopes = scopes
        self._statics = {owner: statics[owner] - {"prototype"} for owner in _OWNERS}
        self._meaning = meaning

    def read(self) -> Iterator[Found]:
        """What is reached for."""
        names, by_key = self._given()
        if not names and not by_key:
            return
        texts = {token.text for token in self._tokens if token.kind == "text"}
        for at in range(1, len(self._tokens) - 5):
            kind, text, line = self._tokens[at]
            if text == "constructor" and self._leads_to_any(at) and names & self._statics["Object"]:
                yield line, "what a constructor has", False
            if kind != "name" or (owner := self._meaning(at)) not in _OWNERS or not self._is_value(at):
                continue
            assert owner is not None
            statics = self._statics[owner]
            if names & statics or (by_key and (owner in _RARELY_VALUES or texts & statics)):
                yield line, f"what {owner} has", False

    def _given(self) -> tuple[set[str], bool]:
        """The names of members that are given a value, and whether some are whose name is worked out."""
        names, by_key, made = set(), False, self._made_here()
        for at in range(1, len(self._tokens) - 5):
            if self._tokens[at].kind != "sign" or self._tokens[at].text not in _SETS:
                continue
            name = self._tokens[at - 1].text
            if name == "]":
                start = self._scopes.partner.get(at - 1, at - 1)
                home = self._tokens[start - 1].text
                is_new = home in made and not self._scopes.is_parameter(home, at)
                is_known = home in _OWN or (is_new and self._tokens[start - 2].text not in (".", "?."))
                by_key = by_key or (self._is_end_of_value(start - 1) and not is_known)
            elif self._tokens[at - 2].text in (".", "?.") and self._tokens[at - 3].text not in _OWN:
                names.add(name)
        return names, by_key

    def _made_here(self) -> set[str]:
        """The names of what begins as something new: ``const found = {}``."""
        return {
            self._tokens[at].text
            for at in range(1, len(self._tokens) - 5)
            if self._tokens[at - 1].text in ("const", "let", "var", ",")
            and self._tokens[at + 1].text == "="
            and (
                self._tokens[at + 2].text in ("new", "{", "[")
                or [each.text for each in self._tokens[at + 2 : at + 5]] == ["Object", ".", "create"]
            )
        }

    def _is_end_of_value(self, at: int) -> bool:
        kind, text, _ = self._tokens[at]
        return (kind == "name" and text not in ("const", "let", "var", "return")) or text in (")", "]")

    def _is_value(self, at: int) -> bool:
        """Whether a built-in is an element, a default, a property, a result, or an argument of a call of any kind."""
        start = at - 2 if self._tokens[at - 1].text in (".", "?.") else at
        before, after = self._tokens[start - 1].text, self._tokens[at + 1]
        if after.text not in _AFTER and after.line == self._tokens[at].line:
            return False
        if before not in _BEFORE and before != "(":
            return False
        opens = self._scopes.opener[start]
        kind = self._tokens[opens].text if opens >= 0 else ""
        if before == "=":
            # A name for it is one that is known.
            return start != at or self._tokens[start - 3].text in (".", "?.")
        if before == ":":
            if any(self._tokens[each].text == "?" for each in range(max(opens, start - 30, 0), start)):
                return True
            is_property = kind == "{" and self._tokens[start - 3].text in ("{", ",")
            return is_property and self._tokens[start - 2].text not in _KEYS and after.text in (",", "}")
        if kind == "(" and before in ("(", ","):
            callee = self._tokens[opens - 1]
            if callee.kind != "name" and callee.text not in (")", "]"):
                return False
            return callee.text not in (_METHODS if self._tokens[opens - 2].text in (".", "?.") else _CALLS)
        if kind == "[":
            return before != "[" or not self._is_pair(opens)
        if kind == "{" and before in ("{", ","):
            return after.text in (",", "}") and self._tokens[opens - 1].text not in (
                "import",
                "export",
                "type",
            )
        return before not in ("{", ",")

    def _is_pair(self, bracket: int) -> bool:
        """Whether this is an entry of a map, of whose key nothing is set: ``[[Number, parse], …]``."""
        return self._tokens[bracket - 1].text in ("[", ",") and self._tokens[bracket - 1].kind == "sign"

    def _leads_to_any(self, at: int) -> bool:
        """Whether ``x.constructor``, ``{ constructor: O }`` or a key of that name is kept."""
        kind, _, _ = self._tokens[at]
        before, after = self._tokens[at - 1].text, self._tokens[at + 1].text
        if kind == "text":
            return (
                before in ("=", "[", "(", ",", "+")
                and after in (";", "]", ")", ",")
                and not self._is_listed(at)
            )
        if before in (".", "?."):
            start = at
            while start > 2 and self._tokens[start - 1].text in (".", "?."):
                start -= 2
            start = self._scopes.partner.get(start, start)
            is_kept = self._tokens[start - 1].text in ("=", "(", ",", "[", "return", "=>")
            return is_kept and after in (";", ",", ")", "]") and self._tokens[start].text != "this"
        closes = self._scopes.partner.get(self._scopes.opener[at], at)
        return before in ("{", ",") and after == ":" and self._tokens[closes + 1].text == "="

    def _is_listed(self, at: int) -> bool:
        """Whether a text is one of many, as in a list of what may not be a key, or is asked for in one."""
        opens = self._scopes.opener[at]
        is_list = self._tokens[opens].text == "[" and not self._is_end_of_value(opens - 1)
        return is_list or self._tokens[opens - 1].text in _METHODS


__all__ = ["Values"]
