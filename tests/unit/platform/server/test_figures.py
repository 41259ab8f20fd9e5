"""Figures for Prometheus: what they say, and that nobody who asks can make more of them."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Event
from typing import Any

import httpx
from servers.chat import ChatServer, refuses, says
from servers.rollout_server import Platform

from rollout.engine import Outcome
from rollout.models import Usage
from rollout.platform.server.figures import Figures, text
from rollout.platform.store.runs import Status

SERIES = re.compile(
    r'(?P<name>[a-z_]+)(\{(?P<labels>([a-z]+="[^"\\\n]*",?)*)\})? (?P<value>\d+(\.\d+)?(e-?\d+)?)'
)


ENVIRONMENT = {
    "slug": "desk",
    "name": "Desk",
    "template": "workflow",
    "config": {
        "tools": [{"name": "look", "kind": "action", "description": "Look.", "stateArray": "seen"}],
        "initialMutableState": {"seen": []},
    },
    "tasks": [{"instruction": "Say so.", "hiddenGroundTruth": {"seen": []}, "split": "train"}],
    "verifier": {"primitives": [{"name": "right", "type": "ground_truth_match"}]},
}


def client(platform: Platform) -> httpx.Client:
    return httpx.Client(
        base_url=platform.address, headers={"authorization": f"Bearer {platform.key}"}, timeout=30
    )


def executed(http: httpx.Client, n: int) -> Any:
    body = {"environmentSlug": "desk", "model": "openai/gpt-4o-mini", "n": n, "concurrency": 1}
    run_id = http.post("/api/runs", json=body).json()["runId"]
    while (run := http.get(f"/api/runs/{run_id}").json()["run"])["endedAt"] is None:
        Event().wait(0.05)
    return run


def figures_of(http: httpx.Client) -> dict[str, float]:
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found: dict[str, float] = {}
    for line in answer.text.splitlines():
        if not line.startswith("#"):
            match = SERIES.fullmatch(line)
            assert match, line
            name = line.rpartition(" ")[0]
            assert name not in found
            found[name] = float(match["value"])
    return found


def test_a_run_is_counted_with_what_it_cost(tmp_path: Path) -> None:
    (tmp_path / "rollout.toml").write_text('[prices."openai/gpt-4o-mini"]\ninput = 1000000\noutput = 0\n')
    with ChatServer([says("Done.")]) as chat:
        variables = {"OPENAI_BASE_URL": chat.address, "OPENAI_API_KEY": "sk-desk-4f6c5cce93aa71"}
        with Platform(tmp_path / "data", **variables) as platform, client(platform) as http:
            pushed = http.post("/api/environments", json=ENVIRONMENT)
            assert pushed.status_code == 201, pushed.text
            before = figures_of(http)
            assert before['rollout_runs_ended_total{status="failed"}'] == 0
            run = executed(http, 2)
            chat.play(refuses(401, "Wrong key."))
            assert executed(http, 1)["status"] == "failed"
            after = figures_of(http)
    assert after['rollout_runs_ended_total{status="done"}'] == 1
    assert after['rollout_runs_ended_total{status="failed"}'] == 1
    assert after['rollout_runs{status="done"}'] == 1
    for outcome, key in (("passed", "passed"), ("failed", "failed"), ("unscored", "unscored")):
        assert after[f'rollout_rollouts_finished_total{{outcome="{outcome}"}}'] == run[key]
    used = run["usage"]
    assert after['rollout_tokens_total{purpose="rollouts",direction="input"}'] >= used["input_tokens"] > 0
    assert after['rollout_tokens_total{purpose="rollouts",direction="output"}'] >= used["output_tokens"] > 0
    assert after['rollout_cost_dollars_total{purpose="rollouts"}'] >= used["cost"] > 0
    assert after["rollout_oldest_queued_seconds"] == 0
    assert after['rollout_requests_total{method="POST",route="/api/runs",status="201"}'] == 2


def test_requests_are_counted_by_their_routes_and_wrong_keys_where_they_came(tmp_path: Path) -> None:
    with Platform(tmp_path / "data") as platform, client(platform) as http:
        first = figures_of(http)
        for number in range(5):
            http.get(f"/api/runs/{number:032x}")
            http.get(f"/nothing/{number}")
            http.request(f"VERB{number}", "/api/runs")
            httpx.get(f"{platform.address}/api/whoami", headers={"authorization": "Bearer rk_wrong"})
        second = figures_of(http)
    told = {name: value for name, value in second.items() if name.startswith("rollout_requests_total")}
    assert told == {
        'rollout_requests_total{method="GET",route="/metrics",status="200"}': 1,
        'rollout_requests_total{method="GET",route="/api/runs/{run}",status="404"}': 5,
        'rollout_requests_total{method="GET",route="none",status="404"}': 5,
        'rollout_requests_total{method="other",route="/api/runs",status="405"}': 5,
        'rollout_requests_total{method="GET",route="/api/whoami",status="401"}': 5,
    }
    assert second['rollout_wrong_keys_total{where="header"}'] == 5
    assert second["rollout_request_seconds_count"] == 21
    assert second['rollout_request_seconds_bucket{le="+Inf"}'] == 21
    assert first.keys() < second.keys()


def test_the_text_has_every_outcome_and_status_before_there_are_any() -> None:
    figures = Figures()
    figures.usage("writing", Usage(10, 2))
    told = text(figures.families())
    for outcome in Outcome:
        assert f'rollout_rollouts_finished_total{{outcome="{outcome}"}} 0\n' in told
    for status in (Status.DONE, Status.FAILED, Status.CANCELLED):
        assert f'rollout_runs_ended_total{{status="{status}"}} 0\n' in told
    assert 'rollout_unpriced_tokens_total{purpose="writing"} 12\n' in told
