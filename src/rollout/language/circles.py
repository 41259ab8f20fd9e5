"""Names that need one another: which of them need themselves in the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def circles(needs: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str | None]]:
    """Every name that needs itself, in the order of ``needs``, and by way of which other name, if of any.

    ``needs`` says of each name which others it needs at once; what is no key of it needs nothing.
    """
    in_question = _not_settled(needs)
    for name in in_question:
        reached: dict[str, None] = {}
        waiting = list(needs[name])
        for each in waiting:
            if each in in_question and each not in reached:
                reached[each] = None
                waiting += needs[each]
        if name in reached:
            yield name, next((each for each in reached if each != name and name in needs[each]), None)


def _not_settled(needs: Mapping[str, Sequence[str]]) -> dict[str, None]:
    """The names that are left when all that need nothing are taken away, again and again, in their order."""
    left = {name: {each for each in below if each in needs} for name, below in needs.items()}
    needed_by: dict[str, list[str]] = {name: [] for name in needs}
    for name, below in left.items():
        for each in below:
            needed_by[each].append(name)
    settled = [name for name, below in left.items() if not below]
    for name in settled:
        for above in needed_by[name]:
            left[above].discard(name)
            if not left[above]:
                settled.append(above)
    return dict.fromkeys(name for name, below in left.items() if below)


__all__ = ["circles"]
