"""The adversarial panel: rollouts that do not do what a task asks for, to see that none of them passes.

What each member does is worked out from the right solution, so that it is the same in every run. Whether it is wrong is
known before it is judged: a run that turns out to do what is asked for, such as a harmless call made twice, is not
judged at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from rollout.engine import Failure, Outcome, Rollout, Verdict
from rollout.engine.asked import DEAF, HEARING, Asked, Shortfall, site_state
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.engine.toolbox import BadCallError
from rollout.engine.wrong_arguments import Pool
from rollout.engine.wrong_runs import WRONG_RUNS, KnownWrong, Play, WrongRun, bounded, sayings
from rollout.environment import Environment, Task
from rollout.language.canonical import canonical, dump
from rollout.models import Call, connect
from rollout.templates import Script

MOST_RUNS = 16
"""How many rollouts a member makes of one task."""

SECONDS = 300.0
"""How long one of them may take."""

MEMBERS = ("do-nothing", *WRONG_RUNS)
"""The members in the order in which they are told of; the first is ``noop``, and the proof's own."""

_OF_MANNER = frozenset(
    {"tool_was_called", "tool_not_called", "tool_call_count", "tool_order", "no_tool_errors"}
)

_COMPARING = frozenset({"sql_result", "calls_match"})

Result = Literal["caught", "passed", "not_wrong", "not_judged", "not_tried"]
"""What came of a member: all its wrong runs failed, or one passed; it found nothing to do that is wrong; a run could
not be judged; or it was not tried, since what has to be mended first would show in it as well."""


@dataclass(frozen=True, slots=True)
class Bout:
    """What came of one member at one task. ``runs`` is how many wrong runs were judged.

    Where one passed, ``verdict`` is its verdict, ``shortfall`` what it left undone, and ``steps`` what it did. Where
    one could not be judged, ``rollout`` and ``failure`` say why, and ``steps`` what it did.
    """

    member: str
    result: Result
    runs: int = 0
    verdict: Verdict | None = None
    shortfall: Shortfall | None = None
    steps: Script | None = None
    rollout: Rollout | None = None
    failure: Failure | None = None


class Panel:
    """The panel of one environment: made once, faces any number of tasks at once."""

    def __init__(
        self,
        environment: Environment,
        workflow: EnvironmentWorkflow,
        grader: VerifierGrader,
        scripts: Sequence[Script | None],
    ) -> None:
        self.environment = environment
        self.grader = grader
        self.workflow = copy(workflow)
        self.workflow.seconds = SECONDS
        longest = max((len(script) for script in scripts if script), default=0)
        self.workflow.max_tool_calls = max(
            workflow.max_tool_calls, 2 * longest + 1, len(workflow.toolbox.tools)
        )
        self.scripts = scripts
        self.pool = Pool(workflow.toolbox, scripts)
        self.player = connect("oracle")
        self.hears = any(primitive.type not in DEAF for primitive in grader.primitives)
        self._said = bounded(sayings(environment.tasks, scripts)) if self.hears else []

    async def face(self, task: Task, script: Script, right: Rollout) -> list[Bout]:
        """Sets all members but the first on one task, whose ``script`` led to the rollout ``right``."""
        asked = Asked(self.environment, task, right.trace)
        # What is written to a file twice is as it was, and which calls write is told by their name.
        acting = [] if self.environment.template == "code-editing" else await self._acting(task, script)
        play = Play(self.environment, task, script, acting, asked, self.pool, self._said, self.scripts)
        return [await self._try(member, play) for member in MEMBERS[1:]]

    async def _try(self, member: str, play: Play) -> Bout:
        bout = Bout(member, "not_wrong")
        seen = {canonical(play.script)}
        for run in islice(WRONG_RUNS[member](play), MOST_RUNS):
            if (written := canonical(run.script if isinstance(run, KnownWrong) else run)) in seen:
                continue
            seen.add(written)
            bout = _worse(bout, await self._run(member, run, play))
            if bout.result == "passed" and bout.shortfall is not None and bout.shortfall.certain:
                break
        return bout

    async def _run(self, member: str, run: WrongRun, play: Play) -> Bout:
        task, asked = play.task, play.asked
        script, known = run if isinstance(run, KnownWrong) else (run, None)
        trace = await self.workflow.run(replace(task, solution=script), self.player)
        if trace.failure is not None:
            verdict = Verdict(Outcome.ERROR, None, failure=trace.failure)
            return Bout(
                member, "not_judged", 0, rollout=Rollout(trace, verdict), failure=trace.failure, steps=script
            )
        shortfall = known
        if known is None or not known.certain:
            shortfall = asked.shortfall(trace, exactly=member == "repeats-call") or known
        if shortfall is None and member == "does-more":
            shortfall = asked.beyond(trace)
        if shortfall is None:
            return Bout(member, "not_wrong")
        if not trace.calls and not self.hears:
            # To these primitives it is the run that did nothing, which did not pass.
            return Bout(member, "caught", 1)
        verdict = await self.grader.grade(task, trace)
        if verdict.failure is not None:
            return Bout(
                member,
                "not_judged",
                1,
                rollout=Rollout(trace, verdict),
                failure=verdict.failure,
                steps=script,
            )
        if verdict.outcome is not Outcome.PASSED:
            return Bout(member, "caught", 1)
        if not shortfall.certain and known is None and self._is_known_right(verdict):
            return Bout(member, "not_wrong")
        if self._may_be_meant(member, verdict, task):
            shortfall = replace(shortfall, certain=False)
        return Bout(member, "passed", 1, verdict, shortfall, script)

    def _is_known_right(self, verdict: Verdict) -> bool:
        """Whether what the ground truth has several of, queries or calls, was compared with all of them and found."""
        return any(
            primitive.type in _COMPARING and not primitive.inverted and mark.weight and mark.value == 1.0
            for primitive, mark in zip(self.grader.primitives, verdict.marks, strict=True)
        )

    def _may_be_meant(self, member: str, verdict: Verdict, task: Task) -> bool:
        """Whether a run that does most things right may pass on purpose.

        It may where a primitive saw the fault and the threshold forgives it, and wrong arguments may where a primitive
        knows other right ones than the ground truth has.
        """
        if member not in ("wrong-arguments", "repeats-call", "does-more", "says-nearly"):
            return False
        if any(mark.weight and (mark.value or 0.0) < 1.0 for mark in verdict.marks):
            return not self._passes_by_manner
        counted = [primitive for primitive in self.grader.primitives if primitive.weight]
        if member == "does-more" and any(
            primitive.type == "state_match" or primitive.options.get("subset") for primitive in counted
        ):
            return True  # it looks at what it names, and at nothing else
        return member != "repeats-call" and any(
            _knows_others(primitive.type, primitive.options, task.hidden_ground_truth)
            for primitive in counted
        )

    @property
    def _passes_by_manner(self) -> bool:
        """Whether the threshold is reached by primitives alone that do not look at what came of a task."""
        weights = {True: 0.0, False: 0.0}
        for primitive in self.grader.primitives:
            weights[primitive.type in _OF_MANNER] += primitive.weight
        total = sum(weights.values())
        return total > 0 and weights[True] / total >= self.grader.threshold

    async def _acting(self, task: Task, script: Script) -> list[int]:
        """The steps of a solution that change the state, by playing them in a world of their own."""
        world = self.workflow.stage.open(task)
        found: list[int] = []
        try:
            before = site_state(self.environment.template, world.state())
            for index, step in enumerate(script):
                if "tool" not in step:
                    continue
                call = Call("", step["tool"], dump(step.get("args") or {}).decode("utf-8"))
                try:
                    args = self.workflow.toolbox.read(call)
                except BadCallError:
                    # It came to no tool when the oracle made it, either.
                    continue
                result = await world.call(step["tool"], args)
                after = site_state(self.environment.template, world.state())
                if after != before:
                    found.append(index)
                before = after
                if result.answer is not None:
                    break
        finally:
            await world.close()
        return found


def _worse(one: Bout, other: Bout) -> Bout:
    """The one of two results that matters more, with the runs of both."""
    order = ("not_wrong", "caught", "not_judged", "passed")

    def weight(bout: Bout) -> tuple[int, bool]:
        return order.index(bout.result), bout.shortfall is not None and bout.shortfall.certain

    worse = other if weight(other) > weight(one) else one
    return replace(worse, runs=one.runs + other.runs)


def _knows_others(kind: str, options: Mapping[str, Any], truth: Mapping[str, Any]) -> bool:
    """Whether a primitive may take other arguments for right than the ground truth's state, and be right in that."""
    calls = options.get("calls", truth.get(str(options.get("groundTruth"))))
    named = calls if isinstance(calls, list) else ()
    has_choices = any(isinstance(call, dict) and ("anyOf" in call or "optional" in call) for call in named)
    return has_choices or kind not in DEAF | HEARING


__all__ = ["MEMBERS", "MOST_RUNS", "SECONDS", "Bout", "Panel", "Result"]
