"""What the members of the panel do: wrong runs, as steps to play, worked out from a task's right solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rollout.engine.asked import Asked, Shortfall
from rollout.engine.forgeries import forgeries
from rollout.engine.near_misses import near_misses
from rollout.engine.wrong_arguments import Pool, longer
from rollout.environment import Environment, Task
from rollout.language.canonical import dump
from rollout.templates import Script

_MOST_SAID = 100_000


@dataclass(frozen=True, slots=True)
class Play:
    """What the members work with: a task, its solution, which steps of it act, and what other tasks have.

    ``sayings`` are the ground truths and answers of all tasks, where anybody listens; ``scripts`` all their solutions.
    """

    environment: Environment
    task: Task
    script: Script
    acting: Sequence[int]
    asked: Asked
    pool: Pool
    sayings: Sequence[str]
    scripts: Sequence[Script | None] = ()

    def right(self, tool: str) -> list[dict[str, Any]]:
        """The arguments that the solution calls a tool with."""
        called = [step.get("args") or {} for step in self.script if step.get("tool") == tool]
        return [args for args in called if isinstance(args, dict)]


class KnownWrong(NamedTuple):
    """A run of which it is known by how it was made what is wrong with it."""

    script: Script
    shortfall: Shortfall


WrongRun = Script | KnownWrong


def sayings(tasks: Sequence[Task], scripts: Sequence[Script | None]) -> Iterator[str]:
    """What the tasks' ground truths and answers say."""
    for task, script in zip(tasks, scripts, strict=True):
        if task.hidden_ground_truth:
            yield dump(task.hidden_ground_truth).decode("utf-8")
        for step in script or ():
            if not isinstance(step, dict):
                continue  # the oracle tells of it
            args = step.get("args")
            said = step.get("answer", args.get("answer") if isinstance(args, dict) else None)
            if said is not None:
                yield said if isinstance(said, str) else dump(said).decode("utf-8")


def bounded(said: Iterator[str]) -> list[str]:
    """The first of these texts, each once, up to 100,000 characters together."""
    size, kept = 0, []
    for text in said:
        size += len(text)
        if size > _MOST_SAID:
            break
        kept.append(text)
    return list(dict.fromkeys(kept))


def _say_truth(play: Play) -> Iterator[WrongRun]:
    if said := play.asked.right.final_output.strip():
        yield [{"answer": said}]
    if play.task.hidden_ground_truth:
        yield [{"answer": dump(play.task.hidden_ground_truth).decode("utf-8")}]


def _say_everything(play: Play) -> Iterator[WrongRun]:
    # Where more than words is asked for, saying the truth alone is the stronger run.
    if not play.asked.is_for_words or not play.sayings:
        return
    own = list(sayings([play.task], [play.script]))
    if others := [text for text in play.sayings if text not in own]:
        half = len(others) // 2
        steps = [step for step in play.script if "tool" in step and not _hands_in(step)]
        # Its last line is no answer, since a number that stands there alone would be taken for the one that is meant.
        said = "\n".join([*others[:half], *own, *others[half:], "Take your pick."])
        among = Shortfall(False, "The right answer is one of all that it says.")
        yield KnownWrong([*steps, {"answer": said}], among)


def _say_nearly(play: Play) -> Iterator[WrongRun]:
    if not play.asked.is_question or not play.sayings or not play.script:
        return
    last = play.script[-1]
    said = last.get("answer") if "answer" in last else (last.get("args") or {}).get("answer")
    for answer, certain in play.asked.given:
        for miss in near_misses(said, answer, play.pool.answers):
            step = {"answer": miss.said}
            if _hands_in(last):
                step = {"tool": last["tool"], "args": step}
            steps = play.script[:-1] if "answer" in last or _hands_in(last) else play.script
            yield KnownWrong([*steps, step], Shortfall(certain and miss.is_plain, miss.why))


def _do_more(play: Play) -> Iterator[WrongRun]:
    """The whole solution, and something else besides: what another task asks for, or one more call of a tool."""
    if play.environment.template == "code-editing":
        return  # a file more is nobody's harm
    script = play.script
    ends = bool(script) and ("answer" in script[-1] or _hands_in(script[-1]))
    steps, end = (script[:-1], script[-1:]) if ends else (script, [])
    for other in play.scripts:
        more = [
            step for step in other or () if isinstance(step, dict) and "tool" in step and not _hands_in(step)
        ]
        if more and any(step not in steps for step in more):
            yield [*steps, *more, *end]
            break
    for tool in play.pool.toolbox.tools:
        if tool.name != "submit_answer":
            args = play.pool.any(tool, play.right(tool.name), play.task.key)
            yield [*steps, {"tool": tool.name, "args": args}, *end]


def _call_every_tool(play: Play) -> Iterator[WrongRun]:
    calls = [
        {"tool": tool.name, "args": play.pool.any(tool, play.right(tool.name), play.task.key)}
        for tool in play.pool.toolbox.tools
    ]
    yield [*calls, {"answer": "Done."}]


def _repeat_call(play: Play) -> Iterator[WrongRun]:
    if play.environment.template == "code-editing":
        return  # what is written twice is as it was
    for index in play.acting:
        yield [*play.script[: index + 1], play.script[index], *play.script[index + 1 :]]


def _call_wrongly(play: Play) -> Iterator[WrongRun]:
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
            args = script[index].get("args") or {}
            for wrong in pool.one_wrong(tool, args, tolerance=play.asked.tolerance):
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


def _answer_wrongly(play: Play) -> Iterator[WrongRun]:
    last = play.script[-1]
    if "answer" in last:
        tolerance = play.asked.tolerance
        near = _near(last["answer"], play.asked.answers)
        made_up = [
            wrong
            for answer in (last["answer"], *play.asked.answers)
            for wrong in play.pool.wrong_answers(answer, tolerance=tolerance)
        ]
        for wrong in (*made_up, *near):
            yield _with(play.script, len(play.script) - 1, {"answer": wrong})
    elif _hands_in(last):
        args = play.pool.wrong(last["tool"], play.right(last["tool"]), play.task.key)
        if args is not None:
            yield _with(play.script, len(play.script) - 1, {"tool": last["tool"], "args": args})
        for answer, _ in play.asked.given:
            for wrong in play.pool.wrong_answers(answer, tolerance=play.asked.tolerance):
                step = {"tool": last["tool"], "args": {"answer": wrong}}
                yield _with(play.script, len(play.script) - 1, step)


def _near(said: Any, answers: Sequence[Any]) -> Iterator[str]:
    """What was said, with a number in it that ends like the right one: “It is 711.” for “It is 11.”"""
    for answer in answers:
        is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
        if is_number and isinstance(said, str) and str(answer) in said:
            yield said.replace(str(answer), str(longer(answer)))


def _write_wrongly(play: Play) -> Iterator[WrongRun]:
    """Writes the files that the ground truth names wrongly; then all others that the solution writes, empty."""
    named = play.asked.named_files
    steps = [step for step in play.script if step.get("tool") != "run_command"]
    writes = [step for step in steps if step.get("tool") == "write_file" and _names_file(step)]
    ours = [step for step in writes if step["args"]["path"] in named]
    others = [step for step in writes if step["args"]["path"] not in named]
    for wrong, content in ((ours, "wrong\n"), (others, "")):
        if wrong:
            yield [
                {"tool": "write_file", "args": {**step["args"], "content": content}}
                if any(step is each for each in wrong)
                else step
                for step in steps
            ]


def _forge_tests(play: Play) -> Iterator[WrongRun]:
    if play.environment.template != "code-editing":
        return
    start = play.asked.right.initial_state["files"]
    for forgery in forgeries(play.environment, play.script, start, play.asked.named_files):
        yield KnownWrong(forgery.script, Shortfall(True, forgery.why))


def _names_file(step: dict[str, Any]) -> bool:
    # A call that no tool takes may be part of a solution, and is left as it is.
    args = step.get("args")
    return isinstance(args, dict) and isinstance(args.get("path"), str)


def _hands_in(step: dict[str, Any]) -> bool:
    return step.get("tool") == "submit_answer"


def _with(script: Script, index: int, step: dict[str, Any]) -> Script:
    return [*script[:index], step, *script[index + 1 :]]


WRONG_RUNS: dict[str, Callable[[Play], Iterator[WrongRun]]] = {
    "says-truth": _say_truth,
    "says-everything": _say_everything,
    "every-tool": _call_every_tool,
    "repeats-call": _repeat_call,
    "wrong-arguments": _call_wrongly,
    "says-nearly": _say_nearly,
    "does-more": _do_more,
    "forges-tests": _forge_tests,
}


__all__ = ["WRONG_RUNS", "KnownWrong", "Play", "WrongRun", "bounded", "sayings"]
