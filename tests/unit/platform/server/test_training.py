"""Training jobs, begun over the API at a provider that speaks OpenAI's fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any

import httpx
import pytest
from servers.fine_tuning import FineTuning
from servers.rollout_server import Platform

KEY = "sk-desk-4f6c5cce93aa71"
REFUNDS = {
    "slug": "refunds",
    "name": "Refunds",
    "template": "workflow",
    "config": {
        "tools": [
            {"name": "get_order", "kind": "lookup", "fixturePath": "orders.${args.id}"},
            {
                "name": "refund",
                "kind": "action",
                "stateArray": "refunds",
                "paramsSchema": {"order_id": "string", "amount": "number"},
            },
        ],
        "fixtures": {"orders": {"O-1": {"amount": 100}, "O-2": {"amount": 250}}},
        "initialMutableState": {"refunds": []},
    },
    "tasks": [
        {
            "instruction": f"Refund order {order} in full.",
            "hiddenGroundTruth": {"refunds": [{"order_id": order, "amount": amount}]},
            "split": "dev",
        }
        for order, amount in (("O-1", 100), ("O-2", 250))
    ],
}
MODEL = "openai/gpt-4o-mini-2024-07-18"


@pytest.fixture(scope="module")
def provider() -> Iterator[FineTuning]:
    with FineTuning(key=KEY) as made:
        yield made


@pytest.fixture(scope="module")
def http(provider: FineTuning, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    variables = {"OPENAI_BASE_URL": provider.address, "OPENAI_API_KEY": KEY}
    with Platform(tmp_path_factory.mktemp("platform") / "data", **variables) as platform:
        headers = {"authorization": f"Bearer {platform.key}"}
        with httpx.Client(base_url=platform.address, headers=headers, timeout=30) as client:
            assert client.post("/api/environments", json=REFUNDS).status_code == 201
            yield client


def finished(http: httpx.Client, model: str) -> Any:
    body = {"environmentSlug": "refunds", "model": model, "n": 1}
    run = http.post("/api/runs", json=body).json()["runId"]
    while http.get(f"/api/runs/{run}").json()["run"]["status"] != "done":
        Event().wait(0.05)
    return http.get(f"/api/runs/{run}", params={"include": "rollouts"}).json()


def job(run: Any, ids: list[str], **more: Any) -> dict[str, Any]:
    return {"sourceRunId": run["run"]["id"], "rolloutIds": ids, "baseModel": MODEL, **more}


def test_a_model_is_trained_on_the_rollouts_that_passed(http: httpx.Client, provider: FineTuning) -> None:
    run = finished(http, "oracle")
    passed = [each["id"] for each in run["rollouts"] if each["passed"]]
    assert passed
    begun = http.post("/api/training-jobs", json=job(run, passed, suffix="v1", hyperparams={"n_epochs": 2}))
    assert (begun.status_code, begun.json()["providerJobId"]) == (201, "ftjob-1")
    rows = provider.files[-1]
    assert len(rows) == len(passed)
    for row in rows:
        assert set(row) == {"messages", "tools"}
        assert row["messages"][-1]["role"] == "assistant"
        names = {tool["function"]["name"] for tool in row["tools"]}
        calls = [call for message in row["messages"] for call in message.get("tool_calls", ())]
        assert calls
        assert {call["function"]["name"] for call in calls} <= names
        assert all(isinstance(call["function"]["arguments"], str) for call in calls)
        assert None not in [value for message in row["messages"] for value in message.values()]
    asked = provider.jobs[-1]
    assert (asked["model"], asked["suffix"], asked["training_file"]) == (
        "gpt-4o-mini-2024-07-18",
        "v1",
        "file-1",
    )
    assert asked["method"] == {"type": "supervised", "supervised": {"hyperparameters": {"n_epochs": 2}}}
    started = begun.json()["id"]
    (listed,) = http.get("/api/training-jobs").json()["jobs"]
    assert (listed["id"], listed["status"], listed["provider"]) == (started, "queued", "openai")
    assert listed["hyperparams"] == {"n_epochs": 2, "training_method": "sft"}
    provider.status = "succeeded"
    done = http.post(f"/api/training-jobs/{started[:8]}/refresh").json()["job"]
    assert (done["status"], done["fineTunedModel"]) == (
        "succeeded",
        "ft:gpt-4o-mini-2024-07-18:acme:v1:1",
    )


def test_what_is_no_example_is_refused(http: httpx.Client, provider: FineTuning) -> None:
    run = finished(http, "noop")
    before = len(provider.files)
    failed = http.post("/api/training-jobs", json=job(run, [run["rollouts"][0]["id"]]))
    assert (failed.status_code, failed.json()["pointer"]) == (400, "/rolloutIds/0")
    strange = http.post("/api/training-jobs", json=job(run, ["nope"]))
    assert (strange.status_code, strange.json()["pointer"]) == (400, "/rolloutIds/0")
    assert http.post("/api/training-jobs", json=job(run, [])).status_code == 400
    assert len(provider.files) == before


@pytest.mark.parametrize("name", ["training_file", "model", "training_method", "seed", "metadata"])
def test_only_hyperparameters_are_chosen_by_whoever_asks(
    http: httpx.Client, provider: FineTuning, name: str
) -> None:
    run = finished(http, "oracle")
    passed = [each["id"] for each in run["rollouts"] if each["passed"]]
    before = len(provider.files)
    refused = http.post("/api/training-jobs", json=job(run, passed, hyperparams={name: "x"}))
    assert (refused.status_code, refused.json()["pointer"]) == (422, f"/hyperparams/{name}")
    assert "n_epochs, batch_size, learning_rate_multiplier" in refused.json()["hint"]
    assert len(provider.files) == before


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"method": "dpo"}, "is not asked to train by dpo"),
        ({"baseModel": "fireworks/x"}, "cannot be trained from here"),
        ({"baseModel": "nobody/model"}, "cannot be trained from here"),
        ({"baseModel": "gpt-4o"}, "cannot be trained from here"),
    ],
)
def test_what_cannot_be_trained_is_said(http: httpx.Client, more: dict[str, Any], words: str) -> None:
    run = finished(http, "oracle")
    passed = [each["id"] for each in run["rollouts"] if each["passed"]]
    refused = http.post("/api/training-jobs", json=job(run, passed, **more))
    assert refused.status_code == 422
    assert words in refused.json()["error"]


def test_what_the_provider_refuses_is_told_in_its_words(http: httpx.Client, provider: FineTuning) -> None:
    run = finished(http, "oracle")
    passed = [each["id"] for each in run["rollouts"] if each["passed"]]
    provider.refuses = "The model may not be trained."
    try:
        refused = http.post("/api/training-jobs", json=job(run, passed))
    finally:
        provider.refuses = None
    assert refused.status_code == 422
    assert refused.json()["error"] == "“openai” refused it: The model may not be trained."
    assert KEY not in refused.text
