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


def telling(text: str) -> str:
    """``text`` as one line in which nothing moves the cursor and what hides is named: ``<U+200B>``."""
    return visible(text) if text.isascii() else _HIDDEN.sub(lambda found: _named(found[0]), visible(text))


def revealed(text: str) -> str:
    """``text`` as :func:`telling` shows it, with all that another text may lack and look the same named."""
    text = _LOST_BLANK.sub(_SPACE, text)
    return "".join(_named(each) if _may_hide(each) else visible(each) for each in text)


def look(text: str) -> str:
    """What is seen of ``text``: two texts of one look are told apart only when they are :func:`revealed`."""
    seen = unicodedata.normalize("NFC", "".join(map(_seen, text)))
    return _BLANKS.sub(" ", seen).rstrip()


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


__all__ = ["look", "revealed", "telling"]
