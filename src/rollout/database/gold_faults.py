"""Finds where in a gold query its fault is."""

from __future__ import annotations

from rollout.database.faults import fault_in
from rollout.database.image import BYTES, ROWS, Image
from rollout.database.running import run_strictly
from rollout.database.sandbox import SEVERAL, Access
from rollout.database.statements import statements


def fault_in_gold(image: Image, query: str, reason: str) -> tuple[int, int] | None:
    """From where to where in ``query`` is what it ``failed`` for; None where it is not found, or is all of it."""
    if reason == SEVERAL:
        return next((part for number, part in enumerate(statements(query)) if number), None)
    if image.spec.read_only:
        with image.lent() as sandbox:
            return fault_in(query, query, reason, sandbox)
    sandbox = image.copy(Access.WRITE)
    try:
        for start, end in statements(query):
            part = query[start:end]
            failed = run_strictly(sandbox, part, most_rows=ROWS, most_bytes=BYTES).failed
            if failed is not None:
                found = fault_in(part, part, failed, sandbox) or (0, end - start)
                return start + found[0], start + found[1]
    finally:
        sandbox.close()
    return None


__all__ = ["fault_in_gold"]
