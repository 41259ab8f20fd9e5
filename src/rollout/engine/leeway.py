"""How far from a right number a wrong one is wrong, whatever a verifier tolerates.

A verifier that tolerates all there is could call no run wrong if it were measured by its own tolerance. So a tolerance
counts up to a share of the number that is expected: a tenth without doubt, and more than half never. Between whole
numbers half a step always counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

Leeway = Callable[[float], float]

_DOUBTFUL: Final = 0.1
_CERTAIN: Final = 0.5
_HALF_A_STEP: Final = 0.5


def tolerance_of(primitives: Sequence[Mapping[str, Any]]) -> float:
    """The largest tolerance of a verifier's primitives, 0 where none has one."""
    return max((_tolerance(each) for each in primitives), default=0.0)


def leeways(tolerance: float) -> tuple[Leeway, ...]:
    """What counts as right of what is tolerated, from the widest measure to the one that leaves no doubt."""
    if tolerance <= 0:
        return (lambda expected: 0.0,)
    return _bounded(tolerance, _CERTAIN), _bounded(tolerance, _DOUBTFUL)


def _bounded(tolerance: float, share: float) -> Leeway:
    def leeway(expected: float) -> float:
        is_whole = isinstance(expected, int) or expected.is_integer()
        try:
            return min(tolerance, max(share * abs(expected), _HALF_A_STEP if is_whole else 0.0))
        except OverflowError:
            return tolerance

    return leeway


def _tolerance(primitive: Mapping[str, Any]) -> float:
    tolerance = primitive.get("tolerance", 0)
    is_number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    return float(tolerance) if is_number else 0.0


__all__ = ["Leeway", "leeways", "tolerance_of"]
