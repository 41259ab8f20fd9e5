"""Following a run over a connection that breaks off: nothing is told twice, nor given up for a moment's sake."""

from __future__ import annotations

from typing import Any

import httpx
import orjson
import pytest

from rollout.platform.endpoints import Endpoint
from rollout.platform.watching import Watch


def rollout(number: str) -> dict[str, Any]:
    return {"id": number, "taskId": "t", "instruction": "Go.", "passed": True, "score": 1.0}


def told(watch: Watch, event_id: str, *numbers: str) -> list[str]:
    found = []
    for number in numbers:
        data = orjson.dumps(rollout(number)).decode()
        stream = f"id: {event_id}\nevent: rollout\ndata: {data}\n\n".encode()
        found += [event.data["id"] for event in watch.read(stream)]
    return found


@pytest.fixture
def watch() -> Watch:
    return Watch("11111111-2222-4333-8444-555555555555", Endpoint("http://127.0.0.1:9"))


def test_what_comes_again_after_a_break_is_told_once(watch: Watch) -> None:
    assert told(watch, "4", "a") == ["a"]
    assert told(watch, "5", "b", "c") == ["b", "c"]
    watch.broken(httpx.ReadError(""))
    assert watch.headers["last-event-id"] == "5"
    assert told(watch, "5", "b", "c", "d") == ["d"]
    assert told(watch, "6", "b") == ["b"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_cannot_answer_for_now_is_asked_again(watch: Watch, status: int) -> None:
    with pytest.raises(httpx.HTTPError):
        watch.accepts(httpx.Response(status))
    assert not watch.looks
    assert watch.accepts(httpx.Response(200, headers={"content-type": "text/event-stream"}))


def test_a_server_without_events_is_asked_now_and_then(watch: Watch) -> None:
    assert not watch.accepts(httpx.Response(404))
    assert watch.looks


def test_an_id_that_no_header_can_hold_is_not_sent(watch: Watch) -> None:
    assert told(watch, "é\x1b", "a") == ["a"]
    assert "last-event-id" not in watch.headers
