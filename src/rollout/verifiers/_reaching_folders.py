"""Where JavaScript and TypeScript code lists folders that nobody handed to it, and so finds files that are hidden."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from rollout.verifiers._javascript_scopes import Scopes
from rollout.verifiers._javascript_tokens import Token, plainly, tokens_of
from rollout.verifiers._reaching_python import Found, words

_LISTS = words("readdir readdirSync opendir opendirSync glob globSync globby globbySync")
_MODULES = words("fs fs/promises fs-extra graceful-fs glob fast-glob globby tinyglobby")
_OWN_PLACES = words("__dirname process import cwd")
_TEMPORARY = words("mkdtemp mkdtempSync tmpdir")
_LONGEST_STATEMENT, _DEEPEST = 60, 30


def folders_listed(content: str, around: Collection[str]) -> list[Found]:
    """The listings in a program, in order, but for those of folders it was handed, or that it made for a while.

    ``around`` are the names of the folders that hidden files lie in; what names another folder cannot find them.
    """
    tokens = [Token("sign", ";", 1), *plainly(tokens_of(content)), *[Token("sign", ";", 1)] * 6]
    modules = {token.text.removeprefix("node:") for token in tokens if token.kind == "text"}
    return sorted(set(_listed(tokens, Scopes(tokens), around, has_module=bool(modules & _MODULES))))


def _listed(
    tokens: Sequence[Token], scopes: Scopes, around: Collection[str], *, has_module: bool
) -> Iterator[Found]:
    temporary = _temporary(tokens)
    for at in range(3, len(tokens) - 5):
        kind, text, line = tokens[at]
        if kind != "name" or text not in _LISTS:
            continue
        is_member = tokens[at - 1].text in (".", "?.")
        if is_member and [each.text for each in tokens[at - 4 : at - 1]] == ["import", ".", "meta"]:
            yield line, f"import.meta.{text}", False
        if not has_module:
            continue
        if tokens[at + 1].text == "(":
            end = _end_of_argument(tokens, scopes, at + 2)
            said = [token.text for token in tokens[at + 2 : end] if token.kind == "text"]
            if not _is_elsewhere(said, around) and not _is_handed_over(
                tokens, scopes, at + 2, end, temporary
            ):
                yield line, text, False
        elif is_member and tokens[at + 1].text != "=":
            yield line, text, False


def _end_of_argument(tokens: Sequence[Token], scopes: Scopes, at: int) -> int:
    while at < len(tokens) - 1 and tokens[at].text not in (",", ")", ";"):
        at = max(scopes.partner.get(at, at), at) + 1
    return at


def _is_elsewhere(said: Sequence[str], around: Collection[str]) -> bool:
    """Whether texts of a path name a folder that none of these is."""
    parts = [part for text in said for part in text.split("/") if part not in ("", ".")]
    return bool(parts) and parts[-1] not in around and all(re.fullmatch(r"[\w-]+", part) for part in parts)


def _temporary(tokens: Sequence[Token]) -> set[str]:
    """The names of folders that are made to be gone again."""
    found: set[str] = set()
    for at in range(1, len(tokens) - 5):
        if tokens[at].text in _TEMPORARY:
            for back in range(at - 1, max(at - _LONGEST_STATEMENT, 1), -1):
                if tokens[back].text == ";":
                    break
                if tokens[back].text == "=":
                    found.add(tokens[back - 1].text)
                    break
    return found


def _is_handed_over(
    tokens: Sequence[Token], scopes: Scopes, start: int, end: int, temporary: set[str]
) -> bool:
    """Whether what tells the folder, between ``start`` and ``end``, leads to a parameter or a temporary folder."""
    for at in range(start, end):
        kind, text, _ = tokens[at]
        if kind != "name" or tokens[at - 1].text in (".", "?."):
            continue
        if text in temporary or text == "this" or text in _TEMPORARY:
            return True
        if scopes.is_parameter(text, at):
            return not any(
                _is_called_for_own_place(tokens, name) for name in _functions_around(tokens, scopes, at)
            )
    return False


def _functions_around(tokens: Sequence[Token], scopes: Scopes, at: int) -> Iterator[str]:
    """The names of the functions that a token is in."""
    for _ in range(_DEEPEST):
        if at <= 2:
            break
        opens = scopes.opener[at]
        back = at - 1
        while back > max(opens, 2) and tokens[back].text != ";":
            if tokens[back].text == "=>":
                yield from _named(tokens, scopes, back - 1)
            back = min(scopes.partner.get(back, back), back) - 1
        if opens > 2 and tokens[opens].text == "{":
            yield from _named(tokens, scopes, opens - 1)
        at = opens


def _named(tokens: Sequence[Token], scopes: Scopes, parameters: int) -> Iterator[str]:
    """The name of the function whose parameters end there."""
    before = scopes.partner.get(parameters, parameters) - 1
    before -= tokens[before].text == "async"
    before -= tokens[before].text == "="
    if tokens[before].kind == "name":
        yield tokens[before].text


def _is_called_for_own_place(tokens: Sequence[Token], name: str) -> bool:
    """Whether a function is called with a place that is written out."""
    return any(
        tokens[at].text == name
        and tokens[at - 1].text != "function"
        and tokens[at + 1].text == "("
        and (
            tokens[at + 2].kind == "text"
            or tokens[at + 2].text in _OWN_PLACES
            or _joins_own_place(tokens, at + 2)
        )
        for at in range(1, len(tokens) - 8)
    )


def _joins_own_place(tokens: Sequence[Token], at: int) -> bool:
    """Whether ``path.join(__dirname, …)`` or ``join("data")`` begins there."""
    texts = [each.text for each in tokens[at : at + 4]]
    inner = at + 4 if texts[1:2] == ["."] else at + 2
    is_join = texts[0] in ("join", "resolve") or texts[2] in ("join", "resolve")
    return is_join and (tokens[inner].kind == "text" or tokens[inner].text in _OWN_PLACES)


__all__ = ["folders_listed"]
