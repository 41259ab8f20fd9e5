"""A model elsewhere in a real environment, from the command line to the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from servers.chat import ChatServer, call, refuses, says
from typer.testing import CliRunner, Result

from rollout.cli import app

DESK = Path(__file__).parents[2] / "cases" / "models" / "desk"
KEY = "sk-desk-4f6c5cce93aa71"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    def invoke(server: ChatServer, *arguments: str) -> Result:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        return CliRunner().invoke(app, ["test", str(DESK), "--model", "openai/gpt-4o-mini", *arguments])

    return invoke


def test_a_model_that_does_its_work_passes(run: Any) -> None:
    refund = call("refund", '{"order_id":"O-1","amount":100}', "b")
    answers = [says(calls=[call("get_order", '{"order_id":"O-1"}', "a"), refund]), says("Refunded.")]
    with ChatServer(answers) as server:
        ended = run(server, "--task", "solved", "--json", "--temperature", "0.7")
        asked = server.asked
    assert ended.exit_code == 0
    rollout = json.loads(ended.stdout)["data"]["rollouts"][0]
    assert rollout["verdict"]["outcome"] == "passed"
    assert rollout["trace"]["usage"] == {
        "input_tokens": 200,
        "output_tokens": 20,
        "cost": None,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
        "unmetered": 0,
    }
    assert rollout["trace"]["sampling"]["temperature"] == 0.7
    assert [each["served_by"] for each in rollout["trace"]["exchanges"]] == ["served-model"] * 2
    assert [message["role"] for message in asked[1].body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert [message["tool_call_id"] for message in asked[1].body["messages"][2:]] == ["a", "b"]
    assert "hidden_ground_truth" not in json.dumps([each.body for each in asked])
    assert KEY not in ended.output


def test_calls_without_ids_are_answered_each_by_its_own(run: Any) -> None:
    calls = [call("get_order", '{"order_id":"O-1"}', None), call("nothing", "", None)]
    with ChatServer([says(calls=calls), says("Done.")]) as server:
        run(server, "--task", "solved", "--json")
        sent = server.asked[1].body["messages"]
    given = [each["id"] for each in sent[1]["tool_calls"]]
    assert len(set(given)) == 2
    assert [message["tool_call_id"] for message in sent[2:]] == given
    assert "There is no tool “nothing”" in sent[3]["content"]


def test_a_model_that_only_thinks_ends_in_silence_with_its_thoughts_on_the_trace(run: Any) -> None:
    with ChatServer([says(None, reasoning_content="Hm…", finish="length")]) as server:
        ended = run(server, "--task", "solved", "--json")
        assert len(server.asked) == 1
    trace = json.loads(ended.stdout)["data"]["rollouts"][0]["trace"]
    assert trace["ending"] == "silence"
    assert trace["exchanges"][0]["finish"] == "length"
    assert trace["messages"][-1]["reasoning_content"] == "Hm…"


def test_a_key_that_is_not_accepted_is_an_error_of_the_infrastructure_with_a_way_out(run: Any) -> None:
    with ChatServer([refuses(401, f"Incorrect API key provided: {KEY}")]) as server:
        ended = run(server, "--limit", "1")
    assert ended.exit_code == 1
    assert (
        "error, charged to the infrastructure: “openai” does not accept the key in OPENAI_API_KEY"
        in ended.stdout
    )
    assert "Set OPENAI_API_KEY to a key that it accepts." in ended.stdout
    assert "0 passed, 0 failed, 1 error" in ended.stdout
    assert KEY not in ended.output
