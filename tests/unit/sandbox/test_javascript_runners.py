"""Jest and Vitest as they are installed: what passes, what does not, and what code under test cannot make of them.

`tests/data/javascript/RUNNER.yaml` has the files and the command that all its cases start from. A case has further
files of the environment's (null for one that is not there), what the agent writes, and the verdict with its reason.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rollout.engine import Trace
from rollout.engine.judge import VerifierGrader
from rollout.environment import Environment, Task
from rollout.models import Usage
from rollout.sandbox import launch
from rollout.sandbox.toolchain import search_path

DATA = Path(__file__).parents[2] / "data" / "javascript"
PROGRAMS = Path(sys.prefix) / "javascript" / "node_modules" / ".bin"


def cases() -> list[Any]:
    found = []
    for path in sorted(DATA.glob("*.yaml")):
        common = yaml.safe_load(path.read_text(encoding="utf-8"))
        for case in common.pop("cases"):
            files = {**common["files"], **case.get("files", {})}
            whole = {
                **common,
                **case,
                "files": {name: text for name, text in files.items() if text is not None},
            }
            found.append(pytest.param(whole, id=f"{path.stem}-{case['about']}".replace(" ", "-")))
    return found


@pytest.fixture(autouse=True)
def runners(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = [name for name in ("jest", "vitest") if not (PROGRAMS / name).exists()]
    if missing:
        pytest.fail(f"{' and '.join(missing)} are not installed; scripts/prepare installs them where npm is.")
    monkeypatch.setattr(launch, "search_path", lambda: f"{PROGRAMS}:{search_path()}")


@pytest.mark.parametrize("case", cases())
def test_a_run_is_judged_by_what_the_runner_found(case: dict[str, Any]) -> None:
    primitive = {"name": "it", "type": "command_passes", "command": case["command"]}
    primitive |= {key: case[key] for key in ("required", "allow") if key in case}
    environment = Environment("case", "Case", "code-editing", config={}, verifier={"primitives": [primitive]})
    trace = Trace(
        environment="case",
        template="code-editing",
        task="case",
        model="none",
        messages=(),
        calls=(),
        initial_state={"files": case["files"]},
        final_state={"files": {**case["files"], **case["writes"]}},
        final_output="",
        ending="answer",
        usage=Usage(),
    )
    verdict = asyncio.run(VerifierGrader(environment).grade(Task("Do it.", {}), trace))
    reason = verdict.marks[0].reason if verdict.marks else verdict.failure and verdict.failure.sentence
    assert (verdict.outcome.value, reason) == (case["outcome"], case["reason"])
