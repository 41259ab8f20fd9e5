"""Whether a run gets through a bad day of its provider: all rollouts end, none counts wrong, and it does not take long.

    .venv/bin/python benchmarks/faults.py --server path/to/model_server.py

The server is started once faultless, and twice with 5 % of 429, 5 % of 500, 2 % that are never answered and 2 % that
are malformed: once the body is cut in half, once the arguments of a call are no JSON (a last turn has no call, so its
body is cut there too). It has to take `--p429 --p500 --p-timeout --p-malformed --malformed --timeout-hold`, to play the
refund of `engine.py`, and to tell of `faults` by kind at `/stats`. `rollout test` runs as a user starts it.

What is held:

- Each (task, trial) is in the journal once, and the command's own summary counts what the journal has.
- A rollout passed if and only if its refund was made. It may have failed only where the model's own call of the refund
  could not be read, which is the model's fault and was answered as such; where a body was cut, a turn was hung up or
  turned away, nobody has failed. An error may be charged to nobody but infrastructure and the model.
- What the server says it did is on the traces: so many retries for each kind, so many calls that could not be read.
- Wall: less than 1.6 times the faultless run, plus the backoffs.

How the backoffs are counted: a wait before a repetition is drawn evenly from 0 to a ceiling that doubles, and a trace
keeps each repetition but not the wait. So it is the mean of that draw, by the engine's own formula, for each repetition
on the traces; their sum is off by two or three in a hundred (the standard deviation is printed). So many workers wait
at the same time, so the sum is divided by the concurrency. That is too little where a turn near the end meets fault
after fault, and a single worker waits for the longest backoffs; the longest rollout is printed. The time until an
unanswered request is given up is no backoff, and counts against us in full: it is `--turn-timeout`, ten latencies here.
With `--defaults` it is that of the command, five minutes, and what is unanswered is asked for a second time.
The start of each run is taken off.

The verdict of the wall is the stricter reading, (faulty − backoffs) ÷ faultless; the other, faulty ÷ (faultless +
backoffs), is printed beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.request import urlopen

from model_call import TURNS, serving
from refunds import REFUND, Run, run
from rollout.models import Patience
from rollout.models._waiting import wait_before

LIMIT = 1.6
"""How many times the faultless run, without the backoffs."""

RATES = {"p429": 0.05, "p500": 0.05, "p-timeout": 0.02, "p-malformed": 0.02}

KINDS = {
    "429": ("answered 429",),
    "500": ("answered 500",),
    "timeout": ("did not answer within", "was asked for it a further time"),
    "malformed": ("is no chat completion",),
}
"""Words of the sentences that a trace keeps of a failed attempt, by the name that the server has for what it did."""


@dataclass(slots=True)
class Account:
    """What the lines of a journal say, added up. ``waits`` are expected seconds, ``spread`` their variance,
    ``longest`` the seconds of the longest rollout."""

    outcomes: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    done_again: int = 0
    waits: float = 0.0
    spread: float = 0.0
    longest: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """Takes in a line."""
        trace, verdict = line["trace"], line["verdict"]
        self.outcomes[verdict["outcome"]] += 1
        self.longest = max(self.longest, trace["seconds"])
        self.unread += sum(call["args"] is None for call in trace["calls"])
        self.done_again += len(line["earlier"])
        for exchange in trace["exchanges"]:
            for attempt, sentence in enumerate(exchange["retries"], start=2):
                kinds = [kind for kind, words in KINDS.items() if any(each in sentence for each in words)]
                self.retries.update(kinds or [sentence])
                if "further time" in sentence:
                    continue  # it was not waited before that
                wait = wait_before(attempt, Patience(), _Middle())
                self.waits += wait
                # An even draw from 0 to twice its mean.
                self.spread += (2 * wait) ** 2 / 12
        if (fault := _fault(trace, verdict)) is not None:
            self.wrong.append(f"trial {trace['trial']}: {fault}")


class _Middle(Random):
    """Draws the mean."""

    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


def _fault(trace: dict[str, Any], verdict: dict[str, Any]) -> str | None:
    """What is wrong with an outcome, judged by the trace alone; None when it is right."""
    outcome, refunds = verdict["outcome"], trace["final_state"].get("refunds")
    if outcome == "passed":
        return None if refunds == [REFUND] else f"it passed with {refunds}"
    if outcome == "failed":
        if refunds:
            return f"it failed with {refunds}"
        # The model's second call is that of the refund.
        unread = len(trace["calls"]) > 1 and trace["calls"][1]["args"] is None
        return None if unread else "it failed, and no fault was the model's"
    charged_to = (verdict["failure"] or {}).get("charged_to")
    return None if charged_to in ("infrastructure", "model") else f"it is {outcome}, charged to {charged_to}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--server", type=Path, required=True, help="a program that serves chat completions")
    parser.add_argument("--latency-ms", type=float, default=50.0)
    parser.add_argument("--turn-timeout", type=float, help="seconds; ten latencies unless given")
    parser.add_argument("--defaults", action="store_true", help="leave --turn-timeout as a user does")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--rollouts", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    options.turn_timeout = options.turn_timeout or options.latency_ms / 100
    print(
        f"concurrency {options.concurrency}, {options.rollouts} rollouts of {TURNS} turns, {options.latency_ms:g} ms "
        f"latency, {'as it comes' if options.defaults else f'given up after {options.turn_timeout:g} s'}"
    )
    faultless = min(play(options) for _ in range(options.repeat))
    ideal = options.rollouts * TURNS * options.latency_ms / 1000 / options.concurrency
    print(f"  faultless: {faultless:.2f} s, {faultless / ideal:.2f}× the ideal\n", flush=True)
    held = [compare(options, malformed, faultless) for malformed in ("body", "args")]
    if not all(held):
        sys.exit(1)


def compare(options: argparse.Namespace, malformed: str, faultless: float) -> bool:
    tries = [Try.of(options, malformed) for _ in range(options.repeat)]
    best = min(tries, key=lambda each: each.wall - each.backoffs(options))
    print(f"malformed {malformed}")
    for each in tries:
        each.show()
    backoffs = best.backoffs(options)
    hung = best.account.retries["timeout"] * options.turn_timeout / options.concurrency
    off = best.account.spread**0.5 / options.concurrency
    print(
        f"  faulty {best.wall:.2f} s; by worker: {backoffs:.2f} s (± {off:.2f}) of backoffs, {hung:.2f} s until "
        f"unanswered requests were given up"
    )
    print(
        f"  faulty ÷ (faultless + backoffs): {best.wall / (faultless + backoffs):.2f}×; "
        f"without what was unanswered: {(best.wall - backoffs - hung) / faultless:.2f}×"
    )
    ratio = (best.wall - backoffs) / faultless
    fast = ratio <= LIMIT
    print(
        f"  {'pass' if fast else 'FAIL'}  (faulty − backoffs) ÷ faultless: {ratio:.2f}× (at most {LIMIT:g}×)"
    )
    right = all(each.is_right() for each in tries)
    print(f"  {'pass' if right else 'FAIL'}  all rollouts ended, none counts wrong\n", flush=True)
    return fast and right


@dataclass(frozen=True, slots=True)
class Try:
    """A faulty run: its wall without its start, what its journal and its summary say, and what the server did."""

    wall: float
    account: Account
    whole: Run
    dealt: dict[str, int]

    @classmethod
    def of(cls, options: argparse.Namespace, malformed: str) -> Try:
        rates = [word for name, rate in RATES.items() for word in (f"--{name}", str(rate))]
        with serving(
            options.server,
            options.latency_ms,
            *rates,
            "--malformed",
            malformed,
            # Longer than anybody waits: it does not answer.
            "--timeout-hold",
            str(options.turn_timeout * 1000),
        ) as address:
            account = Account()
            whole = run(
                address,
                options.rollouts,
                options.concurrency,
                *([] if options.defaults else ["--turn-timeout", str(options.turn_timeout)]),
                statuses=(0, 1),
                look=account.add,
            )
            with urlopen(f"{address.removesuffix('/v1')}/stats") as answer:
                dealt = json.load(answer)["faults"]
        return cls(whole.wall - start(options), account, whole, dealt)

    def backoffs(self, options: argparse.Namespace) -> float:
        """Seconds that each worker is expected to have waited before repetitions."""
        concurrency: int = options.concurrency
        return self.account.waits / concurrency

    def is_right(self) -> bool:
        """Whether nothing counts wrong, and journal, summary and server say the same."""
        return not self.account.wrong and not self.differences()

    def differences(self) -> list[str]:
        account = self.account
        found = []
        if dict(account.outcomes) != {name: number for name, number in self.whole.outcomes.items() if number}:
            found.append(
                f"the summary counts {self.whole.outcomes}, and the journal has {dict(account.outcomes)}"
            )
        if account.done_again:
            # What was asked in an attempt that is given up is on no trace.
            return found
        met = Counter(account.retries)
        met["malformed"] += account.unread
        # On a busy machine an answer may come too late without the server's doing.
        late = {"timeout": max(0, met["timeout"] - self.dealt["timeout"])}
        for kind in self.dealt.keys() | met.keys():
            told = self.dealt.get(kind, 0)
            if met[kind] - late.get(kind, 0) != told:
                found.append(f"{kind}: the server did it {told} times, and the traces say {met[kind]}")
        return found

    def show(self) -> None:
        account = self.account
        outcomes = ", ".join(f"{number} {name}" for name, number in sorted(account.outcomes.items()))
        retries = ", ".join(f"{number} × {kind}" for kind, number in sorted(account.retries.items()))
        print(
            f"  {outcomes}; asked again: {retries}; calls that could not be read: {account.unread}; "
            f"the longest rollout: {account.longest:.1f} s"
        )
        if account.done_again:
            print(f"  {account.done_again} attempts at a rollout were given up and done again")
        for sentence in (account.wrong + self.differences())[:5]:
            print(f"  WRONG: {sentence}")


def play(options: argparse.Namespace) -> float:
    """Wall seconds of a faultless run, all of whose rollouts have to pass, without its start."""
    with serving(options.server, options.latency_ms) as address:
        timeout = str(options.turn_timeout)
        whole = run(address, options.rollouts, options.concurrency, "--turn-timeout", timeout)
    return whole.wall - start(options)


def start(options: argparse.Namespace) -> float:
    """Seconds until a run asks for its first turn, and from its last to its end."""
    latency: float = options.latency_ms / 1000
    with serving(options.server, options.latency_ms) as address:
        return run(address, 1, options.concurrency).wall - TURNS * latency


if __name__ == "__main__":
    main()
