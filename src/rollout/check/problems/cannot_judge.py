"""A rollout cannot be judged, so nothing is proved.

A primitive may be unable to judge: it does not run on this machine yet, it breaks down, or the ground truth lacks what
it looks for. A rollout that it should have judged is an error then, neither passed nor failed. What is wrong with the
verifier itself is told once, at the primitive; what is wrong with a task, at that task; what this machine lacks, such
as pytest, once, at the first task that needs it, and a program that it lacks at the command that names it.

Before:

    primitives:
      - {name: refunded, type: ground_truth_match}
      - {name: kind, type: llm_judge, rubric: The agent is kind., model: openai/gpt-4o-mini}

After:

    primitives:
      - {name: refunded, type: ground_truth_match}
"""

from __future__ import annotations

import shlex

from rollout.check.panel_words import deed
from rollout.check.wording import closest, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL606"
SEVERITY = Severity.ERROR

_PROGRAMS = (
    "pytest",
    "python",
    "python3",
    "node",
    "npm",
    "npx",
    "pnpm",
    "yarn",
    "jest",
    "vitest",
    "make",
    "bash",
)


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    tasks = facts["tasks"]
    others = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
    named = f"{quoted(tasks[0])}{others}"
    if facts["charged_to"] == "verifier":
        part = f"The primitive {quoted(facts['primitive'])}" if facts["primitive"] else "The verifier"
        where = "any task" if len(tasks) == facts["of"] else named
        member = deed(facts["model"])
        whom = where if member is None else f"an agent that {member} in {where}"
        return (
            f"{part} cannot judge {whom}. {facts['failure']}",
            "Mend it, or take it out: a rollout that it cannot judge neither passes nor fails.",
        )
    if (missing := facts["missing"]) is not None:
        near = closest(missing, _PROGRAMS) if missing not in _PROGRAMS else None
        return (
            f"{named} cannot be judged. {facts['failure']}",
            suggestion(near, missing)
            if near is not None
            else "Correct the command, or install the program where the sandbox has it.",
        )
    model = facts["model"]
    if model == "prover":
        return (
            f"{named} cannot be proved. {facts['failure']}",
            "This is a fault in rollout; please report it with the task.",
        )
    if (member := deed(model)) is not None:
        return (
            f"An agent that {member} in {named} cannot be judged. {facts['failure']}",
            "“rollout prove --json” shows what it did.",
        )
    solutions = "The solutions of" if others else "The solution of"
    whose = solutions if model == "oracle" else "An agent that does nothing in"
    shown = f"rollout test {shlex.quote(facts['label'])} --model {model} --task {shlex.quote(tasks[0])}"
    return (
        f"{whose} {named} cannot be judged. {facts['failure']}",
        f"“{shown}” shows it all.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
