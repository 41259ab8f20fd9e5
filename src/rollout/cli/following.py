"""Follows a run of a platform with the same bar that a run on this machine has, and says what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from rollout.cli.output import Exit, note, show, visible, wants_color
from rollout.cli.progress import progress

if TYPE_CHECKING:
    from rollout.platform.client import Client

MOST_SHOWN = 10
"""How many rollouts that did not pass are shown one by one."""

_COLORS = {"passed": "32", "failed": "31", "error": "1;31", "unscored": "33"}


class Following:
    """One run that is followed to its end, or until somebody presses Ctrl-C. ``run`` is what was last heard of it."""

    def __init__(self, client: Client, run_id: str, total: int, done: int = 0) -> None:
        self.run: Mapping[str, Any] = {"id": run_id, "n": total, "progress": done}
        self.unpassed: list[Mapping[str, Any]] = []
        self.more_unpassed = 0
        self._client = client

    def follow(self) -> None:
        """Follows it; raises KeyboardInterrupt, and RolloutError."""
        shown = progress(self.run["n"], self.run["progress"])
        try:
            for event in self._client.watch_run(self.run["id"]):
                if event.kind == "rollout":
                    if event.data.get("outcome") != "passed":
                        if len(self.unpassed) < MOST_SHOWN:
                            self.unpassed.append(event.data)
                        else:
                            self.more_unpassed += 1
                    continue
                self.run = event.data
                shown.look(event.data)
        finally:
            shown.stop()

    def follow_and_tell(
        self, command: str, *, as_json: bool, to_go_on: str, heading: str | None = None
    ) -> None:
        """Follows it and ends the command with what came of it, as :func:`rollout.cli.commands.test` does.

        ``heading`` is shown before: from there on, whoever interrupts it is told how to go on.
        """
        from rollout.cli.output import show_json

        try:
            if heading is not None:
                show(heading)
            self.follow()
        except KeyboardInterrupt:
            self._interrupted(to_go_on)
            raise typer.Exit(Exit.INTERRUPTED) from None
        if as_json:
            show_json(command, {"endpoint": self._client.endpoint, "run": self.run})
        else:
            for each in self.unpassed:
                show(rollout_line(each))
            if self.more_unpassed:
                show(f"… {self.more_unpassed:,} more did not pass.")
            show_run(self.run)
        if not is_passed(self.run):
            raise typer.Exit(Exit.FINDINGS)

    def _interrupted(self, to_go_on: str) -> None:
        from shlex import quote

        # An endpoint may call a run what a shell would carry out.
        run_id, is_local = quote(visible(self.run["id"])), self._client.endpoint == "local"
        try:
            if is_local:
                self._look_when_it_has_stopped()
        finally:
            # Whoever does not wait for that is told as well.
            note(f"{self.run['progress']:,} of {self.run['n']:,} rollouts are done.")
            if is_local:
                note(f"They are kept. Go on with: rollout resume {run_id}{to_go_on}")
            else:
                note(
                    f"It goes on at {self._client.endpoint}. Look at it: rollout show {run_id}{to_go_on}\n"
                    f"End it: rollout cancel {run_id}{to_go_on}"
                )

    def _look_when_it_has_stopped(self) -> None:
        """What was under way when it was interrupted is kept too, and counts."""
        import warnings
        from contextlib import suppress

        from rollout.platform.client import Client
        from rollout.platform.errors import RolloutError

        # A run of this process ends with the last client that it has, which warns of what is told here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            self._client.close()
        with suppress(RolloutError), Client(endpoint="local") as client:
            self.run = client.get_run(self.run["id"])["run"]


def is_passed(run: Mapping[str, Any]) -> bool:
    """Whether all of a run was done, and every rollout passed."""
    if run.get("status") not in ("done", "completed"):
        return False
    passed = run.get("passed")
    return bool(run["n"] == passed if passed is not None else run.get("successRate") == 1)


def rollout_line(rollout: Mapping[str, Any]) -> str:
    """``failed  0e6b6a3c  Refund order O-1: its reason``."""
    outcome = outcome_of(rollout)
    painted = visible(outcome)
    if wants_color() and outcome in _COLORS:
        painted = f"\x1b[{_COLORS[outcome]}m{outcome}\x1b[0m"
    trial = f" (trial {rollout['trial']})" if rollout.get("trial") else ""
    reason = rollout.get("reason") or ""
    what = _shortened(str(rollout.get("instruction") or rollout.get("taskId") or ""), 60)
    number = visible(str(rollout.get("id", ""))[:8])
    return f"{painted} {number} {what}{trial}{f': {_shortened(reason, 100)}' if reason else ''}"


def outcome_of(rollout: Mapping[str, Any]) -> str:
    """How a rollout came out, also of an endpoint that says only whether it passed."""
    outcome = rollout.get("outcome")
    if isinstance(outcome, str):
        return outcome
    passed = rollout.get("passed")
    return "unscored" if passed is None else "passed" if passed else "failed"


def show_run(run: Mapping[str, Any]) -> None:
    """A run in a few lines: what it is of, how far it is, and how it came out."""
    from rollout.analysis.stats import wilson
    from rollout.analysis.words import percent, short

    name = f" “{visible(str(run['name']))}”" if run.get("name") else ""
    slug = visible(str(run.get("environmentSlug") or run.get("environmentName") or ""))
    told = f"{slug} with {visible(str(run['model']))}, {visible(str(run['status']))}"
    show(f"run {visible(str(run['id']))}{name}: {told}")
    if run.get("reason"):
        show(f"  {visible(str(run['reason']))}")
    done, total = int(run["progress"]), int(run["n"])
    counts = [run.get(key) for key in ("passed", "failed", "errors", "unscored")]
    if any(count is None for count in counts):
        rate = run.get("successRate")
        known = "" if rate is None else f", pass rate {percent(rate)}"
        show(f"  {done:,} of {total:,} done{known}")
        return
    passed, failed, errors, unscored = (int(count or 0) for count in counts)
    graded = passed + failed
    if (interval := wilson(passed, graded)) is not None:
        low, high = percent(interval.low), percent(interval.high)
        within = f" (95 % interval {low} to {high}, Wilson)" if graded > 3 else ""
        of_all = f"; {percent(passed / done)} of all {done:,}" if done else ""
        show(f"  pass rate {percent(passed / graded)} of {graded:,} graded{within}{of_all}")
    left = f", {total - done:,} not done" if total > done else ""
    more = f", {unscored} unscored" if unscored else ""
    show(f"  {passed:,} passed, {failed:,} failed, {errors:,} error{'s' * (errors != 1)}{more}{left}")
    usage = run.get("usage") or {}
    if usage.get("input_tokens") or usage.get("output_tokens"):
        cost = usage.get("cost")
        spent = f"${cost:,.4f}" if cost is not None else "cost not known"
        read, written = (int(usage.get(key) or 0) for key in ("input_tokens", "output_tokens"))
        show(f"  tokens: {short(read)} in, {short(written)} out; {spent}")


def _shortened(text: str, longest: int) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


__all__ = ["Following", "is_passed", "outcome_of", "rollout_line", "show_run"]
