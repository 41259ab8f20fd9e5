"""Both clients against a server that misbehaves: what they send, when they send it again, and what they say."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from servers.chat import Act, ChatServer, Connection, breaks_off, drops, hangs, http, trickles, without_end

from rollout.platform import calls, conversation
from rollout.platform.client import AsyncClient, Client
from rollout.platform.errors import RolloutError

KEY = "rk_5fd1c2a90b7e4d33"
RUN = {
    "id": "r",
    "status": "running",
    "successRate": None,
    "progress": 0,
    "n": 1,
    "model": "noop",
    "environmentName": "Desk",
    "environmentId": "e",
}
ROLLOUT = {"id": "a", "taskId": "t", "instruction": "Do.", "passed": True, "score": 1.0}
JOB = {"id": "j", "status": "running", "provider": "openai", "baseModel": "gpt", "hyperparams": {}}
Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def own_home(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("ROLLOUT_ENDPOINT", "ROLLOUT_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(conversation, "_pause", lambda tried: 0.0)


@pytest.fixture(params=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Calls a method of a client of either kind."""

    def sync(address: str, method: str, *arguments: Any, **named: Any) -> Any:
        with Client(KEY, address) as client:
            found = getattr(client, method)(*arguments, **named)
            return list(found) if method == "watch_run" else found

    def awaited(address: str, method: str, *arguments: Any, **named: Any) -> Any:
        async def work() -> Any:
            async with AsyncClient(KEY, address) as client:
                found = getattr(client, method)(*arguments, **named)
                return [each async for each in found] if method == "watch_run" else await found

        return asyncio.run(work())

    return sync if request.param == "sync" else awaited


def origin(server: ChatServer) -> str:
    return server.address.removesuffix("/v1")


def refusal(ask: Ask, address: str, method: str = "list_environments", *arguments: Any) -> RolloutError:
    with pytest.raises(RolloutError) as caught:
        ask(address, method, *arguments)
    told = f"{caught.value} {caught.value.hint} {json.dumps(caught.value.body)}"
    assert KEY not in told
    return caught.value


def page(status: int, text: str = "<html>Sign in</html>") -> Act:
    return http(status, text, content_type="text/html; charset=utf-8")


def test_what_is_sent_is_as_published(ask: Ask) -> None:
    with ChatServer([http(201, {"runId": "r1", "total": 3})]) as server:
        assert ask(origin(server), "create_run", "refund-agent", "openai/gpt-4o-mini", 3) == {
            "runId": "r1",
            "total": 3,
        }
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/api/runs")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["content-type"] == "application/json"
    assert asked.body == {
        "environmentSlug": "refund-agent",
        "model": "openai/gpt-4o-mini",
        "n": 3,
        "temperature": 0.7,
        "maxToolCalls": 20,
    }


def test_a_redirect_means_that_the_key_was_not_accepted_and_is_not_followed(ask: Ask) -> None:
    with ChatServer([http(307, "", location="/sign-in?key=" + KEY)]) as server:
        error = refusal(ask, origin(server))
        assert len(server.asked) == 1
    assert (error.status, error.body) == (401, None)
    assert error.message.startswith(
        f"{origin(server)} did not accept the key, and points to “/sign-in?key=rk_5fd…”"
    )
    assert f"rollout login --endpoint {origin(server)}" in str(error.hint)


def test_an_address_that_wants_https_is_told_of(ask: Ask) -> None:
    with ChatServer([]) as server:
        secure = origin(server).replace("http:", "https:")
        server.play(http(301, "", location=f"{secure}/api/environments"))
        error = refusal(ask, origin(server))
    assert error.message == f"{origin(server)} answers at {secure} only."
    assert error.hint == f"Use that: --endpoint {secure}"


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (page(200), 200, "is no rollout platform: it sent a web page, and no JSON."),
        (page(404), 404, "is no rollout platform: it sent a web page, and no JSON."),
        (page(500), 500, "cannot answer now: what came is a web page."),
        (http(200, "ok", content_type="text/plain"), 200, "it sent “text/plain”, and no JSON."),
        (http(200, '{"environments": ['), 200, "answered with what is no JSON, or is cut short."),
        (http(200, "[" * 100_000), 200, "at most 200 lists and objects inside each other were expected"),
        (
            http(200, [1, 2]),
            200,
            "answered otherwise than a rollout platform does: “environments” was expected",
        ),
        (http(200, {"environments": None}), 200, "“environments” was expected in it."),
        (http(400, {"error": "The slug is taken."}), 400, "The slug is taken."),
        (http(422, {"message": "No."}), 422, "No."),
        (http(409, {"error": {"code": 7}}), 409, "refused it without a word."),
        (http(409, [None]), 409, "refused it without a word."),
        (http(401, {"error": f"Who is {KEY}?"}), 401, "Who is rk_5fd…?"),
    ],
)
def test_what_is_no_good_answer_is_told_in_words(ask: Ask, answer: Act, status: int, words: str) -> None:
    with ChatServer([answer]) as server:
        error = refusal(ask, origin(server))
    assert error.status == status
    assert words in error.message
    assert str(error) == f"HTTP {status}: {error.message}"


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("depth", [201, 1005, 100_000])
def test_an_answer_that_is_too_deep_is_told_in_words(ask: Ask, status: int, depth: int) -> None:
    deep = f'{{"error": "No.", "environments": [], "key": "{KEY}", "more": {"[" * depth}{"]" * depth}}}'
    with ChatServer([http(status, deep)]) as server:
        error = refusal(ask, origin(server))
    assert error.status == status
    assert "at most 200 lists and objects inside each other were expected" in error.message


def test_an_endpoint_with_a_path_is_told_of_where_there_is_nothing(ask: Ask) -> None:
    with ChatServer([http(404, {"error": "There is nothing at this address."})]) as server:
        error = refusal(ask, f"{origin(server)}/api")
        assert error.hint == f"{origin(server)}/api ends with “/api”: is it {origin(server)} that is meant?"
        assert refusal(ask, origin(server)).hint is None


def test_an_answer_may_be_as_deep_as_an_environment_and_more(ask: Ask) -> None:
    deep = f'{{"environments": [], "more": {"[" * 199}{"]" * 199}}}'
    with ChatServer([http(200, deep)]) as server:
        assert ask(origin(server), "list_environments") == []


def test_an_error_carries_the_answer_and_its_way_out(ask: Ask) -> None:
    said = {"error": "Too deep.", "hint": "Flatten it.", "pointer": "/config"}
    with ChatServer([http(400, said)]) as server:
        error = refusal(ask, origin(server), "push_environment", {"slug": "a"})
    assert (error.body, error.hint) == (said, "Flatten it.")


@pytest.mark.parametrize("status", [408, 425, 429, 502, 503, 504])
def test_what_is_safe_is_asked_again_until_it_is_answered(ask: Ask, status: int) -> None:
    with ChatServer(
        [http(status, {"error": "busy"}), page(status), http(200, {"environments": []})]
    ) as server:
        assert ask(origin(server), "list_environments") == []
        assert len(server.asked) == 3


def test_a_server_that_stays_away_is_given_up(ask: Ask) -> None:
    with ChatServer([http(503, {"error": "The database does not answer."})]) as server:
        error = refusal(ask, origin(server))
        assert len(server.asked) == conversation.TRIES
    assert (error.status, error.message) == (503, "The database does not answer.")


def test_it_waits_as_long_as_the_server_asks(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("rollout.platform.client.time.sleep", waited.append)

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("rollout.platform.client.asyncio.sleep", sleep)
    answers = [
        http(429, {"error": "Slow."}, retry_after="7"),
        http(429, {"error": "Slow."}, retry_after="0"),
        http(503, {"error": "Slow."}, retry_after="Thu, 01 Jan 1970 00:00:00 GMT"),
        http(200, {"environments": []}),
    ]
    with ChatServer(answers) as server:
        ask(origin(server), "list_environments")
    assert waited == [7.0, 0.0, 0.0]


@pytest.mark.parametrize("retry_after", ["soon", "9" * 400, "-5", "²"])
def test_a_strange_wish_to_wait_is_no_reason_to_break_down(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, retry_after: str
) -> None:
    monkeypatch.setattr(conversation, "_LONGEST_PAUSE", 0.0)
    wish = retry_after.encode().decode("latin-1")
    with ChatServer(
        [http(503, {"error": "busy"}, retry_after=wish), http(200, {"environments": []})]
    ) as server:
        assert ask(origin(server), "list_environments") == []


def test_a_run_is_not_begun_twice_where_the_server_may_have_begun_it(ask: Ask) -> None:
    begun = http(201, {"runId": "r1", "total": 1})
    for broken in (drops, breaks_off, http(502, {"error": "Bad gateway."})):
        with ChatServer([broken, begun]) as server:
            refusal(ask, origin(server), "create_run", "a", "noop")
            assert len(server.asked) == 1


def test_what_broke_off_says_that_it_may_have_been_done(ask: Ask) -> None:
    with ChatServer([drops]) as server:
        error = refusal(ask, origin(server), "create_run", "a", "noop")
    assert error.status == 0
    assert error.hint == "It may have been done all the same: look before you do it again."


def test_what_was_certainly_not_done_is_sent_again(ask: Ask) -> None:
    with ChatServer([http(429, {"error": "Slow."}), http(201, {"runId": "r1", "total": 1})]) as server:
        assert ask(origin(server), "create_run", "a", "noop")["runId"] == "r1"
        assert len(server.asked) == 2


def test_a_server_that_knows_names_of_requests_is_sent_the_same_name_again() -> None:
    answers = [
        http(200, {"environments": []}, rollout_api="1"),
        drops,
        http(502, {"error": "Bad gateway."}),
        http(201, {"runId": "r1", "total": 1}),
    ]
    with ChatServer(answers) as server, Client(KEY, origin(server)) as client:
        assert not client.answers_more
        client.list_environments()
        assert client.answers_more
        assert client.create_run("a", "noop")["runId"] == "r1"
        names = [asked.headers["idempotency-key"] for asked in server.asked[1:]]
    assert len(names) == 3
    assert len(set(names)) == 1
    assert "idempotency-key" not in server.asked[0].headers


def test_a_connection_that_breaks_off_is_tried_again_where_that_is_safe(ask: Ask) -> None:
    with ChatServer([drops, breaks_off, http(200, {"environments": []})]) as server:
        assert ask(origin(server), "list_environments") == []


@pytest.mark.parametrize("act", [hangs, trickles])
def test_an_answer_that_does_not_come_is_not_waited_for(ask: Ask, act: Act) -> None:
    with ChatServer([act]) as server:
        impatient = replace(calls.list_environments(), seconds=0.05)
        error = refusal(ask, origin(server), "_ask", impatient)
        assert len(server.asked) == conversation.TRIES
    assert error.message == f"{origin(server)} did not answer: it took too long."
    assert "--endpoint local" in str(error.hint)


def byte_by_byte(begin: bytes) -> Act:
    """Always says something, and never comes to an end."""

    def act(connection: Connection) -> None:
        connection.send(begin)
        with suppress(OSError):
            while not connection.server.closing.wait(0.01):
                connection.send(b"x")

    return act


@pytest.mark.parametrize(
    "begin",
    [
        b"HTTP/1.1 200 OK\r\nx-head: ",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n",
    ],
    ids=["in its head", "in its body"],
)
def test_an_answer_that_comes_byte_by_byte_has_to_end_some_time(ask: Ask, begin: bytes) -> None:
    with ChatServer([byte_by_byte(begin)]) as server:
        error = refusal(ask, origin(server), "_ask", replace(calls.list_environments(), in_all=0.2))
        assert len(server.asked) == 1
        assert error.message == f"{origin(server)} has not answered in whole after 0 seconds."
        error = refusal(ask, origin(server), "_ask", replace(calls.create_key("a", "read"), in_all=0.2))
    assert error.hint == "It may have been done all the same: look before you do it again."


ENTRY = {"slug": "desk", "name": "Desk", "template": "workflow", "taskCount": 1}


@pytest.mark.parametrize(
    ("method", "answer", "words"),
    [
        (
            "list_environments",
            {"environments": [{"slug": 5}]},
            "“environments[0].slug” was expected to be a text",
        ),
        ("list_environments", {"environments": [{"slug": "a"}]}, "“environments[0].name” was expected in it"),
        (
            "list_environments",
            {"environments": [ENTRY, None]},
            "“environments[1]” was expected to be an object",
        ),
        (
            "list_environments",
            {"environments": [{**ENTRY, "taskCount": "1"}]},
            "“environments[0].taskCount” was expected to be a whole number from 0 on",
        ),
        (
            "list_environments",
            {"environments": [{**ENTRY, "updatedAt": 7}]},
            "“environments[0].updatedAt” was expected to be a text",
        ),
        ("list_versions", {"versions": [{"number": 1}]}, "“versions[0].digest” was expected in it"),
        ("list_runs", {"runs": [None]}, "“runs[0]” was expected to be an object"),
        ("list_runs", {"runs": [{**RUN, "progress": None}]}, "“runs[0].progress” was expected to be a whole"),
        (
            "list_runs",
            {"runs": [{**RUN, "successRate": "1"}]},
            "“runs[0].successRate” was expected to be a number",
        ),
        ("list_runs", {"runs": [{**RUN, "n": True}]}, "“runs[0].n” was expected to be a whole number"),
        (
            "list_runs",
            {"runs": [{**RUN, "passed": -1}]},
            "“runs[0].passed” was expected to be a whole number",
        ),
        (
            "get_run",
            {"run": {**RUN, "usage": {"cost": "free"}}},
            "“run.usage.cost” was expected to be a number",
        ),
        (
            "get_run",
            {"run": {**RUN, "options": {"seed": []}}},
            "“run.options.seed” was expected to be a number",
        ),
        ("get_run", {"run": []}, "“run” was expected to be an object"),
        ("get_rollouts", {"run": RUN, "rollouts": {"a": 1}}, "“rollouts” was expected to be a list"),
        (
            "get_rollouts",
            {"run": RUN, "rollouts": [{**ROLLOUT, "instruction": 7}]},
            "“rollouts[0].instruction” was expected to be a text",
        ),
        (
            "get_rollouts",
            {"run": RUN, "rollouts": [{**ROLLOUT, "outcome": "won"}]},
            "“rollouts[0].outcome” was expected to be one of passed, failed, error, unscored",
        ),
        (
            "get_rollouts",
            {"run": RUN, "rollouts": [{**ROLLOUT, "passed": "yes"}]},
            "“rollouts[0].passed” was expected to be true or false",
        ),
        (
            "get_rollouts",
            {"run": RUN, "rollouts": [], "nextCursor": "1"},
            "“nextCursor” was expected to lead on",
        ),
        (
            "get_rollouts",
            {"run": RUN, "rollouts": [ROLLOUT], "nextCursor": "1"},
            "“nextCursor” was expected to lead on",
        ),
        ("create_run", {"runId": 7, "total": 1}, "“runId” was expected to be a text"),
        ("get_training_job", {"job": {"id": "j"}}, "“job.status” was expected in it"),
        ("whoami", {"name": "a", "prefix": "rk_1"}, "“scope” was expected in it"),
        ("push_environment", [], "an object was expected"),
        ("whoami", "", "“name” was expected in it"),
    ],
)
def test_an_answer_that_is_not_as_published_is_told_by_its_field(
    ask: Ask, method: str, answer: Any, words: str
) -> None:
    arguments: dict[str, Any] = {"create_run": ("desk", "noop"), "push_environment": ({},)}
    named = arguments.get(method, () if method in ("list_environments", "list_runs", "whoami") else ("r",))
    with ChatServer([http(200, answer)]) as server:
        error = refusal(ask, origin(server), method, *named)
        assert words in error.message
        assert error.message.startswith(f"{origin(server)} answered otherwise than a rollout platform does: ")
        assert "Is it the right endpoint?" in str(error.hint)


def test_a_whole_number_may_be_written_with_a_point(ask: Ask) -> None:
    usage = {"input_tokens": 7.0, "output_tokens": 0.0, "cost": 2.0}
    answer = {"runs": [{**RUN, "n": 5.0, "passed": 3.0, "successRate": 1.0, "usage": usage}]}
    with ChatServer([http(200, answer)]) as server:
        (run,) = ask(origin(server), "list_runs")
    counts = [run["n"], run["passed"], run["usage"]["input_tokens"], run["usage"]["output_tokens"]]
    assert (counts, {type(count) for count in counts}) == ([5, 3, 7, 0], {int})
    assert [type(rate) for rate in (run["successRate"], run["usage"]["cost"])] == [float, float]
    for odd in (5.5, -5.0, 1e300):
        with ChatServer([http(200, {"runs": [{**RUN, "n": odd}]})]) as server:
            assert (
                "“runs[0].n” was expected to be a whole" in refusal(ask, origin(server), "list_runs").message
            )


@pytest.mark.parametrize("text", ["NaN", "1e999", '"\\ud800"', "\ufeff{}"])
def test_what_json_cannot_say_is_not_taken_for_an_answer(ask: Ask, text: str) -> None:
    answer = http(200, '{"environments": [' + text + "]}", content_type="application/json")
    with ChatServer([answer]) as server:
        assert "answered with what is no JSON" in refusal(ask, origin(server)).message


def test_nobody_listens(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    error = refusal(ask, address)
    assert error.status == 0
    assert error.message.startswith(f"{address} did not answer: ")
    assert "--endpoint local needs neither network nor account" in str(error.hint)
    # What never arrived is sent again, whatever it is.
    assert refusal(ask, address, "create_run", "a", "noop").hint == error.hint


def test_there_is_no_such_host(ask: Ask) -> None:
    error = refusal(ask, "http://nowhere.invalid")
    assert error.message.startswith("http://nowhere.invalid did not answer: ")


def test_what_answers_speaks_no_http(ask: Ask) -> None:
    def babbles(connection: Connection) -> None:
        connection.send(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        connection.over = True

    with ChatServer([babbles]) as server:
        assert refusal(ask, origin(server)).status == 0
    with ChatServer([], tls=True) as server:
        assert refusal(ask, origin(server).replace("https", "http")).status == 0
    with ChatServer([http(200, {})]) as server:
        assert refusal(ask, origin(server).replace("http", "https")).status == 0


def test_a_certificate_that_nobody_vouches_for_is_not_taken(ask: Ask) -> None:
    with ChatServer([http(200, {"environments": []})], tls=True) as server:
        error = refusal(ask, origin(server))
        assert server.asked == []
    assert "certificate" in error.message.lower()


def test_an_answer_without_end_is_given_up(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollout.platform.client._LARGEST", 1 << 20)
    with ChatServer([without_end]) as server:
        error = refusal(ask, origin(server))
    assert error.message == f"{origin(server)} sends more than 1 MB, which is no answer of a platform."


@pytest.mark.parametrize("address", ["http://a..b", "http://xn--a", "http://" + "a" * 300])
def test_an_address_that_is_none_is_told_of(ask: Ask, address: str) -> None:
    assert refusal(ask, address).message.startswith(f"{address} ")


def test_a_proxy_that_is_no_address_is_told_of(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://proxy")
    assert "HTTP_PROXY" in str(refusal(ask, "http://nowhere.invalid").hint)


@pytest.mark.parametrize("slug", ["", ".", ".."])
def test_what_is_no_name_is_not_asked_for(ask: Ask, slug: str) -> None:
    with ChatServer([http(200, {})]) as server:
        error = refusal(ask, origin(server), "get_environment", slug)
        assert server.asked == []
    assert error.message == f"“{slug}” is no name."


def test_a_name_stays_one_part_of_the_path(ask: Ask) -> None:
    with ChatServer([http(200, {"run": RUN})]) as server:
        ask(origin(server), "get_run", "../keys?x=1#é")
    assert server.asked[0].path == "/api/runs/..%2Fkeys%3Fx%3D1%23%C3%A9"


def test_what_json_cannot_say_is_not_sent(ask: Ask) -> None:
    with ChatServer([http(200, {})]) as server:
        error = refusal(ask, origin(server), "push_environment", {"config": float("nan")})
        assert server.asked == []
    assert error.message.startswith("What was to be sent cannot be said in JSON")


def test_published_methods_give_what_they_gave(ask: Ask) -> None:
    rollouts = [
        {**ROLLOUT, "id": each, "passed": passed} for each, passed in (("a", True), ("b", False), ("c", None))
    ]
    with ChatServer([http(200, {"run": RUN, "rollouts": rollouts})]) as server:
        address = origin(server)
        assert ask(address, "get_run", "r") == {"run": RUN}
        assert ask(address, "get_run", "r", include_rollouts=True) == {
            "run": RUN,
            "rollouts": rollouts,
        }
        assert ask(address, "get_rollouts", "r") == rollouts
        assert ask(address, "passing_rollout_ids", "r") == ["a"]
        server.play(http(200, {"runs": [{**RUN, "id": str(number)} for number in range(30)]}))
        assert [run["id"] for run in ask(address, "list_runs")] == [str(number) for number in range(20)]
        server.play(http(200, {"jobs": [JOB]}))
        assert ask(address, "list_training_jobs") == [JOB]
        server.play(http(200, {"job": JOB}))
        assert ask(address, "get_training_job", "j") == JOB
        assert (server.asked[0].method, server.asked[0].path) == ("POST", "/api/training-jobs/j/refresh")
        server.play(http(200, {"id": "j", "providerJobId": "p"}))
        job = {"source_run_id": "r", "rollout_ids": ["a"], "base_model": "openai/gpt-4o-mini", "suffix": "v1"}
        assert ask(address, "create_training_job", **job)["id"] == "j"
        assert server.asked[0].body == {
            "sourceRunId": "r",
            "rolloutIds": ["a"],
            "baseModel": "openai/gpt-4o-mini",
            "method": "sft",
            "suffix": "v1",
        }


def test_pages_of_rollouts_are_put_together(ask: Ask) -> None:
    pages = [
        http(200, {"run": RUN, "rollouts": [ROLLOUT], "nextCursor": "0.1"}),
        http(200, {"run": RUN, "rollouts": [{**ROLLOUT, "id": "b"}], "nextCursor": None}),
    ]
    with ChatServer(pages) as server:
        assert [each["id"] for each in ask(origin(server), "get_rollouts", "r")] == ["a", "b"]
    assert server.asked[1].path.endswith("cursor=0.1")


OVER = {**RUN, "status": "done", "progress": 1}


def told(*events: tuple[str, str, Any], more: str = "") -> Act:
    """Server-sent events, and then the end of the connection."""
    body = "".join(f"id: {each}\nevent: {kind}\ndata: {json.dumps(data)}\n\n" for kind, each, data in events)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"

    def act(connection: Connection) -> None:
        connection.send(head + (body + more).encode())
        connection.over = True

    return act


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollout.platform.client.time.sleep", lambda seconds: None)

    async def sleep(seconds: float) -> None:
        return None

    monkeypatch.setattr("rollout.platform.client.asyncio.sleep", sleep)


@pytest.mark.usefixtures("no_waiting")
def test_a_run_is_followed_over_broken_connections_and_nothing_is_told_twice(ask: Ask) -> None:
    answers = [
        told(("progress", "1", RUN), more=': still there\n\nevent: rollout\nid: 2\ndata: {"id": "cut'),
        drops,
        told(("rollout", "2", ROLLOUT), ("noise", "3", {}), ("end", "3", OVER)),
    ]
    with ChatServer(answers) as server:
        events = ask(origin(server), "watch_run", "r")
    assert [(event.kind, event.data["id"]) for event in events] == [
        ("progress", "r"),
        ("rollout", "a"),
        ("end", "r"),
    ]
    assert [asked.headers.get("last-event-id") for asked in server.asked] == [None, "1", "1"]


@pytest.mark.usefixtures("no_waiting")
def test_a_run_of_a_server_without_events_is_looked_at_now_and_then(ask: Ask) -> None:
    answers = [
        http(404, {"error": "not found"}),
        http(200, {"run": RUN}),
        http(200, {"run": {**OVER, "status": "completed"}}),
    ]
    with ChatServer(answers) as server:
        events = ask(origin(server), "watch_run", "r")
    assert [event.kind for event in events] == ["progress", "end"]


@pytest.mark.usefixtures("no_waiting")
def test_a_run_is_looked_at_where_a_stream_ends_that_told_nothing(ask: Ask) -> None:
    answers = [
        told(),
        http(200, {"run": RUN}),
        told(("rollout", "1", ROLLOUT)),
        told(),
        http(200, {"run": OVER}),
    ]
    with ChatServer(answers) as server:
        events = ask(origin(server), "watch_run", "r")
    assert [event.kind for event in events] == ["progress", "rollout", "end"]


@pytest.mark.usefixtures("no_waiting")
def test_a_run_whose_streams_tell_nothing_again_and_again_is_only_looked_at(ask: Ask) -> None:
    nothing = [each for _ in range(6) for each in (told(more=": still there\n\n"), http(200, {"run": RUN}))]
    with ChatServer([*nothing, http(200, {"run": RUN}), http(200, {"run": OVER})]) as server:
        events = ask(origin(server), "watch_run", "r")
        assert [asked.path.endswith("/events") for asked in server.asked] == [True, False] * 6 + [False] * 2
    assert [event.kind for event in events] == ["progress"] * 7 + ["end"]


@pytest.mark.usefixtures("no_waiting")
def test_text_may_have_what_only_python_takes_for_a_line_break(ask: Ask) -> None:
    name = "a\u2028b\x85c"
    body = json.dumps({**OVER, "name": name}, ensure_ascii=False)
    with ChatServer([told(more=f"event: end\ndata: {body}\n\n")]) as server:
        (event,) = ask(origin(server), "watch_run", "r")
    assert event.data["name"] == name


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize("kind", ["progress", "rollout", "end", "left"])
def test_an_event_that_is_no_json_is_an_error(ask: Ask, kind: str) -> None:
    with ChatServer([told(more=f"event: {kind}\ndata: {{\n\n")]) as server:
        error = refusal(ask, origin(server), "watch_run", "r")
    assert f"JSON was expected in its event “{kind}”" in error.message


@pytest.mark.usefixtures("no_waiting")
def test_a_run_that_cannot_be_followed_says_why(ask: Ask) -> None:
    with ChatServer([http(404, {"error": "There is no run “r”."})]) as server:
        assert refusal(ask, origin(server), "watch_run", "r").message == "There is no run “r”."
    with ChatServer([drops]) as server:
        error = refusal(ask, origin(server), "watch_run", "r")
    assert "does not answer any more" in error.message
    assert error.hint == "The run goes on there. Look at it later with `rollout show`."


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("progress", {"id": "r"}, "“status” was expected in it"),
        ("end", {**RUN, "n": None}, "“n” was expected to be a whole number from 0 on"),
        ("rollout", {**ROLLOUT, "score": "high"}, "“score” was expected to be a number"),
        ("left", {"error": "Nobody executes it.", "hint": "Go on."}, "Nobody executes it."),
        ("left", [], "Nobody executes this run."),
    ],
)
def test_an_event_that_is_not_as_it_should_be_ends_the_watching(
    ask: Ask, kind: str, data: Any, words: str
) -> None:
    with ChatServer([told((kind, "1", data))]) as server:
        assert words in refusal(ask, origin(server), "watch_run", "r").message
