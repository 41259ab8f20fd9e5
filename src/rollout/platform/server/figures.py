"""What a server counts since its start, in the text format of Prometheus, version 0.0.4.

No label has a value that whoever asks could choose, so there are only so many series.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from rollout.engine import Outcome
from rollout.models import Usage
from rollout.platform.store.runs import OVER, Status

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
BUCKETS = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0)
"""Up to how many seconds the first byte of an answer took."""

Purpose = Literal["rollouts", "writing"]
Labels = Mapping[str, str]


class Family(NamedTuple):
    """Series of one name, each with its labels and value. A histogram's have their own endings."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    words: str
    series: Iterable[tuple[str, Labels, float]]


class Figures:
    """The counts of one process."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._within: Counter[float] = Counter()
        self._seconds = 0.0
        self._wrong_keys: Counter[str] = Counter(header=0, form=0)
        self._runs: Counter[Status] = Counter(dict.fromkeys(OVER, 0))
        self._rollouts: Counter[Outcome] = Counter(dict.fromkeys(Outcome, 0))
        purposes: tuple[Purpose, ...] = ("rollouts", "writing")
        self._tokens: Counter[tuple[Purpose, str]] = Counter(
            {(purpose, way): 0 for purpose in purposes for way in ("input", "output")}
        )
        self._cost: dict[Purpose, float] = dict.fromkeys(purposes, 0.0)
        self._unpriced: Counter[Purpose] = Counter(dict.fromkeys(purposes, 0))

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered, the beginning of the answer after so many seconds."""
        self._requests[method if method in METHODS else "other", route, status] += 1
        self._within[next((bound for bound in BUCKETS if seconds <= bound), float("inf"))] += 1
        self._seconds += seconds

    def wrong_key(self, *, in_form: bool) -> None:
        """A key came that is none: in the form for signing in, or in a header."""
        self._wrong_keys["form" if in_form else "header"] += 1

    def run(self, status: Status) -> None:
        """A run has ended here."""
        self._runs[status] += 1

    def rollout(self, outcome: Outcome, usage: Usage) -> None:
        """A rollout was done here, and used that."""
        self._rollouts[outcome] += 1
        self.usage("rollouts", usage)

    def usage(self, purpose: Purpose, usage: Usage) -> None:
        """Models were asked."""
        self._tokens[purpose, "input"] += usage.input_tokens
        self._tokens[purpose, "output"] += usage.output_tokens
        if usage.cost is not None:
            self._cost[purpose] += usage.cost
        else:
            self._unpriced[purpose] += usage.tokens

    def families(self) -> Iterator[Family]:
        """All that was counted."""
        yield Family(
            "rollout_requests_total",
            "counter",
            "Requests that were answered, by their route.",
            [
                ("", {"method": method, "route": route, "status": str(status)}, value)
                for (method, route, status), value in sorted(self._requests.items())
            ],
        )
        yield Family(
            "rollout_request_seconds", "histogram", "Seconds until an answer began.", self._histogram()
        )
        yield _counter("rollout_wrong_keys_total", "Keys that are none.", "where", self._wrong_keys)
        yield _counter("rollout_runs_ended_total", "Runs that ended here.", "status", self._runs)
        yield _counter(
            "rollout_rollouts_finished_total", "Rollouts that were done here.", "outcome", self._rollouts
        )
        yield Family(
            "rollout_tokens_total",
            "counter",
            "Tokens that models were paid for.",
            [
                ("", {"purpose": purpose, "direction": way}, value)
                for (purpose, way), value in self._tokens.items()
            ],
        )
        yield _counter(
            "rollout_cost_dollars_total", "What was paid, where prices are known.", "purpose", self._cost
        )
        yield _counter(
            "rollout_unpriced_tokens_total", "Tokens whose price is not known.", "purpose", self._unpriced
        )

    def _histogram(self) -> Iterator[tuple[str, Labels, float]]:
        total = 0
        for bound in BUCKETS:
            total += self._within[bound]
            yield "_bucket", {"le": f"{bound:g}"}, total
        total += self._within[float("inf")]
        yield "_bucket", {"le": "+Inf"}, total
        yield "_sum", {}, self._seconds
        yield "_count", {}, total


def text(families: Iterable[Family]) -> str:
    """What Prometheus reads."""
    lines = []
    for family in families:
        lines += [f"# HELP {family.name} {family.words}", f"# TYPE {family.name} {family.kind}"]
        for ending, labels, value in family.series:
            told = ",".join(f'{name}="{_escaped(each)}"' for name, each in labels.items())
            lines.append(
                f"{family.name}{ending}{{{told}}} {value!r}" if told else f"{family.name}{ending} {value!r}"
            )
    return "\n".join(lines) + "\n"


def _counter(name: str, words: str, label: str, values: Mapping[Any, float]) -> Family:
    return Family(name, "counter", words, [("", {label: str(key)}, value) for key, value in values.items()])


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


__all__ = ["BUCKETS", "METHODS", "Family", "Figures", "Purpose", "text"]
