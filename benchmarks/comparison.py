#!/usr/bin/env python3
"""Intervals of a comparison beside SciPy's: how often they hold the true difference, and how long they take."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from measure import Limit, ratio, report, time_in_turn
from rollout.analysis.bootstrap import mean_interval
from rollout.analysis.inference import sign_flip

OURS, DRAWN = "rollout, 1,000 tasks", "scipy.stats.bootstrap, 10,000 draws of 1,000 tasks"
FLIPPED, THEIR_FLIPPED = "rollout, 20,000 flips of 1,000 tasks", "scipy.stats.permutation_test, 20,000 flips"
Floats = NDArray[np.float64]
Ends = tuple[float, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    least = coverage(arguments.simulations)
    values = np.random.default_rng(5).uniform(-1, 1, 1_000)
    measured = time_in_turn(
        {
            OURS: lambda: mean_interval(values.tolist(), -1, 1),
            DRAWN: lambda: stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile"),
            FLIPPED: lambda: sign_flip(values.tolist()),
            THEIR_FLIPPED: lambda: stats.permutation_test(
                (values,), _mean, permutation_type="samples", n_resamples=20_000, vectorized=True
            ),
        },
        repeat=arguments.repeat,
    )
    limits = [
        Limit("least share of intervals that hold the true difference", least, 92, " %", at_least=True),
        Limit("interval / SciPy's", ratio(measured, OURS, DRAWN), 2),
        Limit("flips / SciPy's", ratio(measured, FLIPPED, THEIR_FLIPPED), 2),
    ]
    report("Comparison of two runs", measured, limits)


def _mean(sample: Floats, axis: int) -> Floats:
    return np.asarray(np.mean(sample, axis=axis))


def coverage(simulations: int) -> float:
    """Prints how often each interval holds the true difference, in percent; the least of ours."""
    ways: dict[str, Callable[[Floats], Ends]] = {"rollout": _ours, "bootstrap": _percentile, "t": _t}
    print(f"{'runs':<12} {'tasks':>5} {'trials':>6}  " + "  ".join(f"{name:>9}" for name in ways))
    least = 100.0
    draw = np.random.default_rng(1)
    for tasks in (3, 5, 10, 30, 100):
        for trials in (1, 4):
            for name, rates in RUNS.items():
                truth = float(np.subtract(*rates(draw, 400_000)[::-1]).mean())
                held = dict.fromkeys(ways, 0)
                for _ in range(simulations):
                    before, after = (draw.binomial(trials, each) / trials for each in rates(draw, tasks))
                    for way, interval in ways.items():
                        low, high = interval(after - before)
                        held[way] += low - 1e-9 <= truth <= high + 1e-9
                shares = {way: 100 * amount / simulations for way, amount in held.items()}
                least = min(least, shares["rollout"])
                told = "  ".join(f"{share:>7.1f} %" for share in shares.values())
                print(f"{name:<12} {tasks:>5} {trials:>6}  {told}", flush=True)
    return least


def _alike(draw: np.random.Generator, tasks: int) -> tuple[Floats, Floats]:
    rates = draw.beta(0.5, 0.5, tasks)
    return rates, rates


def _better(draw: np.random.Generator, tasks: int) -> tuple[Floats, Floats]:
    rates = draw.beta(1, 1, tasks)
    return rates, np.minimum(1, rates + 0.15)


def _high(draw: np.random.Generator, tasks: int) -> tuple[Floats, Floats]:
    return np.full(tasks, 0.97), np.full(tasks, 0.93)


RUNS = {"alike": _alike, "better": _better, "97 to 93 %": _high}


def _ours(values: Floats) -> Ends:
    interval = mean_interval(np.round(values, 12).tolist(), -1, 1)
    assert interval is not None
    return interval.low, interval.high


def _percentile(values: Floats) -> Ends:
    means = np.random.default_rng(0).choice(values, (2_000, len(values))).mean(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def _t(values: Floats) -> Ends:
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


if __name__ == "__main__":
    sys.exit(main())
