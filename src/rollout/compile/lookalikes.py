"""Shows a reviewer what does not show: two texts that differ are never shown as the same."""

from __future__ import annotations

import re
import unicodedata

from rollout.diagnostics._visible import visible

# Blanks other than the space, and what takes no room at all, but for the joiners and variation selectors that many
# scripts and pictures are written with: those are only named where two texts would look the same.
_HIDDEN = re.compile(
    "[\u00a0\u00ad\u034f\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u202f\u205f-\u2064\u206a-\u206f"
    "\u3000\u3164\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_UNSEEN_CATEGORIES = ("Cf", "Mn", "Me", "Zs")
_BLANKS = re.compile("[ \t]+")
_LOST_BLANK = re.compile(r" $|(?<=\S ) ")
_SPACE = "␠"
_WORD = re.compile("[\\w\u2010\u2011\u2212-]+")
# Letters of Cyrillic and Greek that most fonts draw as Latin ones, hyphens, and the wide forms of ASCII.
_ALIKE = {
    **str.maketrans("АВЕЅІЈКМНОРСТХҮаеѕіјорсухһԁԛԝӏЁЇёї", "ABESIJKMHOPCTXYaesijopcyxhdqwlËÏëï"),
    **str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧνο", "ABEZHIKMNOPTYXvo"),
    **str.maketrans("\u2010\u2011\u2212", "---"),
    **{0xFEE0 + each: each for each in range(0x21, 0x7F)},
}


def telling(text: str) -> str:
    """``text`` as one line in which nothing moves the cursor and what hides is named: ``<U+200B>``.

    So is a letter of another script that passes for one of ASCII, in a word that is otherwise ASCII.
    """
    if text.isascii():
        return visible(text)
    return _HIDDEN.sub(lambda found: _named(found[0]), _WORD.sub(_unmixed, visible(text)))


def revealed(text: str) -> str:
    """``text`` as :func:`telling` shows it, with all that another text may lack and look the same named."""
    text = _LOST_BLANK.sub(_SPACE, text)
    return "".join(_named(each) if _may_hide(each) else visible(each) for each in text)


def look(text: str) -> str:
    """What is seen of ``text``: two texts of one look are told apart only when they are :func:`revealed`."""
    seen = unicodedata.normalize("NFC", "".join(map(_seen, text)))
    return _BLANKS.sub(" ", seen).rstrip()


def apart(one: str, other: str) -> tuple[str, str] | None:
    """Both texts with what parts them named, where they look the same; None where anybody can tell them apart.

    Of letters that other scripts have too, only those are named that are not the same in both.
    """
    if look(one) == look(other):
        return revealed(one), revealed(other)
    if drawn(one) != drawn(other):
        return None
    if len(one) != len(other):
        return _with_letters(one, None), _with_letters(other, None)
    return _with_letters(one, other), _with_letters(other, one)


def drawn(text: str) -> str:
    """The look of ``text`` with letters that are drawn alike taken for one: texts that differ in it look different."""
    return look(text).translate(_ALIKE)


def _unmixed(word: re.Match[str]) -> str:
    letters = word[0]
    foreign = [each for each in letters if not each.isascii()]
    if (
        not foreign
        or len(foreign) == len(letters.replace("-", ""))
        or any(ord(each) not in _ALIKE for each in foreign)
    ):
        return letters
    return "".join(each if each.isascii() else _named(each) for each in letters)


def _with_letters(text: str, other: str | None) -> str:
    shown = _LOST_BLANK.sub(_SPACE, text)
    return "".join(
        _named(each)
        if _may_hide(each) or (ord(each) in _ALIKE and (other is None or other[at] != each))
        else visible(each)
        for at, each in enumerate(shown)
    )


def _may_hide(character: str) -> bool:
    if character.isascii():
        return False
    is_unseen = unicodedata.category(character) in _UNSEEN_CATEGORIES or _HIDDEN.match(character) is not None
    return is_unseen or unicodedata.normalize("NFC", character) != character


def _seen(character: str) -> str:
    if character.isascii():
        return character
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    is_drawn = category != "Cf" and not _HIDDEN.match(character) and not "\ufe00" <= character <= "\ufe0f"
    return character if is_drawn else ""


def _named(character: str) -> str:
    return f"<U+{ord(character):04X}>"


__all__ = ["apart", "drawn", "look", "revealed", "telling"]
