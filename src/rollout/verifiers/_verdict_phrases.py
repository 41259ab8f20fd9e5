"""The yes or no that a phrase says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rollout.language.edges import composed
from rollout.verifiers._phrase_tokens import (
    DASHES,
    QUIET,
    Unread,
    asked_numbers,
    more_than_an_answer,
    tokens_of,
)
from rollout.verifiers._wording import Question

_VERDICTS: Final = {"yes": True, "true": True, "no": False, "false": False}


def verdict_said(phrase: str, question: Question) -> bool | Unread:
    """The yes or no that a phrase opens with, or says that something is; all else in it accounted for."""
    if "?" in phrase:
        return Unread("it is a question")
    tokens = [
        token for token in tokens_of(composed(phrase)) if token.kind != "mark" or token.text not in QUIET
    ]
    words = [token.text for token in tokens]
    verdicts = [
        (index, _VERDICTS[word.casefold()])
        for index, word in enumerate(words)
        if word.casefold() in _VERDICTS
    ]
    if not verdicts:
        return Unread("it says neither yes nor no")
    if len(verdicts) > 1:
        return Unread("it says yes or no more than once")
    [(place, verdict)] = verdicts
    if place > 0 and not _ends_with_is(words[:place]):
        return more_than_an_answer(words[place - 1])
    others = [token for token in tokens[:place] + tokens[place + 1 :] if token.text not in DASHES]
    asked = asked_numbers(question.text)
    for token in others:
        if token.kind == "mark" or (token.kind == "number" and token.value not in asked):
            return more_than_an_answer(token.text)
    odd = question.odd_word([token.text for token in others], denied=place == 0 and not verdict)
    return verdict if odd is None else more_than_an_answer(odd)


def _ends_with_is(words: Sequence[str]) -> bool:
    last = words[-1].casefold()
    return last in ("is", "are", "was", "were", "answer", "result") or last.endswith(("'s", "’s"))


__all__ = ["verdict_said"]
