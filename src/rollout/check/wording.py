"""How rules put names into sentences: quoted and bounded, listed, and with did-you-mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from re import sub
from unicodedata import normalize

from rollout.language.compare import unseen_difference

_SHOWN = 8
_COMPARED = 32
_ALIKE = 500


def quoted(text: str, limit: int = 60) -> str:
    """``text`` in “…”, on one line and cut after ``limit`` code points, so that the sentence stays readable."""
    line = " ".join(text.split()) if text.strip() else text.replace("\n", "⏎")
    return f"“{line if len(line) <= limit else line[: limit - 1].rstrip() + '…'}”"


def listed(names: Collection[str], last: str = "and") -> str:
    """``names`` as “a”, “b” and “c”; past eight, the number of those left out."""
    shown = [quoted(name) for name in list(names)[:_SHOWN]]
    if len(names) > _SHOWN:
        return f"{', '.join(shown)} {last} {len(names) - _SHOWN} more"
    return f" {last} ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def closest(name: str, known: Collection[str]) -> str | None:
    """The one of ``known`` that ``name`` most likely was meant to be, or None when none comes near."""
    from difflib import get_close_matches

    names = tuple(known)
    if (same := _folded(names).get(_fold(name))) is not None:
        return same
    near = [each for each in _likely(name, names) if abs(len(each) - len(name)) <= 12]
    near = [each for each in near if not _is_alike_by_a_word(name, each)]
    # Short words come near each other by chance: “from” and “room” share three letters of four.
    found = get_close_matches(name[:200], near, n=1, cutoff=0.6 if len(name) > 4 else 0.8)
    return found[0] if found else next((each for each in near if _is_swapped(name, each)), None)


def _likely(name: str, known: tuple[str, ...]) -> Sequence[str]:
    """Those of many names that share most pairs of letters with ``name``; comparing it with each takes too long."""
    if len(known) <= _COMPARED:
        return [each for each in known if len(each) <= 200]
    index = _by_pairs(known)
    shared = Counter(each for pair in _pairs(name[:200]) for each in index.get(pair, ()))
    return [known[each] for each, _ in shared.most_common(_COMPARED)]


@lru_cache(maxsize=8)
def _folded(known: tuple[str, ...]) -> dict[str, str]:
    return {_fold(each): each for each in known}


@lru_cache(maxsize=8)
def _by_pairs(known: tuple[str, ...]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, name in enumerate(known[:20_000]):
        if len(name) <= 200:
            for pair in _pairs(name):
                found.setdefault(pair, []).append(number)
    # What so many have in common tells none of them from another.
    return {pair: numbers for pair, numbers in found.items() if len(numbers) <= _ALIKE}


def _pairs(name: str) -> list[str]:
    framed = f" {name} "
    return list(dict.fromkeys(framed[at : at + 2] for at in range(len(framed) - 1)))


def suggestion(near: str, name: str, written: str | None = None) -> str:
    """“Did you mean …?”: ``near`` for ``name``, or as it is ``written``; with code points where both look the same."""
    apart = unseen_difference(near, name)
    return f"Did you mean {quoted(written or near)}?" + (
        f" This only looks the same: {apart}." if apart else ""
    )


def did_you_mean(name: str, known: Collection[str], *, kind: str) -> str | None:
    """The way out for an unknown ``name``: the likely one, else what there is (``kind``: “tools”), else None."""
    if (near := closest(name, known)) is not None:
        return suggestion(near, name)
    return f"The {kind} are {listed(known)}." if len(known) > 1 else None


def sketch(json: str, path: str) -> str:
    """A member or an object in JSON, such as ``"a": [{"b": "…"}]``, as a file like that at ``path`` would have it."""
    suffix = path.rpartition(".")[2].lower()
    if suffix in ("yaml", "yml"):
        return sub(r'"(\w+)":', r"\1:", json)
    if suffix == "toml":
        return sub(r'"(\w+)":', r"\1 =", json)
    return sub(r'^"(\w+)": ', r"\1=", json) if suffix == "py" else json


def score(value: float, *, below: float = 1.0) -> str:
    """A score as a person writes it: two places, and as many more as tell it from ``below`` where it is less."""
    text = f"{value:.2f}"
    for places in range(3, 17):
        if value >= below or float(text) < below:
            break
        text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".")


def _is_swapped(name: str, meant: str) -> bool:
    """Whether two neighbouring characters have changed places: “tets” for “test”."""
    differ = [at for at, (one, other) in enumerate(zip(name, meant, strict=False)) if one != other]
    return (
        len(name) == len(meant) > 2
        and len(differ) == 2
        and differ[1] == differ[0] + 1
        and name[differ[0]] == meant[differ[1]]
        and name[differ[1]] == meant[differ[0]]
    )


def _is_alike_by_a_word(name: str, other: str) -> bool:
    """Whether two names share their first word and nothing else: “get_order” and “get_fare” are not each other."""
    from difflib import SequenceMatcher

    (first, _, rest), (begins, _, ends) = name.partition("_"), other.partition("_")
    if first != begins or not rest or not ends or _is_swapped(name, other):
        return False
    return SequenceMatcher(None, rest[:200], ends[:200]).ratio() < 0.6


def _fold(name: str) -> str:
    return "".join(each for each in normalize("NFC", name).casefold() if each not in "_-. ")


__all__ = ["closest", "did_you_mean", "listed", "quoted", "score", "sketch", "suggestion"]
