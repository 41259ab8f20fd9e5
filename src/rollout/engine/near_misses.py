"""Sentences that hold the right answer and do not give it: in a longer word, denied, or beside another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rollout.engine.wrong_arguments import longer
from rollout.language.compare import show
from rollout.language.edges import stands_alone

_LONGEST = 40


class NearMiss(NamedTuple):
    """What is said, why that is no answer, and whether nobody could take it for one."""

    said: Any
    why: str
    is_plain: bool


def near_misses(said: Any, answer: Any, others: Sequence[Any]) -> Iterator[NearMiss]:
    """Near misses of ``said``, which gives ``answer``, a text or a number; ``others`` are answers of other tasks.

    No primitive that only looks for words can tell a denial from the answer, so that it may be known and accepted.
    """
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return
    text = answer.strip() if isinstance(answer, str) else str(answer)
    if not text or len(text) > _LONGEST or "\n" in text:
        return
    for word in _longer(answer):
        replaced = said.replace(text, word) if isinstance(said, str) and text in said else word
        if not _is_said(text, replaced):
            yield NearMiss(replaced, f"It says {show(word)}, not {show(answer)}.", True)
    yield NearMiss(f"It is not {text}.", f"It says that it is not {show(answer)}.", False)
    other = next((each for each in others if _is_another(each, answer)), "something else")
    yield NearMiss(f"It is {text}, or {other}.", f"It says {show(other)} as well as {show(answer)}.", False)


def _longer(answer: str | int | float) -> Iterator[str]:
    """Words with the answer at their start and at their end."""
    if not isinstance(answer, str):
        yield str(longer(answer))
        return
    text = answer.strip()
    yield f"{text}7" if text[-1].isdigit() else f"{text}like"
    yield f"7{text}" if text[0].isdigit() else f"non{text}"


def _is_said(text: str, said: str) -> bool:
    found, folded = said.casefold(), text.casefold()
    at = found.find(folded)
    while at >= 0:
        if stands_alone(found, at, at + len(folded)):
            return True
        at = found.find(folded, at + 1)
    return False


def _is_another(other: Any, answer: Any) -> bool:
    if isinstance(other, bool) or not isinstance(other, str | int | float) or other == answer:
        return False
    text = str(other)
    return 0 < len(text) <= _LONGEST and "\n" not in text and not _is_said(str(answer), text)


__all__ = ["NearMiss", "near_misses"]
