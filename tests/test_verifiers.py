"""Every primitive against its cases: `tests/cases/verifiers/<type>/{passes,fails,errors,unscored}.yaml`, where
many are alike also in a file beside, such as `fails-forged.yaml`.

A case has the primitive as in a verifier, what was `asked` where that matters, what the agent left (`start`, `state`,
`output`, `calls`, `truth`), and the reason that has to be given; `value` is one between 0 and 1. Files of the
environment's folder are in `files/` beside. In `absent.yaml` what is to be judged is not there, so that neither the
primitive passes nor its opposite.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from rollout.engine import Outcome, Trace, Verdict
from rollout.engine.judge import VerifierGrader
from rollout.environment import Environment, Task
from rollout.family import members
from rollout.models import Usage
from rollout.verifiers import ToolCall

CASES = Path(__file__).parent / "cases" / "verifiers"
JUDGED_BY_MODELS = ("llm_judge",)  # its passes and fails are in tests/unit/verifiers/test_llm_judge.py
OUTCOMES = {
    "passes": Outcome.PASSED,
    "fails": Outcome.FAILED,
    "absent": Outcome.FAILED,
    "errors": Outcome.ERROR,
    "unscored": Outcome.UNSCORED,
}
ALWAYS_THERE = {
    "llm_judge": "what a model reads is the rollout, and the rollout is there",
    "no_tool_errors": "the calls are there, also where none was made",
    "page_reached": "some page is open at the end",
    "state_unchanged": "what is neither at the start nor at the end is an error, and else it is one change or none",
    "python": "the function gets the rollout, and the rollout is there",
    "tool_call_count": "the calls are there, also where none was made",
    "tool_called_with": "the calls are there, also where none was made",
    "tool_not_called": "the calls are there, also where none was made",
    "tool_order": "the calls are there, also where none was made",
    "tool_was_called": "the calls are there, also where none was made",
}
"""The primitives whose subject cannot be missing, and why; every other has an `absent.yaml`."""


def cases(files: str = "*") -> list[Any]:
    found = []
    for path in sorted(CASES.glob(f"*/{files}.yaml")):
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            name = f"{path.parent.name}-{path.stem}-{case['about']}".replace(" ", "-")
            found.append(
                pytest.param(OUTCOMES[path.stem.partition("-")[0]], case, path.parent / "files", id=name)
            )
    return found


def left_by_agent(case: dict[str, Any]) -> Trace:
    calls = tuple(
        ToolCall(
            id=f"call_{number}",
            tool=call["tool"],
            arguments="",
            args=call.get("args", {}),
            content="",
            error=call.get("error"),
            ran=call.get("ran", True),
        )
        for number, call in enumerate(case.get("calls", ()))
    )
    return Trace(
        environment="case",
        template=case.get("template", "workflow"),
        task="case",
        model="none",
        messages=(),
        calls=calls,
        initial_state=case.get("start", {}),
        final_state=case.get("state", case.get("start", {})),
        final_output=case.get("output", ""),
        ending="answer",
        usage=Usage(),
    )


def grade(case: dict[str, Any], folder: Path, **options: Any) -> Verdict:
    verifier = case.get("verifier", {"primitives": [{"name": "it", **case.get("primitive", {}), **options}]})
    if "database" in case:
        environment = Environment("case", "Case", "sql", **case["database"], verifier=verifier)
    else:
        environment = Environment(
            "case", "Case", "workflow", config=case.get("config", {"tools": []}), verifier=verifier
        )
    environment.folder = folder if folder.is_dir() else None
    task = Task(case.get("asked", "Do it."), case.get("truth", {}))
    return asyncio.run(VerifierGrader(environment).grade(task, left_by_agent(case)))


@pytest.mark.parametrize(("outcome", "case", "folder"), cases())
def test_a_primitive_judges_its_cases(outcome: Outcome, case: dict[str, Any], folder: Path) -> None:
    verdict = grade(case, folder)
    reasons = [mark.reason for mark in verdict.marks]
    if verdict.failure is not None and not reasons:
        reasons = [verdict.failure.sentence]
    assert (verdict.outcome, reasons[0]) == (outcome, case["reason"])
    if "value" in case:
        assert verdict.score == case["value"]
    if outcome in (Outcome.ERROR, Outcome.UNSCORED):
        assert verdict.score is None
        assert verdict.failure is not None and verdict.failure.charged_to == case.get(
            "charged_to", "verifier"
        )


@pytest.mark.parametrize(("outcome", "case", "folder"), cases("absent"))
def test_not_makes_no_pass_of_what_is_not_there(outcome: Outcome, case: dict[str, Any], folder: Path) -> None:
    verdict = grade(case, folder, **{"not": True})
    assert verdict.outcome is outcome
    assert verdict.marks[0].reason == f"“not” makes no pass of what is not there: {case['reason']}"


@pytest.mark.parametrize("primitive", members("rollout.verifiers"))
def test_a_primitive_says_what_is_when_what_it_judges_is_not_there(primitive: str) -> None:
    assert (CASES / primitive / "absent.yaml").is_file() is (primitive not in ALWAYS_THERE)


@pytest.mark.parametrize("primitive", members("rollout.verifiers"))
def test_a_primitive_has_passes_fails_and_near_misses(primitive: str) -> None:
    folder = CASES / primitive
    assert (folder / "passes.yaml").is_file() or primitive in JUDGED_BY_MODELS
    assert (folder / "fails.yaml").is_file() or primitive in JUDGED_BY_MODELS
