"""Every template's world against its cases: `tests/cases/templates/<template>/<case>/`.

`environment.yaml` is an environment like a user's own. `script.yaml` has the calls that are made in it, each with the
result or the error the agent has to be given, and the state they have to leave; where the last of them breaks the
rollout, ``failure`` says how, and whom that is charged to.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from rollout.check import check
from rollout.engine.loop import EnvironmentWorkflow
from rollout.environment import Environment
from rollout.models import Call, Request, Turn
from rollout.source import read_one

CASES = Path(__file__).parent / "cases" / "templates"
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/script.yaml"))


class Scripted:
    """Makes the calls of a script, one a turn, and then says that it is done."""

    id = "scripted"

    def __init__(self, script: list[dict[str, Any]]) -> None:
        self.script = script

    async def respond(self, request: Request) -> Turn:
        number = sum(message["role"] == "assistant" for message in request.messages)
        await asyncio.sleep(0)
        if number == len(self.script):
            return Turn("Done.")
        step = self.script[number]
        arguments = step.get("arguments", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        return Turn(calls=(Call(f"call_{number}", step["call"], text),))

    async def close(self) -> None: ...


def open_case(folder: Path) -> tuple[Environment, dict[str, Any]]:
    report = check(read_one(folder))
    assert [
        str(found.span) + found.message for found in report.diagnostics if found.severity == "error"
    ] == []
    script = yaml.safe_load((folder / "script.yaml").read_text(encoding="utf-8"))
    return report.environment(), script


def read_content(content: str) -> Any:
    """What a tool answered: a JSON value, or a text that is none, such as the view of a page."""
    try:
        return json.loads(content)
    except ValueError:
        return content


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_calls_come_to_what_the_script_says(folder: Path) -> None:
    environment, script = open_case(folder)
    workflow = EnvironmentWorkflow(environment, max_tool_calls=len(script["calls"]))
    trace = asyncio.run(workflow.run(environment.tasks[0], Scripted(script["calls"])))
    failure = None if trace.failure is None else asdict(trace.failure)
    assert failure == script.get("failure")
    answered = trace.calls if failure is None else trace.calls[:-1]
    assert len(trace.calls) == len(script["calls"])
    for call, step in zip(answered, script["calls"], strict=failure is None):
        said = {"error": call.error} if call.error else {"result": read_content(call.content)}
        wanted = {key: step[key] for key in ("error", "result") if key in step}
        # A step that says neither is only to be answered.
        assert said == wanted if wanted else call.error is None, step
        assert not call.error or json.loads(call.content) == said
    if "state" in script or failure is None:
        assert trace.final_state == script["state"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_rollouts_share_nothing_with_each_other(folder: Path) -> None:
    environment, script = open_case(folder)
    workflow = EnvironmentWorkflow(environment, max_tool_calls=len(script["calls"]))

    async def many(count: int) -> list[Any]:
        model, task = Scripted(script["calls"]), environment.tasks[0]
        return await asyncio.gather(*(workflow.run(task, model) for _ in range(count)))

    (alone,) = asyncio.run(many(1))
    assert all(trace == alone for trace in asyncio.run(many(8)))
