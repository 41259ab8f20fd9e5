"""contains_terms: the agent's last words, or the final state, hold all the terms.

A term is found at its edges: ``10`` is not in ``100``, and ``cat`` not in ``category``; ``substring: true`` takes it
anywhere. Numbers are found as numbers: 100 is in ``$100.00``, ``100%`` and ``100-day``, but not in ``1,100``, ``-100``
or ``O-100``, and 10 not in ``1.10``, ``10:30``, ``10/12`` or ``10-20``: these are other numbers, times and ranges. Nor
is 49 in ``49 000``, ``49'000``, ``49٫5``, ``49 ½``, ``-$49``, ``minus 49`` or ``49 million``. Numbers of three digits
with nothing but a space between them are read as one, so lists of them need commas.
A number in a power, a path or the address of a page is none either.
What is joined to a word and denies it makes another one of it: ``can`` is not in ``can't``, ``refunded`` not in
``un-refunded``, ``sugar`` not in ``sugar-free``, nor is ``C`` in ``C++``; but ``refund`` is in ``refund-policy``.
Accents belong to their letter however they were typed, so ``cafe`` is not in ``café``.
``anyOf: true`` asks for one of the terms only; ``caseSensitive: false`` takes capitals and small letters as the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rollout.language.canonical import canonical
from rollout.language.compare import show
from rollout.language.edges import composed, stands_alone
from rollout.verifiers import CannotJudgeError, Case, Judgement, absent, failed, passed
from rollout.verifiers._found_numbers import number_of, numbers_in


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
    without = failed if text.strip() else absent
    if options.get("anyOf", False):
        if len(missing) == len(terms):
            return without(f"None of {_list(terms)} is in {place}.")
        return passed(f"{_named(next(term for term in terms if term not in missing))} is in {place}.")
    if missing:
        return without(f"{_list(missing)} {'is' if len(missing) == 1 else 'are'} not in {place}.")
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
        text = composed(text)
        self.text = text if case_sensitive else composed(text.casefold())
        self.case_sensitive = case_sensitive
        self.substring = substring
        self.numbers = set(numbers_in(text))

    def __call__(self, term: str | int | float) -> bool:
        if not isinstance(term, str):
            return term in self.numbers
        if self.substring:
            return self._folded(term) in self.text
        if (number := number_of(term)) is not None:
            return number in self.numbers
        return self._at_edges(self._folded(term))

    def _folded(self, term: str) -> str:
        term = composed(term)
        return term if self.case_sensitive else composed(term.casefold())

    def _at_edges(self, term: str) -> bool:
        at = self.text.find(term)
        while at >= 0:
            if stands_alone(self.text, at, at + len(term)):
                return True
            at = self.text.find(term, at + 1)
        return False


__all__ = ["judge"]
