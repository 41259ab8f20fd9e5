"""Finds where a message says its answer: a mark such as “Answer:”, a last line of its own, or its last sentence."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from rollout.verifiers._json_message import read_json
from rollout.verifiers._number_phrases import number_said
from rollout.verifiers._phrase_tokens import Unread
from rollout.verifiers._text_phrases import bare
from rollout.verifiers._wording import SAYING, Question, is_courtesy, is_denial, words_of

_MARK: Final = re.compile(
    r"""^[^\w\n]*(?:(?:so|thus|hence|therefore)\b,?\s+)?(?:(?:the|my)\s+)?(?:final\s+|correct\s+)?(?:answer|result)\s*
        (?:[:=](?!=)|is\s*:)\s*(?P<labelled>.*)$
        |^\s*\#{4}(?!\#)\s*(?P<hashed>.+)$
        |\\boxed\s*\{(?P<boxed>(?:[^{}]|\{[^{}]*\})*)\}""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_CALLED: Final = re.compile(
    r"\banswer\s+is(?!\s*:)\s+(?P<called>[^\n]*?)(?=[.!](?:\s|$)|\n|$)", re.IGNORECASE
)
_STRONG: Final = re.compile(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1")
_MATHS: Final = re.compile(r"\$(?=\S)([^$\n]*[^$\s])\$(?!\d)")
_LATEX: Final = re.compile(r"\\(?:text|mathrm|mathbf)\{([^{}]*)\}")
# “> 42” may be a quotation or more than 42, and stays.
_HEADING: Final = re.compile(r"^\s{0,3}(?:#{1,3}\s+|>\s+(?=[^\W\d]|[*_]))+", re.MULTILINE)
_BULLET: Final = re.compile(r"^\s*[*•-]\s+(?=[^\W\d])|^\s*[*•]\s+")
_RULES: Final = ("|", "```", "---", "***")
_SOURCE: Final = re.compile(
    r"^(?:based\s+on|according\s+to|looking\s+at)\s+(?P<source>[^,.;:\n]{1,80}),\s+", re.IGNORECASE
)
_REFUSAL: Final = re.compile(
    r"""\b(?:(?:do|does|did|am|are|is|was|were|could|can)\s*n[o'’]?t|can[’']t|cannot|unable|refuse|decline)\s+
        (?:really\s+|yet\s+|to\s+|quite\s+|(?:be\s+)?(?:the|my|an)\s+)*
        (?:know|known|sure|certain|say|tell|answer|find\s+out)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_MOST_COURTESIES: Final = 5
_CONCLUDES: Final = re.compile(r"(?:^|,\s*|[.!]\s+)(?:so|thus|hence|therefore)\W*$", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[.!?])[\"'”’)*_]*\s+(?=[\"'“‘(*_]*[^\W\d_])")
_FENCE: Final = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*?)```", re.DOTALL)
_MOST_CALLED: Final = 3
_LEADING: Final = frozenset(
    ("below", "following", "follows", "as", "next", "shown", "given", "clear", "simple")
)
_KEYS: Final = ("answer", "final_answer", "finalAnswer")


class Passage(NamedTuple):
    """Where a message says its answer: ``text`` is to be read, ``place`` what to call the place.

    ``kind`` is ``value`` where the text has to be the answer itself, ``line`` where it is a line of its own, and
    ``sentence`` where it is a sentence around it. ``message`` is all that was said, without markup and courtesies.
    """

    kind: str
    text: str
    place: str
    message: str


def json_said(text: str, question: Question) -> Any:
    """The JSON value that a message is, or that its one fenced block is. Raises ValueError when it is none.

    The words around a block must not take it back: no doubt may lead up to it, no other answer be marked before it, and
    after it may only stand what says no more than an answer.
    """
    try:
        return read_json(text.strip())
    except ValueError:
        fence = _FENCE.search(text) if text.count("```") == 2 else None
        if fence is None or _takes_back(text[: fence.start()], fence[1], text[fence.end() :], question):
            raise
    return read_json(fence[1])


def _takes_back(before: str, inside: str, after: str, question: Question) -> bool:
    before = _plain(before)
    leading = words_of(_SENTENCE.split(before.split("\n")[-1])[-1])
    is_asked_back = all(word.casefold() in SAYING for word in leading)
    asks = before.endswith("?") and (is_asked_back or question.odd_word(leading) is not None)
    if asks or question.odd_doubt(leading) is not None or any(map(_names, _MARK.finditer(before))):
        return True
    if _called_otherwise(before, inside, question) is not None:
        return True
    rest = _without_courtesy(_plain(after))
    return not is_courtesy(rest) and ("?" in rest or question.odd_word(words_of(rest)) is not None)


def _names(mark: re.Match[str]) -> str:
    """What a mark calls the answer; nothing where it only leads up to it."""
    return bare(next(filter(None, mark.groups()), "")).casefold()


def given_value(text: str, question: Question) -> object:
    """The value of a message that is ``{"answer": …}``, alone or in its one fence; raises KeyError for any other."""
    try:
        value = json_said(text, question)
    except ValueError:
        raise KeyError("answer") from None
    if isinstance(value, dict) and len(value) == 1:
        [(key, inner)] = value.items()
        if key in _KEYS:
            return inner
    raise KeyError("answer")


def find_passage(text: str, question: Question) -> Passage | Unread:
    """Where a message says its answer.

    A mark counts where it is the last thing said, and no other mark says something else. A line counts as one of its
    own where what stands before it is finished; else it is read together with that. Nothing that has no mark is an
    answer of somebody who says not to know one.
    """
    message = _without_courtesy(_plain(text))
    marks = list(_MARK.finditer(message))
    called = list(_CALLED.finditer(message))
    said = [name for mark in (*marks, *called) if (name := _names(mark))]
    if (other := next((each for each in said if not _agree(each, said[-1])), None)) is not None:
        return Unread(f"it calls more than one thing the answer (“{other[:40]}”, “{said[-1][:40]}”)")
    if marks:
        return _marked(message, marks[-1], question)
    passage = _unmarked(message, question)
    if isinstance(passage, Passage):
        other = _called_otherwise(message, passage.text, question)
        if other is not None:
            return Unread(f"“{other[:40]}” is called the answer, and “{passage.text[:40]}” said after it")
    return passage


def _unmarked(message: str, question: Question) -> Passage | Unread:
    lines = [line for line in message.split("\n") if line.strip()]
    last, previous = _BULLET.sub("", lines[-1]).strip(), lines[-2].strip() if len(lines) > 1 else ""
    *_, sentence = _SENTENCE.split(last)
    if refusal := _REFUSAL.search(message[: message.rindex(sentence)]):
        return Unread(f"“{' '.join(refusal[0].split())}” is said before it")
    if sentence != last:
        return Passage("sentence", _without_source(sentence), "the last sentence", message)
    if previous and not _is_finished(previous, last, question):
        *_, opening = _SENTENCE.split(previous)
        return Passage("sentence", _without_source(f"{opening} {last}"), "the last lines", message)
    return Passage(
        "line", _without_source(last), "the last line" if previous else "the whole message", message
    )


def _called_otherwise(message: str, text: str, question: Question) -> str | None:
    """What is called the answer though ``text`` says something else; None where it only leads up to that.

    “The answer is 5.” calls a thing so, “The answer is below:” and “The answer is the sum of all late ones.” do not.
    """
    known = {word.casefold() for word in words_of(text)}
    for called in _CALLED.finditer(message):
        name = _names(called)
        words = words_of(name)
        if not words or is_denial(words[0]) or called["called"].rstrip("*_ ").endswith(":"):
            continue
        if known.issuperset(words) or _agree(name, bare(text).casefold()):
            continue
        is_short = len(words) <= max(_MOST_CALLED, len(known))
        says = question.odd_word(words, denied=True, besides=_LEADING) is not None
        if (is_short and says) or not isinstance(number_said(name, question), Unread):
            return bare(called["called"])
    return None


def _agree(one: str, other: str) -> bool:
    """Whether two answers are the same, or the same with more said after it, as “42” and “42 orders”."""
    shorter, longer = sorted((words_of(one), words_of(other)), key=len)
    return one == other or (bool(shorter) and longer[: len(shorter)] == shorter)


def _marked(message: str, mark: re.Match[str], question: Question) -> Passage | Unread:
    inner, rest = next(filter(None, mark.groups()), ""), message[mark.end() :]
    if mark["boxed"] is not None:
        before = re.split(r"[.!?\n]\s", message[: mark.start()])[-1]
        if (odd := question.doubt_in(words_of(before))) is not None:
            return Unread(f"“{odd}” stands before what is boxed")
        if question.odd_word(words_of(rest)) is not None or "?" in rest:
            return Unread("more is said after what is boxed")
        return Passage("value", inner, "\\boxed{…}", message)
    if not inner.strip():
        # “Answer:” is a heading, and the line below it the answer.
        below = [line for line in rest.split("\n") if line.strip()]
        if len(below) != 1:
            return Unread("“Answer:” is followed by nothing" if not below else "more is said after “Answer:”")
        return Passage("value", _BULLET.sub("", below[0]).strip(), "below “Answer:”", message)
    if re.search(r"\w", rest):
        return Unread("more is said after the line that marks the answer")
    return Passage("value", inner, "“####”" if mark["hashed"] else "“Answer:”", message)


def _plain(text: str) -> str:
    """A message without the marks of markdown and LaTeX around what it says."""
    plain = text.replace("\r\n", "\n").replace("\\$", "$").replace("\\%", "%")
    plain = re.sub(r"\\[()\[\]]", "", plain)
    for form, kept in ((_LATEX, r"\1"), (_MATHS, r"\1"), (_STRONG, r"\2"), (_HEADING, "")):
        plain = form.sub(kept, plain)
    return plain.strip()


def _without_courtesy(message: str) -> str:
    """A message without the sentences that only close it; all of it where it is nothing else."""
    left = message
    for _ in range(_MOST_COURTESIES):
        lines = left.rstrip().split("\n")
        *kept, sentence = _SENTENCE.split(lines[-1])
        if not is_courtesy(sentence):
            return left.rstrip()
        lines[-1] = lines[-1][: lines[-1].rindex(sentence)] if kept else ""
        left = "\n".join(lines).rstrip()
        if not left:
            return message
    return left


def _without_source(sentence: str) -> str:
    """A sentence without “According to the table,” before it."""
    source = _SOURCE.match(sentence)
    if source is None or Question.doubt_in(words_of(source["source"])) is not None:
        return sentence
    return sentence[source.end() :]


def _is_finished(previous: str, last: str, question: Question) -> bool:
    """Whether what a line says is over at its end, so that the next line stands for itself.

    A line of few words may be an answer itself, and the two then a list.
    """
    if previous.endswith(_RULES) or _CONCLUDES.search(previous):
        return True
    *_, sentence = _SENTENCE.split(previous)
    words = words_of(sentence)
    ending = sentence.rstrip(" \t\"'”’)*_`")[-1:]
    if ending == "?":
        return question.odd_word(words) is None
    return ending in (".", "!") and (len(words) > 3 or is_courtesy(sentence))


__all__ = ["Passage", "find_passage", "given_value", "json_said"]
