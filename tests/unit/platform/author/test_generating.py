"""A model writes an environment: it is told what is wrong, and only what is checked and proved comes out."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from servers.chat import ChatServer, Connection, call, refuses, says
from servers.rollout_server import Platform

from rollout import Client, RolloutError
from rollout.platform.local import LocalTransport

MODEL = "openai/gpt-4o"

DESK: dict[str, Any] = {
    "description": "A desk that refunds orders.",
    "config": {
        "tools": [
            {
                "name": "refund",
                "kind": "action",
                "description": "Pay an order back.",
                "stateArray": "refunds",
                "paramsSchema": {"order_id": "string", "amount": "number"},
            }
        ],
        "initialMutableState": {"refunds": []},
    },
    "tasks": [
        {
            "id": "whole",
            "instruction": "Refund order O-1 for $100.",
            "hiddenGroundTruth": {"refunds": [{"order_id": "O-1", "amount": 100}]},
            "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}, {"answer": "Done."}],
        }
    ],
    "verifier": {"primitives": [{"name": "right state", "type": "ground_truth_match"}]},
}


def desk(**other: Any) -> dict[str, Any]:
    return {**copy.deepcopy(DESK), **other}


def with_task(**other: Any) -> dict[str, Any]:
    return desk(tasks=[{**DESK["tasks"][0], **other}])


def judged_by(*primitives: dict[str, Any]) -> dict[str, Any]:
    return desk(verifier={"primitives": list(primitives)})


BROKEN = desk(config={**DESK["config"], "tools": [{**DESK["config"]["tools"][0], "kind": "acton"}]})
UNPROVEN = judged_by({"name": "one refund", "type": "state_match", "expected": {"refunds.length": 1}})


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("ROLLOUT_DATA", str(tmp_path / "data"))
    (tmp_path / "rollout.toml").write_text('[prices."openai/gpt-4o"]\ninput = 2.5\noutput = 10\n')
    monkeypatch.chdir(tmp_path)
    with ChatServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.address)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-desk-4f6c5cce93aa71")
        yield server


@pytest.fixture
def client(model: ChatServer) -> Iterator[Client]:
    with Client(endpoint="local") as made:
        yield made


def wrote(value: Any) -> Any:
    return says(json.dumps(value))


def feedback(model: ChatServer, number: int) -> str:
    return str(model.asked[number].body["messages"][-1]["content"])


def refused(client: Client, template: str = "workflow") -> RolloutError:
    with pytest.raises(RolloutError) as caught:
        client.generate_environment("A refund desk.", template, MODEL)
    return caught.value


def test_what_is_found_is_told_until_it_holds(client: Client, model: ChatServer) -> None:
    model.play(wrote(BROKEN), wrote(UNPROVEN), wrote(DESK))
    answer = client.generate_environment("A refund desk.", "workflow", MODEL)
    assert answer["config"] == DESK["config"]
    assert answer["tasks"] == DESK["tasks"]
    assert answer["verifier"] == DESK["verifier"]
    assert answer["_warnings"] == []
    assert answer["_usage"] == {
        "rounds": 3,
        "inputTokens": 300,
        "outputTokens": 30,
        "cost": pytest.approx(0.00105),
    }
    assert len(model.asked) == 3
    first = model.asked[0].body["messages"]
    assert [each["role"] for each in first] == ["system", "user"]
    assert "A refund desk." in first[1]["content"]
    assert "ground_truth_match" in first[0]["content"]
    assert "“acton”" in feedback(model, 1)
    assert "config.yaml:" in feedback(model, 1)
    assert "false-pass" in feedback(model, 2)
    # It is one conversation, in which it finds what it wrote.
    assert len(model.asked[2].body["messages"]) == 6
    assert json.loads(model.asked[2].body["messages"][4]["content"]) == UNPROVEN


def test_what_never_holds_is_refused_and_shown_as_that(client: Client, model: ChatServer) -> None:
    model.play(wrote(UNPROVEN))
    error = refused(client)
    assert error.status == 422
    assert error.message == f"“{MODEL}” was asked 3 times, and what it wrote does not hold."
    assert len(model.asked) == 3
    assert error.body["rejected"]["verifier"] == UNPROVEN["verifier"]
    assert [
        each["target"] for each in error.body["rejected"]["_warnings"] if each["severity"] == "error"
    ] == ["generated-env/verifier.yaml:3:5"]
    assert "false-pass" in error.body["why"]
    assert error.body["usage"]["rounds"] == 3


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (says(""), "empty"),
        (says("I cannot help with that."), "not one JSON object"),
        (says("Here it is:\n```json\n" + json.dumps(DESK) + "\n```"), "not one JSON object"),
        (says(json.dumps(DESK) + "\nEnjoy!"), "no sound JSON"),
        (says(json.dumps(DESK) * 2), "no sound JSON"),
        (says(json.dumps(DESK)[:-40], finish_reason="length"), "no sound JSON"),
        (says('{"tasks": [], "tasks": []}'), "no sound JSON"),
        (says('{"config": {"a": NaN}, "tasks": []}'), "no sound JSON"),
        (says('{"config": ' + '{"a":' * 5000 + "1" + "}" * 5000 + ', "tasks": []}'), "no sound JSON"),
        (says(" " * 100 + json.dumps(desk(description="x" * 400_000))), "characters"),
        (says("[]"), "not one JSON object"),
        (says(None, calls=[call("refund")]), "empty"),
        (wrote(desk(slug="../../etc")), "There is no “slug” in it"),
        (wrote(desk(tasks={})), "“tasks” is to be a list"),
        (wrote(desk(tasks=[])), "0 tasks"),
        (wrote(desk(tasks=["Refund."])), "Task 0 is no object"),
        (wrote(desk(tasks=[DESK["tasks"][0]] * 201)), "201 tasks"),
        (wrote(with_task(code="import os")), "Task 0 has “code”"),
        (wrote(with_task(solution="refund")), "“solution” of task 0 is to be a list"),
        (wrote({key: each for key, each in DESK.items() if key != "config"}), "“config” is missing"),
        (
            wrote(judged_by({"name": "p", "type": "python", "function": "files/judge.py:judge"})),
            "“python” is not",
        ),
        (
            wrote(judged_by({"name": "j", "type": "llm_judge", "model": "openai/o1", "rubric": "x"})),
            "“llm_judge” is",
        ),
    ],
)
def test_anything_but_one_environment_is_a_round_lost(
    client: Client, model: ChatServer, answer: Any, why: str
) -> None:
    model.play(answer, wrote(DESK))
    assert client.generate_environment("A refund desk.", "workflow", MODEL)["_usage"]["rounds"] == 2
    assert why in feedback(model, 1)


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "  {}\n\n", "```JSON\n{}```"])
def test_a_fence_is_taken_off(client: Client, model: ChatServer, fence: str) -> None:
    model.play(says(fence.replace("{}", json.dumps(DESK))))
    assert client.generate_environment("A refund desk.", "workflow", MODEL)["tasks"] == DESK["tasks"]


@pytest.mark.parametrize(
    "files",
    [{"../outside.py": "x = 1"}, {"/etc/cron.d/x": "x"}, {"a/../../b": "x"}, {"..\\b": "x"}],
)
def test_no_file_leaves_the_folder(
    client: Client, model: ChatServer, files: dict[str, str], tmp_path: Path
) -> None:
    model.play(
        wrote(
            desk(
                config={"files": files},
                tasks=[{"instruction": "Mend it.", "hiddenGroundTruth": {"files": {next(iter(files)): "y"}}}],
                verifier={"primitives": [{"name": "f", "type": "ground_truth_match"}]},
            )
        )
    )
    error = refused(client, "code-editing")
    assert error.status == 422
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "rollout.toml"]


def test_code_of_a_model_runs_in_a_sandbox_whoever_wants_none(
    client: Client, model: ChatServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROLLOUT_SANDBOX", "none")
    trace = tmp_path / "trace"
    model.play(
        wrote(
            {
                "config": {"files": {"a.txt": "a"}, "commands": {"test": f"touch {trace}"}},
                "tasks": [
                    {
                        "instruction": "Write b into a.txt.",
                        "hiddenGroundTruth": {"files": {"a.txt": "b"}},
                        "solution": [{"tool": "write_file", "args": {"path": "a.txt", "content": "b"}}],
                    }
                ],
                "verifier": {
                    "primitives": [
                        {"name": "files", "type": "ground_truth_match"},
                        {"name": "test", "type": "command_passes", "command": "test"},
                    ]
                },
            }
        )
    )
    refused(client, "code-editing")
    assert len(model.asked) == 3
    assert not trace.exists()


def test_a_provider_that_fails_is_no_round_and_not_asked_for_ever(client: Client, model: ChatServer) -> None:
    model.play(refuses(401, "No such key."))
    error = refused(client)
    assert error.status == 422
    assert f"“{MODEL}” did not answer." in error.message
    assert len(model.asked) == 1
    assert "rejected" not in error.body


def test_a_limit_to_the_cost_ends_it(client: Client, model: ChatServer) -> None:
    model.play(wrote(BROKEN))
    with pytest.raises(RolloutError, match=r"The limit of \$0.00 is reached") as caught:
        client.generate_environment("A refund desk.", "workflow", MODEL, max_cost=0.0003)
    assert len(model.asked) == 1
    assert "“acton”" in caught.value.body["why"]
    with pytest.raises(RolloutError, match="limit"):
        client.generate_environment("A refund desk.", "workflow", MODEL, max_cost=0)
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (None, "No model is named"),
        ("oracle", "“oracle” writes no environments"),
        ("human", "“human” writes no environments"),
        ("replay:/etc/passwd", "writes no environments"),
        ("random:1/2", "writes no environments"),
    ],
)
def test_who_cannot_write_is_not_asked(client: Client, name: str | None, why: str) -> None:
    with pytest.raises(RolloutError, match=why) as caught:
        client.generate_environment("A refund desk.", "workflow", name)
    assert caught.value.status == 400


def test_what_is_changed_is_shown_to_the_model_as_it_is(client: Client, model: ChatServer) -> None:
    model.play(wrote(desk(description="A quicker desk.")))
    current = {key: each for key, each in DESK.items() if key != "description"} | {"_warnings": []}
    answer = client.refine_environment(current, "Say that it is quick.", "workflow", MODEL)
    assert answer["description"] == "A quicker desk."
    (asked,) = model.asked
    assert "Say that it is quick." in asked.body["messages"][1]["content"]
    assert "Refund order O-1 for $100." in asked.body["messages"][1]["content"]


def test_what_is_no_environment_is_not_changed(client: Client, model: ChatServer) -> None:
    with pytest.raises(RolloutError, match="“tasks” is missing") as caught:
        client.refine_environment({"config": {}}, "Mend it.", "workflow", MODEL)
    assert (caught.value.status, model.asked) == (400, [])


def test_only_so_many_are_written_at_once(client: Client, model: ChatServer) -> None:
    arrived, go_on = threading.Semaphore(0), threading.Event()

    def waits(connection: Connection) -> None:
        arrived.release()
        go_on.wait(60)
        wrote(DESK)(connection)

    model.play(waits)
    body = {"description": "A refund desk.", "template": "workflow", "model": MODEL}
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(http.post("/api/environments/generate", json=body).status_code)

    with httpx.Client(transport=LocalTransport(), base_url="http://local", timeout=60) as http:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert arrived.acquire(timeout=60)
        refused = http.post("/api/environments/generate", json=body)
        go_on.set()
        for thread in threads:
            thread.join(60)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "15")
        assert statuses == [200] * 4
        assert http.post("/api/environments/generate", json=body).status_code == 200


def test_a_key_that_only_reads_has_nothing_written(model: ChatServer, tmp_path: Path) -> None:
    with Platform(tmp_path / "served", OPENAI_BASE_URL=model.address) as platform:
        with Client(platform.key, platform.address) as owner:
            reader = owner.create_key("reader", "read")
        with Client(reader["key"], platform.address) as client, pytest.raises(RolloutError) as caught:
            client.generate_environment("A refund desk.", "workflow", MODEL)
    assert (caught.value.status, model.asked) == (403, [])


def test_every_template_has_an_example_that_holds_itself() -> None:
    from rollout.platform.author import _example
    from rollout.platform.drafting import examine, in_words, read_draft
    from rollout.source.contract import templates

    for template in templates():
        examined = examine(read_draft(_example(template), template), slug="example", name="Example")
        assert examined.holds, in_words(examined)


@pytest.mark.parametrize("template", ["browser", "code-editing", "sql"])
def test_worlds_of_other_kinds_are_written_too(client: Client, model: ChatServer, template: str) -> None:
    from rollout.platform.author import _example

    model.play(wrote(_example(template)))
    answer = client.generate_environment("As the example.", template, MODEL)
    assert answer["tasks"] == _example(template)["tasks"]
    assert answer["_usage"]["rounds"] == 1
