"""Where the LIMIT of a gold query cuts through rows that are as good as each other, so that others are right too."""

from __future__ import annotations

from itertools import accumulate

from rollout.database.golds import evaluate
from rollout.database.image import Image
from rollout.database.rows import Row, row_key
from rollout.database.statements import Token, statements, tokens


def left_out_by_chance(image: Image, query: str) -> Row | None:
    """A row that the outermost LIMIT of a query leaves out, and that is as good as one it takes; None if there is none.

    Without an ORDER BY all rows are as good as each other, with one those that are equal on all it orders by.
    """
    [*_, (start, end)] = [(0, 0), *statements(query)]
    statement = query[start:end]
    found = tokens(statement)
    at = next(
        (number for number, token in enumerate(found) if token.depth == 0 and token.word == "LIMIT"), None
    )
    skipped = None if at is None else _skipped([token for token in found[at + 1 :] if token.text != ";"])
    if at is None or skipped is None or len(list(statements(query))) > 1:
        return None
    taken, whole = evaluate(image, statement), evaluate(image, statement[: found[at].start])
    if taken.failed is not None or whole.failed is not None or not taken.rows:
        return None
    last = skipped + len(taken.rows)
    ends = list(accumulate(whole.groups if whole.groups is not None else (len(whole.rows),)))
    for cut in (skipped, last):
        begin = max((end for end in ends if end <= cut), default=0)
        end = next((end for end in ends if end > cut), cut)
        if begin < cut < end:
            inside = whole.rows[max(begin, skipped) : min(end, last)]
            outside = [*whole.rows[begin:skipped], *whole.rows[last:end]]
            known = {row_key(row) for row in inside}
            other = next((row for row in outside if row_key(row) not in known), None)
            if other is not None:
                return other
    return None


def _skipped(terms: list[Token]) -> int | None:
    """How many rows come before those that are taken: “5 OFFSET 2” and “2, 5” skip two. None where it is worked out."""
    written = [token.text if token.kind == "number" else token.word or token.text for token in terms]
    match written:
        case [count] if count.isdigit():
            return 0
        case [count, "OFFSET", offset] if count.isdigit() and offset.isdigit():
            return int(offset)
        case [offset, ",", count] if count.isdigit() and offset.isdigit():
            return int(offset)
    return None


__all__ = ["left_out_by_chance"]
