"""Shows a reviewer what does not show: two texts that are told as different are never shown as the same."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby

from rollout.compile.cutting import start_alike
from rollout.diagnostics._visible import visible

# Blanks other than the space, and what takes no room at all, but for the joiners and variation selectors that many
# scripts and pictures are written with: those are only named where two texts part.
_HIDDEN = re.compile(
    "[\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u202f\u205f-\u2064\u206a-\u206f"
    "\u3000\u3164\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SPACE = "␠"
_WORD = re.compile("[\\w\u2010\u2011\u2212-]+")
_TOKEN = re.compile(r" ?\w+|\W")
_RUN = re.compile("[\x00-\x7f]+|[^\x00-\x7f]+")
# Letters of Cyrillic and Greek that most fonts draw as Latin ones, hyphens, and the wide forms of ASCII.
_ALIKE = {
    *map(ord, "АВЕЅІЈКМНОРСТХҮаеѕіјорсухһԁԛԝӏЁЇёї"),
    *map(ord, "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧνο"),
    *map(ord, "\u2010\u2011\u2212"),
    *range(0xFF01, 0xFF5F),
}
# Of pairs of equal words: aligning texts that repeat a few words takes minutes.
_MOST_PAIRS = 100_000
_MOST_RIVALS = 200


def telling(text: str) -> str:
    """``text`` as one line in which nothing moves the cursor and what hides is named: ``<U+200B>``.

    So is a letter of another script that passes for one of ASCII, in a word that is otherwise ASCII.
    """
    if text.isascii():
        return visible(text)
    return _HIDDEN.sub(lambda found: _named(found[0]), _WORD.sub(_unmixed, visible(text)))


def apart(one: str, other: str, *, margin: int | None = None) -> tuple[str, str]:
    """Both texts, with the characters beyond ASCII named wherever the two part: ``1․<U+2024>50``.

    Which characters look alike is a matter of fonts, so no list of them is asked. A run of characters is named by its
    first one; what draws nothing is named instead of shown. Of what both have, no more is shown than ``margin``
    characters on either side of a difference, where it is given.
    """
    mine, theirs = "", ""
    only_blanks = one.split() == other.split()
    for is_same, pieces in groupby(_pieces(one, other), lambda pair: pair[0] == pair[1]):
        if is_same:
            shared = _around(tabbed("".join(piece for piece, _ in pieces)), margin)
            mine, theirs = mine + shared, theirs + shared
        else:
            for old, new in pieces:
                mine += _blanks(old, mine) if only_blanks and old.isascii() else _changed(old)
                theirs += _blanks(new, theirs) if only_blanks and new.isascii() else _changed(new)
    return mine, theirs


def rivals(texts: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """Those of ``texts`` that can be taken for one of ``others``, each with it: the same but beyond ASCII."""
    by_length: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for other in others:
        drawn = _drawn(other)
        by_length[len(drawn)].append((drawn, other))
    found = {}
    for text in texts:
        drawn = _drawn(text)
        candidates = by_length[len(drawn)]
        near = (other for there, other in candidates if other != text and _may_pass(drawn, there))
        rival = candidates[0][1] if len(candidates) > _MOST_RIVALS else next(near, None)
        if rival is not None and not (text.isascii() and rival.isascii()):
            found[text] = rival
    return found


def tabbed(text: str) -> str:
    """``text`` as :func:`telling` shows it, but for tabs, which are part of code."""
    return "\t".join(map(telling, text.split("\t")))


def _may_pass(one: str, other: str) -> bool:
    return all(
        mine == theirs or not (mine + theirs).isascii() for mine, theirs in zip(one, other, strict=True)
    )


def _drawn(text: str) -> str:
    """What is seen of ``text``, with the parts of a character that stands for several told one by one."""
    if text.isascii():
        return text
    return "".join(
        each for each in unicodedata.normalize("NFKC", text) if each.isascii() or not _is_unseen(each)
    )


def _pieces(one: str, other: str) -> Iterator[tuple[str, str]]:
    """Both texts in pieces that are equal or have nothing in common at either end."""
    start, end = _shared(one, other)
    yield one[:start], other[:start]
    old, new = (_TOKEN.findall(text[start : len(text) - end]) for text in (one, other))
    counts = Counter(old)
    if sum(counts[token] for token in new) > _MOST_PAIRS:
        yield "".join(old), "".join(new)
    else:
        from difflib import SequenceMatcher

        for _, low, high, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            words, others = old[low:high], new[first:last]
            if len(words) != len(others):
                words, others = ["".join(words)], ["".join(others)]
            for word, another in zip(words, others, strict=True):
                yield from _trimmed(word, another)
    yield one[len(one) - end :], other[len(other) - end :]


def _trimmed(one: str, other: str) -> Iterator[tuple[str, str]]:
    start, end = _shared(one, other)
    yield one[:start], other[:start]
    yield one[start : len(one) - end], other[start : len(other) - end]
    yield one[len(one) - end :], other[len(other) - end :]


def _shared(one: str, other: str) -> tuple[int, int]:
    """How many characters both begin with, and how many of the rest both end with."""
    start = start_alike(one, other)
    return start, start_alike(one[start:][::-1], other[start:][::-1])


def _blanks(piece: str, before: str) -> str:
    # Where a line begins, a blank shows by itself.
    return visible(piece.replace(" ", _SPACE) if before.strip() else piece)


def _changed(piece: str) -> str:
    return "".join(
        "\t".join(map(visible, run.split("\t"))) if run.isascii() else _named_run(run)
        for run in _RUN.findall(piece)
    )


def _named_run(run: str) -> str:
    shown = ""
    for is_unseen, group in groupby(run, _is_unseen):
        text = "".join(group)
        bare = "" if is_unseen else text.lstrip("".join(filter(_is_mark, text)))
        shown += "".join(map(_named, text[: len(text) - len(bare)]))
        if bare:
            shown += f"{bare}<U+{ord(bare[0]):04X}{'…' if len(bare) > 1 else ''}>"
    return shown


def _around(text: str, margin: int | None) -> str:
    if margin is None or len(text) <= 2 * margin + 1:
        return text
    return f"{text[:margin]}…{text[-margin:]}"


def _unmixed(word: re.Match[str]) -> str:
    letters = word[0]
    foreign = [each for each in letters if not each.isascii()]
    if (
        not foreign
        or len(foreign) == len(letters.replace("-", ""))
        or any(ord(each) not in _ALIKE for each in foreign)
    ):
        return letters
    return "".join(each if each.isascii() else each + _named(each) for each in letters)


def _is_unseen(character: str) -> bool:
    return (
        unicodedata.category(character)[0] in "CZ"
        or "\ufe00" <= character <= "\ufe0f"
        or _HIDDEN.match(character) is not None
    )


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Me")


def _named(character: str) -> str:
    return f"<U+{ord(character):04X}>"


__all__ = ["apart", "rivals", "tabbed", "telling"]
