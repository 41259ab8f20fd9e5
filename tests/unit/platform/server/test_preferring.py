"""Training by preference, and at Together AI: what passed beside what failed, at the place where they part."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any

import httpx
import pytest
from servers.chat import ChatServer, call, completion
from servers.chat import http as answer
from servers.rollout_server import Platform
from servers.together import TogetherFineTuning

from rollout.training.records import preference

KEY = "tg-desk-8be1c0aa51d2"
MODEL = "together/deepseek-ai/DeepSeek-V3.1"
REFUNDS = {
    "slug": "refunds",
    "name": "Refunds",
    "template": "workflow",
    "config": {
        "tools": [
            {
                "name": "refund",
                "kind": "action",
                "stateArray": "refunds",
                "paramsSchema": {"order_id": "string", "amount": "number"},
            }
        ],
        "fixtures": {},
        "initialMutableState": {"refunds": []},
    },
    "tasks": [
        {
            "instruction": "Refund order O-1 in full: 100.",
            "hiddenGroundTruth": {"refunds": [{"order_id": "O-1", "amount": 100}]},
            "split": "dev",
        }
    ],
}


def refunds(amount: int, name: str) -> Any:
    arguments = f'{{"order_id": "O-1", "amount": {amount}}}'
    return answer(200, completion(calls=[call("refund", arguments, name)], finish="tool_calls"))


SAYS = answer(200, completion("It is done."))


@pytest.fixture(scope="module")
def together() -> Iterator[TogetherFineTuning]:
    with TogetherFineTuning(key=KEY) as made:
        yield made


@pytest.fixture(scope="module")
def chat() -> Iterator[ChatServer]:
    with ChatServer() as made:
        yield made


@pytest.fixture(scope="module")
def http(
    together: TogetherFineTuning, chat: ChatServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    variables = {
        "TOGETHER_BASE_URL": together.address,
        "TOGETHER_API_KEY": KEY,
        "OPENAI_BASE_URL": chat.address,
        "OPENAI_API_KEY": "sk-none",
    }
    with Platform(tmp_path_factory.mktemp("platform") / "data", **variables) as platform:
        headers = {"authorization": f"Bearer {platform.key}"}
        with httpx.Client(base_url=platform.address, headers=headers, timeout=60) as client:
            pushed = client.post("/api/environments", json=REFUNDS)
            assert pushed.status_code == 201, pushed.text
            yield client


@pytest.fixture(scope="module")
def trained(http: httpx.Client, chat: ChatServer) -> dict[str, Any]:
    """A run that passed."""
    return run(http, chat, refunds(100, "call_a"), SAYS)


def run(http: httpx.Client, chat: ChatServer, *answers: Any) -> dict[str, Any]:
    """A run whose rollouts are answered one after the other."""
    chat.play(*answers)
    body = {"environmentSlug": "refunds", "model": "openai/served", "n": 2, "concurrency": 1}
    begun = http.post("/api/runs", json=body).json()["runId"]
    while http.get(f"/api/runs/{begun}").json()["run"]["status"] != "done":
        Event().wait(0.05)
    return dict(http.get(f"/api/runs/{begun}", params={"include": "rollouts"}).json())


def train(http: httpx.Client, found: dict[str, Any], method: str, **more: Any) -> httpx.Response:
    passed = [each["id"] for each in found["rollouts"] if each["passed"]]
    body = {"sourceRunId": found["run"]["id"], "rolloutIds": passed, "baseModel": MODEL, "method": method}
    return http.post("/api/training-jobs", json={**body, **more})


def test_what_passed_is_preferred_to_what_failed(
    http: httpx.Client, chat: ChatServer, together: TogetherFineTuning
) -> None:
    found = run(http, chat, refunds(100, "call_a"), SAYS, refunds(10, "call_b"), SAYS)
    begun = train(http, found, "dpo", suffix="v2", hyperparams={"beta": 0.2, "n_epochs": 2})
    assert begun.status_code == 201, begun.text
    assert begun.json()["providerJobId"] == "ft-1"
    (row,) = together.files[-1]
    assert set(row) == {"input", "preferred_output", "non_preferred_output"}
    assert [each["role"] for each in row["input"]["messages"]][-1] == "user"
    assert [tool["function"]["name"] for tool in row["input"]["tools"]] == ["refund"]
    amounts = [
        output["tool_calls"][0]["function"]["arguments"]
        for output in (*row["preferred_output"], *row["non_preferred_output"])
    ]
    assert amounts == ['{"order_id": "O-1", "amount": 100}', '{"order_id": "O-1", "amount": 10}']
    assert together.jobs[-1] == {
        "model": "deepseek-ai/DeepSeek-V3.1",
        "training_file": "file-1",
        "training_method": {"method": "dpo", "dpo_beta": 0.2},
        "suffix": "v2",
        "n_epochs": 2,
    }
    job = begun.json()["id"]
    together.status = "running"
    shown = http.post(f"/api/training-jobs/{job}/refresh").json()["job"]
    assert (shown["status"], shown["fineTunedModel"], shown["method"]) == ("running", None, "dpo")
    together.status = "completed"
    shown = http.post(f"/api/training-jobs/{job}/refresh").json()["job"]
    assert (shown["status"], shown["fineTunedModel"]) == ("completed", "acme/DeepSeek-V3.1-v2")
    together.status = "error"
    shown = http.post(f"/api/training-jobs/{job}/refresh").json()["job"]
    assert (shown["status"], shown["error"]) == ("error", "The loss is no number.")


def test_what_passed_is_followed(http: httpx.Client, chat: ChatServer, together: TogetherFineTuning) -> None:
    found = run(http, chat, refunds(100, "call_a"), SAYS)
    assert train(http, found, "sft").status_code == 201
    rows = together.files[-1]
    assert [set(row) for row in rows] == [{"messages", "tools"}] * len(rows)
    assert together.jobs[-1]["training_method"] == {"method": "sft"}


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"training_file": "file-of-somebody-else"}, "/training_file"),
        ({"n_epochs": 2, "model": "evil/other"}, "/model"),
        ({"training_method": {"method": "dpo"}}, "/training_method"),
        ({"suffix": "theirs"}, "/suffix"),
        ({"wandb_base_url": "https://evil.test"}, "/wandb_base_url"),
        ({"from_checkpoint": "ft-0"}, "/from_checkpoint"),
        ({"beta": 0.1}, "/beta"),
        ({"n_epochs": {"a": 1}}, "/n_epochs"),
        ({"training_type": "Full"}, "/training_type"),
        ({"training_type": {"type": "Lora", "a/b": 1}}, "/training_type/a~1b"),
    ],
)
def test_only_hyperparameters_are_chosen_by_whoever_asks(
    http: httpx.Client, trained: dict[str, Any], together: TogetherFineTuning, given: Any, pointer: str
) -> None:
    before = len(together.files)
    refused = train(http, trained, "sft", hyperparams=given)
    assert (refused.status_code, refused.json()["pointer"]) == (422, f"/hyperparams{pointer}")
    assert len(together.files) == before


def test_hyperparameters_are_told_to_the_provider_and_kept(
    http: httpx.Client, trained: dict[str, Any], together: TogetherFineTuning
) -> None:
    given = {"n_epochs": 3, "learning_rate": 1e-5, "training_type": {"type": "Lora", "lora_r": 16}}
    begun = train(http, trained, "sft", hyperparams=given)
    assert begun.status_code == 201, begun.text
    assert {name: together.jobs[-1][name] for name in given} == given
    shown = next(
        each for each in http.get("/api/training-jobs").json()["jobs"] if each["id"] == begun.json()["id"]
    )
    assert shown["hyperparams"] == {**given, "training_method": "sft"}


def test_where_all_passed_there_is_nothing_to_prefer(
    http: httpx.Client, chat: ChatServer, together: TogetherFineTuning
) -> None:
    found = run(http, chat, refunds(100, "call_a"), SAYS, refunds(100, "call_b"), SAYS)
    before = len(together.files)
    refused = train(http, found, "dpo")
    assert (refused.status_code, len(together.files)) == (422, before)
    assert "nothing to prefer" in refused.json()["error"]


@pytest.mark.parametrize(
    ("status", "text", "words"),
    [
        (401, "{}", "does not accept the key"),
        (400, '{"error": {"message": "No such model."}}', "refused it: No such model."),
        (500, "<html>", "did not say what came of it: HTTP 500."),
        (200, "[]", "did not say what came of it: HTTP 200."),
        (200, "{}", "has no “id”"),
    ],
)
def test_what_the_provider_says_otherwise_is_told(
    http: httpx.Client, chat: ChatServer, together: TogetherFineTuning, status: int, text: str, words: str
) -> None:
    found = run(http, chat, refunds(100, "call_a"), SAYS)
    together.answers = (status, text)
    try:
        refused = train(http, found, "sft")
    finally:
        together.answers = None
    assert refused.status_code == 422
    assert words in refused.json()["error"]
    assert KEY not in refused.text


@pytest.mark.parametrize("instead", [(0, ""), (502, "<html>"), (504, "{}"), (200, "<html>"), (200, "{}")])
def test_where_a_job_may_have_begun_nobody_is_told_to_try_again(
    http: httpx.Client, trained: dict[str, Any], together: TogetherFineTuning, instead: tuple[int, str]
) -> None:
    before = len(together.jobs)
    together.instead = instead
    try:
        refused = train(http, trained, "sft")
    finally:
        together.instead = None
    assert refused.status_code == 422
    assert "may have begun there" in refused.json()["hint"]
    assert "https://api.together.ai/jobs" in refused.json()["hint"]
    assert "ry it again" not in refused.text
    assert len(together.jobs) == before + 1
    newest = http.get("/api/training-jobs").json()["jobs"][0]
    assert (newest["status"], newest["providerJobId"]) == ("unknown", None)


USER = {"role": "user", "content": "Go."}


def line(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"trace": {"messages": [USER, *messages]}}


def calls(amount: str, name: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [call("pay", amount, name)]}


def answered(name: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": content}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def test_calls_with_other_ids_and_spaces_are_the_same() -> None:
    passed = line(calls('{"a": 1}', "x"), answered("x", "ok"), says("right"))
    failed = line(calls('{"a":1}', "y"), answered("y", "ok"), says("wrong"))
    row = preference(passed, failed, [])
    assert row is not None
    assert len(row["input"]["messages"]) == 3
    assert (row["preferred_output"], row["non_preferred_output"]) == ([says("right")], [says("wrong")])


@pytest.mark.parametrize(
    "failed",
    [
        line(calls('{"a": 1}', "y"), answered("y", "ok"), says("right")),
        line(calls('{"a": 1}', "y"), answered("y", "not ok"), says("wrong")),
        line(calls('{"a": 1}', "y"), answered("y", "ok")),
        line(),
        {"trace": {"messages": [{"role": "user", "content": "Something else."}, says("wrong")]}},
    ],
)
def test_what_does_not_part_by_what_the_model_did_is_no_pair(failed: dict[str, Any]) -> None:
    passed = line(calls('{"a": 1}', "x"), answered("x", "ok"), says("right"))
    assert preference(passed, failed, []) is None
