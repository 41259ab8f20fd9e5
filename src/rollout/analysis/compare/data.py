"""A comparison as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rollout.analysis.compare import Comparison
from rollout.analysis.compare.gate import regressions
from rollout.analysis.compare.words import METHOD, headline


def data(comparison: Comparison) -> dict[str, Any]:
    """All of it. Rates and their differences are from 0 to 1; ``regressions`` is what a build would fail on."""
    told = asdict(comparison)
    for each, of in zip(told["slices"], comparison.slices, strict=True):
        each["verdict"] = str(of.contrast.direction)
    for side in ("baseline", "trained"):
        told[side]["graded"] = getattr(comparison, side).graded
    if comparison.margin is not None:
        told["margin"]["is_shown"] = comparison.margin.is_shown
    return {
        "verdict": str(comparison.direction),
        "headline": headline(comparison),
        "regressions": list(regressions(comparison)),
        **told,
        "method": " ".join(METHOD),
    }


__all__ = ["data"]
