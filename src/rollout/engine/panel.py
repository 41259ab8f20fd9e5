"""The adversarial panel: rollouts that do not do what a task asks for, to see that none of them passes.

What each member does is worked out from the right solution, so that it is the same in every run. Whether it is wrong is
known before it is judged: a run that turns out to do what is asked for, such as a harmless call made twice, is not
judged at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from rollout.engine import Failure, Outcome, Rollout, Verdict
from rollout.engine.asked import Asked, Shortfall, site_state
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.engine.wrong_arguments import Pool
from rollout.environment import Environment, Task
from rollout.language.canonical import canonical, dump
from rollout.models import Call, connect
from rollout.templates import Script

MOST_RUNS = 16
"""How many rollouts a member makes of one task."""

SECONDS = 300.0
"""How long one of them may take."""

MEMBERS = (
    "do-nothing",
    "says-truth",
    "says-everything",
    "every-tool",
    "repeats-call",
    "wrong-arguments",
)
"""The members in the order in which they are told of; the first is ``noop``, and the proof's own."""

_MOST_SAID = 100_000
_DEAF = frozenset(
    {
        "state_match",
        "ground_truth_match",
        "state_unchanged",
        "files_match",
        "command_passes",
        "page_reached",
        "element_value",
        "tool_was_called",
        "tool_not_called",
        "tool_called_with",
        "calls_match",
        "tool_call_count",
        "tool_order",
        "no_tool_errors",
    }
)
"""The primitives that do not listen to what is said."""

_HEARING = frozenset(
    {"contains_terms", "output_equals", "output_matches", "output_json", "answer_match", "sql_result"}
)
"""Those that do. All others are code of the author's, which may know more than the ground truth says."""

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


@dataclass(frozen=True, slots=True)
class Play:
    """What the members work with: a task, its solution, which steps of it act, and what other tasks have."""

    environment: Environment
    task: Task
    script: Script
    acting: Sequence[int]
    asked: Asked
    pool: Pool
    sayings: Sequence[str]

    def right(self, tool: str) -> list[dict[str, Any]]:
        """The arguments that the solution calls a tool with."""
        return [step.get("args") or {} for step in self.script if step.get("tool") == tool]


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
        self.workflow.max_tool_calls = max(workflow.max_tool_calls, longest + 1, len(workflow.toolbox.tools))
        self.pool = Pool(workflow.toolbox, scripts)
        self.player = connect("oracle")
        self.hears = any(primitive.type not in _DEAF for primitive in grader.primitives)
        self.knows_others = any(
            primitive.weight and _knows_others(primitive.type, primitive.options)
            for primitive in grader.primitives
        )
        self._said = _bounded(_sayings(environment.tasks, scripts))

    async def face(self, task: Task, script: Script, right: Rollout) -> list[Bout]:
        """Sets all members but the first on one task, whose ``script`` led to the rollout ``right``."""
        asked = Asked(self.environment, task, right.trace)
        acting = await self._acting(task, script)
        play = Play(self.environment, task, script, acting, asked, self.pool, self._said)
        return [await self._try(member, play) for member in MEMBERS[1:]]

    async def _try(self, member: str, play: Play) -> Bout:
        bout = Bout(member, "not_wrong")
        seen = {canonical(play.script)}
        for script in islice(_MEMBERS[member](play), MOST_RUNS):
            if (written := canonical(script)) in seen:
                continue
            seen.add(written)
            bout = _worse(bout, await self._run(member, script, play))
            if bout.result == "passed" and bout.shortfall is not None and bout.shortfall.certain:
                break
        return bout

    async def _run(self, member: str, script: Script, play: Play) -> Bout:
        task, asked = play.task, play.asked
        trace = await self.workflow.run(replace(task, solution=script), self.player)
        if trace.failure is not None:
            verdict = Verdict(Outcome.ERROR, None, failure=trace.failure)
            return Bout(
                member, "not_judged", 0, rollout=Rollout(trace, verdict), failure=trace.failure, steps=script
            )
        shortfall = asked.shortfall(trace, exactly=member == "repeats-call")
        if shortfall is None and member == "says-everything":
            shortfall = Shortfall(False, "The right answer is one of all that it says.")
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
        if self._may_be_meant(member, verdict):
            shortfall = replace(shortfall, certain=False)
        return Bout(member, "passed", 1, verdict, shortfall, script)

    def _may_be_meant(self, member: str, verdict: Verdict) -> bool:
        """Whether a run that does most things right may pass on purpose.

        It may where a primitive saw the fault and the threshold forgives it, and wrong arguments may where a primitive
        knows other right ones than the ground truth has.
        """
        if member not in ("wrong-arguments", "repeats-call"):
            return False
        if any(mark.weight and (mark.value or 0.0) < 1.0 for mark in verdict.marks):
            return True
        return member == "wrong-arguments" and self.knows_others

    async def _acting(self, task: Task, script: Script) -> list[int]:
        """The steps of a solution that change the state, by playing them in a world of their own."""
        world = self.workflow.stage.open(task)
        found: list[int] = []
        try:
            before = site_state(self.environment.template, world.state())
            for index, step in enumerate(script):
                if "tool" not in step or step["tool"] == "run_command":
                    continue
                args = self.workflow.toolbox.read(
                    Call("", step["tool"], dump(step.get("args") or {}).decode())
                )
                result = await world.call(step["tool"], args)
                after = site_state(self.environment.template, world.state())
                if after != before:
                    found.append(index)
                before = after
                if result.answer is not None:
                    break
        except Exception:
            # A call that does not come to its tool, or breaks it, is the oracle's to tell of.
            return found
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


def _sayings(tasks: Sequence[Task], scripts: Sequence[Script | None]) -> Iterator[str]:
    """What the tasks' ground truths and answers say."""
    for task, script in zip(tasks, scripts, strict=True):
        if task.hidden_ground_truth:
            yield dump(task.hidden_ground_truth).decode("utf-8")
        for step in script or ():
            args = step.get("args")
            said = step.get("answer", args.get("answer") if isinstance(args, dict) else None)
            if said is not None:
                yield said if isinstance(said, str) else dump(said).decode("utf-8")


def _bounded(sayings: Iterator[str]) -> list[str]:
    size, kept = 0, []
    for text in sayings:
        size += len(text)
        if size > _MOST_SAID:
            break
        kept.append(text)
    return list(dict.fromkeys(kept))


def _knows_others(kind: str, options: Mapping[str, Any]) -> bool:
    """Whether a primitive may take other arguments for right than the ground truth has, and be right in that."""
    calls = options.get("calls")
    named = calls if isinstance(calls, list) else ()
    has_choices = any(isinstance(call, dict) and ("anyOf" in call or "optional" in call) for call in named)
    return has_choices or kind not in _DEAF | _HEARING


def _say_truth(play: Play) -> Iterator[Script]:
    if said := play.asked.right.final_output.strip():
        yield [{"answer": said}]
    if play.task.hidden_ground_truth:
        yield [{"answer": dump(play.task.hidden_ground_truth).decode("utf-8")}]


def _say_everything(play: Play) -> Iterator[Script]:
    # Where more than words is asked for, saying the truth alone is the stronger run.
    if not play.asked.is_for_words:
        return
    own = list(_sayings([play.task], [play.script]))
    if others := [text for text in play.sayings if text not in own]:
        half = len(others) // 2
        steps = [step for step in play.script if "tool" in step and not _hands_in(step)]
        yield [*steps, {"answer": "\n".join([*others[:half], *own, *others[half:]])}]


def _call_every_tool(play: Play) -> Iterator[Script]:
    calls = [
        {"tool": tool.name, "args": play.pool.any(tool, play.right(tool.name), play.task.key)}
        for tool in play.pool.toolbox.tools
    ]
    yield [*calls, {"answer": "Done."}]


def _repeat_call(play: Play) -> Iterator[Script]:
    if play.environment.template == "code-editing":
        return  # what is written twice is as it was
    for index in play.acting:
        yield [*play.script[: index + 1], play.script[index], *play.script[index + 1 :]]


def _call_wrongly(play: Play) -> Iterator[Script]:
    script, pool = play.script, play.pool
    if play.environment.template == "code-editing":
        yield from _write_wrongly(play)
        return
    for index in play.acting:
        tool = script[index]["tool"]
        if (wrong := pool.wrong(tool, play.right(tool), play.task.key)) is not None:
            yield _with(script, index, {"tool": tool, "args": wrong})
    if play.asked.names_state:
        for index in play.acting:
            tool = script[index]["tool"]
            for wrong in pool.one_wrong(tool, script[index].get("args") or {}):
                yield _with(script, index, {"tool": tool, "args": wrong})
    if play.asked.is_question and script:
        yield from _answer_wrongly(play)
    elif not play.acting:
        wrongly = [
            {"tool": tool, "args": wrong}
            for tool in (step["tool"] for step in script if "tool" in step)
            if (wrong := pool.wrong(tool, play.right(tool), play.task.key)) is not None
        ]
        if wrongly:
            yield [*wrongly, {"answer": "Done."}]


def _answer_wrongly(play: Play) -> Iterator[Script]:
    last = play.script[-1]
    if "answer" in last:
        yield _with(play.script, len(play.script) - 1, {"answer": play.pool.wrong_answer(last["answer"])})
    elif _hands_in(last):
        args = play.pool.wrong(last["tool"], play.right(last["tool"]), play.task.key)
        if args is not None:
            yield _with(play.script, len(play.script) - 1, {"tool": last["tool"], "args": args})


def _write_wrongly(play: Play) -> Iterator[Script]:
    """Writes the files that the ground truth names wrongly; then all others that the solution writes, empty."""
    named = play.asked.named_files
    steps = [step for step in play.script if step.get("tool") != "run_command"]
    writes = [step for step in steps if step.get("tool") == "write_file"]
    ours = [step for step in writes if step["args"].get("path") in named]
    others = [step for step in writes if step["args"].get("path") not in named]
    for wrong, content in ((ours, "wrong\n"), (others, "")):
        if wrong:
            yield [
                {"tool": "write_file", "args": {**step["args"], "content": content}}
                if any(step is each for each in wrong)
                else step
                for step in steps
            ]


def _hands_in(step: dict[str, Any]) -> bool:
    return step.get("tool") == "submit_answer"


def _with(script: Script, index: int, step: dict[str, Any]) -> Script:
    return [*script[:index], step, *script[index + 1 :]]


_MEMBERS: dict[str, Callable[[Play], Iterator[Script]]] = {
    "says-truth": _say_truth,
    "says-everything": _say_everything,
    "every-tool": _call_every_tool,
    "repeats-call": _repeat_call,
    "wrong-arguments": _call_wrongly,
}


__all__ = ["MEMBERS", "MOST_RUNS", "SECONDS", "Bout", "Panel", "Result"]
