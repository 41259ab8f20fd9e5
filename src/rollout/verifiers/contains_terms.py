"""contains_terms: the agent's last words, or the final state, hold all the terms.

A term is found at its edges: ``10`` is not in ``100``, and ``cat`` not in ``category``; ``substring: true`` takes it
anywhere. Numbers are found as numbers: 100 is in ``$100.00``, but not in ``1,100``, ``-100`` or ``O-100``.
``anyOf: true`` asks for one of the terms only; ``caseSensitive: false`` takes capitals and small letters as the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rollout.language.canonical import canonical
from rollout.language.compare import show
from rollout.verifiers import CannotJudgeError, Case, Judgement, failed, passed

_NUMBER = re.compile(
    r"""(?<![\w.])(?<![\w][-–])(?<!\d,)      # not inside a word, an identifier such as O-10, or another number
        [-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?
        (?![\w])(?![.,]\d)""",
    re.VERBOSE | re.ASCII,
)
_LONGEST_NUMBER = 40


def judge(case: Case, options: Mapping[str, Any]) -> Judgement:
    """1 when the terms are there, else 0 with those that are missing."""
    terms = options["terms"]
    if not terms:
        raise CannotJudgeError("“terms” names no term.")
    if any(isinstance(term, bool) or not isinstance(term, str | int | float) or term == "" for term in terms):
        raise CannotJudgeError("A term is neither a text nor a number.")
    where = options.get("field", "finalOutput")
    if where not in ("finalOutput", "finalState"):
        raise CannotJudgeError(f"“{where}” is no field: it is finalOutput or finalState.")
    text = case.final_output if where == "finalOutput" else "\n".join(_texts(case.final_state))
    find = _Finder(text, options.get("caseSensitive", True), options.get("substring", False))
    missing = [term for term in terms if not find(term)]
    place = "the last message" if where == "finalOutput" else "the final state"
    if options.get("anyOf", False):
        if len(missing) == len(terms):
            return failed(f"None of {_list(terms)} is in {place}.")
        return passed(f"{_named(next(term for term in terms if term not in missing))} is in {place}.")
    if missing:
        return failed(f"{_list(missing)} {'is' if len(missing) == 1 else 'are'} not in {place}.")
    return passed(f"{_list(terms)} {'is' if len(terms) == 1 else 'are'} in {place}.")


def _list(terms: list[Any]) -> str:
    return ", ".join(_named(term) for term in terms)


def _named(term: Any) -> str:
    return f"“{term}”" if isinstance(term, str) else show(term)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    else:
        yield value if isinstance(value, str) else canonical(value).decode("utf-8")


class _Finder:
    def __init__(self, text: str, case_sensitive: bool, substring: bool) -> None:
        self.text = text if case_sensitive else text.casefold()
        self.case_sensitive = case_sensitive
        self.substring = substring
        self.numbers = {number for found in _NUMBER.findall(text) if (number := _number(found)) is not None}

    def __call__(self, term: str | int | float) -> bool:
        if not isinstance(term, str):
            return term in self.numbers
        if self.substring:
            return self._folded(term) in self.text
        if _NUMBER.fullmatch(term) and (number := _number(term)) in self.numbers and number is not None:
            return True
        return self._at_edges(self._folded(term))

    def _folded(self, term: str) -> str:
        return term if self.case_sensitive else term.casefold()

    def _at_edges(self, term: str) -> bool:
        before, after = _edge(term[0], _BEFORE), _edge(term[-1], _AFTER)
        return re.search(f"{before}{re.escape(term)}{after}", self.text) is not None


_BEFORE = (r"(?<!\w)", r"(?<!\d[.,])(?<!\W[-−])(?<!^[-−])")
_AFTER = (r"(?!\w)", r"(?![.,]\d)")


def _edge(character: str, guards: tuple[str, str]) -> str:
    word, number = guards
    if character.isdigit():
        return word + number
    return word if character.isalnum() or character == "_" else ""


def _number(text: str) -> int | float | None:
    digits = text.replace(",", "").replace("−", "-")
    whole = digits.lstrip("-")
    if len(digits) > _LONGEST_NUMBER or (len(whole) > 1 and whole[0] == "0" and whole[1].isdigit()):
        # A run of digits that starts with 0 is a name, such as a postcode.
        return None
    return int(digits) if digits.lstrip("-").isdigit() else float(digits)


__all__ = ["judge"]
