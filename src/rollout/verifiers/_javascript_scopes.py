"""Which names of a JavaScript or TypeScript program are its own, and where: declared, imported, or a parameter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from rollout.verifiers._javascript_tokens import Token
from rollout.verifiers._reaching_python import words

_OPENS, _CLOSES = words("( [ {"), words(") ] }")
_DECLARES = words("let const var")
_NO_PARAMETERS = words("if while for switch with")
_LONGEST_TYPE, _LONGEST_BODY = 40, 2000


class Scopes:
    """Made of a program's tokens.

    ``partner`` has, for each bracket's index, that of the other one of its pair, and ``opener``, for each token's
    index, that of the bracket that it is directly in, or -1.
    """

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self.partner: dict[int, int] = {}
        self.opener: list[int] = []
        self._block: list[int] = []
        self._functions: set[int] = set()
        self._ranges: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._parameters: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._pair()
        for at, token in enumerate(tokens):
            if token.kind == "name":
                self._read_name(at)
            elif token.text == "(" and token.kind == "sign":
                self._read_parameters(at)

    def has(self, name: str, at: int) -> bool:
        """Whether ``name`` is the program's own at the token ``at``."""
        return any(start <= at <= end for start, end in self._ranges.get(name, ()))

    def is_parameter(self, name: str, at: int) -> bool:
        """Whether ``name`` is, at the token ``at``, what a function of the program's own was given."""
        return any(start <= at <= end for start, end in self._parameters.get(name, ()))

    def is_in_function(self, at: int) -> bool:
        """Whether ``arguments`` at the token ``at`` are those of a function of the program's own."""
        block = self._block[at]
        while block >= 0 and block not in self._functions:
            block = self._block[block]
        return block >= 0

    def _pair(self) -> None:
        stack: list[int] = []
        blocks = [-1]
        for at, (kind, text, _) in enumerate(self._tokens):
            self._block.append(blocks[-1])
            self.opener.append(stack[-1] if stack else -1)
            if kind != "sign":
                continue
            if text in _OPENS:
                stack.append(at)
                if text == "{":
                    blocks.append(at)
            elif text in _CLOSES and stack:
                start = stack.pop()
                self.partner[start], self.partner[at] = at, start
                if blocks[-1] == start:
                    blocks.pop()

    def _read_name(self, at: int) -> None:
        text, before, following = (self._tokens[each].text for each in (at, max(at - 1, 0), at + 1))
        if before in (".", "?.") or following == ":":
            return
        if text in _DECLARES:
            self._declare(self._declared(at + 1), self._scope(at, whole_function=text == "var"))
        elif text in ("function", "class"):
            name = at + 2 if following == "*" else at + 1
            if self._tokens[name].kind == "name":
                self._declare([name], self._scope(at))
        elif text == "import" and following not in ("(", "."):
            self._declare(self._imported(at + 1), (0, len(self._tokens)))
        elif following == "=>":
            last = self._end_of_expression(at + 2)
            self._declare([at], (at, last))
            self._parameters[text].append((at, last))

    def _read_parameters(self, start: int) -> None:
        end = self.partner.get(start)
        if end is None or self._tokens[start - 1].text in _NO_PARAMETERS:
            return
        body = self._body(end + 1)
        if body is None:
            return
        is_block = self._tokens[body].text == "{"
        if is_block and self._tokens[body - 1].text != "=>" and self._tokens[start - 1].text != "catch":
            self._functions.add(body)
        last = self.partner.get(body, len(self._tokens)) if is_block else self._end_of_expression(body)
        self._declare(self._names(start, end), (start, last))
        if self._tokens[start - 1].text != "catch":
            for at in self._names(start, end):
                self._parameters[self._tokens[at].text].append((start, last))

    def _body(self, at: int) -> int | None:
        """Where the body begins of a function whose parameters end before ``at``, if they are parameters."""
        if self._tokens[at].text == ":":
            for _ in range(_LONGEST_TYPE):
                at += 1
                if at >= len(self._tokens) - 1 or self._tokens[at].text in (";", ",", ")", "="):
                    return None
                if self._tokens[at].text == "=>" or self._is_block_of(at):
                    break
                at = self.partner.get(at, at) if self._tokens[at].text in _OPENS else at
            else:
                return None
        if self._tokens[at].text == "=>":
            return at + 1
        return at if self._tokens[at].text == "{" and self._tokens[at].kind == "sign" else None

    def _is_block_of(self, at: int) -> bool:
        if self._tokens[at].text != "{":
            return False
        after = self.partner.get(at, at) + 1
        return after >= len(self._tokens) or self._tokens[after].text not in ("{", "=>")

    def _declared(self, at: int) -> Iterator[int]:
        """The names that ``let`` and the like declare, the first of them at ``at``."""
        last = len(self._tokens) - 1
        while at < last:
            if self._tokens[at].text in ("{", "["):
                end = self.partner.get(at, last)
                yield from self._names(at, end)
                at = end + 1
            else:
                yield at
                at += 1
            while at < last and self._tokens[at].text not in (",", ";", *_CLOSES, *_DECLARES):
                at = self.partner.get(at, at) + 1 if self._tokens[at].text in _OPENS else at + 1
            if self._tokens[at].text != ",":
                return
            at += 1

    def _imported(self, at: int) -> Iterator[int]:
        while at < len(self._tokens) and self._tokens[at].text not in ("from", ";"):
            if self._tokens[at].kind == "text":
                return
            yield at
            at += 1

    def _names(self, start: int, end: int) -> Iterator[int]:
        for at in range(start + 1, min(end, start + _LONGEST_BODY)):
            # What comes after “=” is a default value.
            if self._tokens[at].kind == "name" and self._tokens[at - 1].text not in (".", "?.", "="):
                yield at

    def _declare(self, names: Iterator[int] | list[int], scope: tuple[int, int]) -> None:
        for at in names:
            if self._tokens[at].kind == "name":
                self._ranges[self._tokens[at].text].append(scope)

    def _scope(self, at: int, *, whole_function: bool = False) -> tuple[int, int]:
        block = self._block[at]
        while whole_function and block >= 0 and not self._is_function(block):
            block = self._block[block]
        return (0, len(self._tokens)) if block < 0 else (block, self.partner.get(block, len(self._tokens)))

    def _is_function(self, block: int) -> bool:
        before = self._tokens[block - 1].text
        if before != ")":
            return before not in ("else", "try", "do", "finally", ";", "}", "{")
        return self._tokens[self.partner.get(block - 1, 1) - 1].text not in _NO_PARAMETERS

    def _end_of_expression(self, at: int) -> int:
        for _ in range(_LONGEST_BODY):
            if at >= len(self._tokens) or self._tokens[at].text in (",", ";", *_CLOSES):
                break
            at = self.partner.get(at, at) + 1 if self._tokens[at].text in _OPENS else at + 1
        return at


__all__ = ["Scopes"]
