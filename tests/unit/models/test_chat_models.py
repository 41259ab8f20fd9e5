"""Models behind the chat-completions protocol, asked through the real client at a real server that misbehaves."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from random import Random
from typing import Any

import pytest
from servers.chat import (
    CERTIFICATE,
    Act,
    ChatServer,
    babbles,
    breaks_off,
    call,
    completion,
    drops,
    hangs,
    http,
    in_chunks,
    refuses,
    says,
    trickles,
    without_end,
)

from rollout.models import (
    Call,
    Conversation,
    ModelError,
    Patience,
    Request,
    RolloutKey,
    Sampling,
    Setup,
    Turn,
    Usage,
    connect,
)
from rollout.settings import Price, ProviderSettings, Settings
from rollout.templates import Tool

KEY = "sk-desk-4f6c5cce93aa71"
TOOLS = (Tool("ping", "Says pong.", {"type": "object", "properties": {"n": {"type": "integer"}}}),)
QUICK = Patience(attempts=4, call=0.3, total=20, connect=1, first=0.001, longest=0.002)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


def setup(server: ChatServer, *, patience: Patience = QUICK, **provider: Any) -> Setup:
    settings = Settings({"desk": ProviderSettings(server.address, "DESK_KEY", **provider)})
    return Setup(settings, {"DESK_KEY": KEY}, 4, patience)


def request(sampling: Sampling | None = None, *more: Mapping[str, Any]) -> Request:
    messages = Conversation([{"role": "user", "content": "Ping twice, Zoë."}, *more])
    return Request(messages, TOOLS, sampling or Sampling(), RolloutKey("desk", "t"))


def respond(connected: Setup, asked: Request | None = None, model_id: str = "desk/llama-3") -> Turn:
    async def run() -> Turn:
        model = connect(model_id, connected)
        try:
            return await model.respond(asked or request())  # type: ignore[arg-type]
        finally:
            await model.close()

    return asyncio.run(run())


def failure(connected: Setup, asked: Request | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        respond(connected, asked)
    assert KEY not in f"{caught.value} {caught.value.hint} {caught.value.exchange}"
    return caught.value


# What is sent


def test_a_request_has_the_conversation_the_tools_the_sampling_and_the_key(server: ChatServer) -> None:
    server.play(says())
    respond(setup(server, headers={"X-Team": "support"}), request(Sampling(0.3, 0.9, 7, 100)))
    asked = server.asked[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["x-team"] == "support"
    assert asked.body == {
        "model": "llama-3",
        "messages": [{"role": "user", "content": "Ping twice, Zoë."}],
        "tools": [
            {
                "type": "function",
                "function": {"name": "ping", "description": "Says pong.", "parameters": TOOLS[0].parameters},
            }
        ],
        "temperature": 0.3,
        "top_p": 0.9,
        "seed": 7,
        "max_tokens": 100,
    }


def test_what_is_not_set_is_not_sent(server: ChatServer) -> None:
    server.play(says())
    respond(setup(server), replace(request(), tools=()))
    assert server.asked[0].body == {
        "model": "llama-3",
        "messages": [{"role": "user", "content": "Ping twice, Zoë."}],
    }


@pytest.mark.parametrize("sends", [False, True])
def test_thoughts_are_shown_to_the_model_again_only_where_its_server_wants_them(
    server: ChatServer, sends: bool
) -> None:
    server.play(says())
    earlier = {"role": "assistant", "content": "Hm.", "reasoning_content": "Deep thoughts."}
    respond(setup(server, send_reasoning=sends), request(None, earlier))
    assert ("reasoning_content" in server.asked[0].body["messages"][1]) is sends


def test_turns_of_many_rollouts_go_over_as_many_connections_as_ask_at_once(server: ChatServer) -> None:
    server.play(says())

    async def run() -> None:
        model = connect("desk/llama-3", setup(server))
        await asyncio.gather(*(model.respond(request()) for _ in range(40)))  # type: ignore[arg-type]
        await model.close()

    asyncio.run(run())
    assert len(server.asked) == 40
    assert server.connections <= 4


def test_what_is_asked_a_second_time_is_told_and_both_are_charged(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rollout.models._second.LEAST", 0.05)
    monkeypatch.setattr("rollout.models._second.FEWEST", 1)
    monkeypatch.setattr("rollout.models._second.TIMES", 0.0)
    server.play(says("Quick."), hangs, says("Second."))

    async def run() -> list[Turn]:
        model = connect("desk/llama-3", setup(server, patience=replace(QUICK, call=20)))
        turns = [await model.respond(request()) for _ in range(2)]  # type: ignore[arg-type]
        await model.close()
        return turns

    quick, late = asyncio.run(run())
    assert late.text == "Second."
    assert late.usage == quick.usage + quick.usage
    assert late.exchange is not None
    [told] = late.exchange.retries
    assert told.startswith("“desk” had not answered after 0.")
    assert told.endswith("far longer than before, and was asked for it a further time.")


def test_a_large_conversation_is_sent_whole(server: ChatServer) -> None:
    server.play(says())
    respond(
        setup(server, patience=replace(QUICK, call=20)),
        request(None, {"role": "user", "content": "é" * 2_000_000}),
    )
    assert len(server.asked[0].body["messages"][1]["content"]) == 2_000_000


# What is answered


def test_an_answer_is_a_turn_with_its_usage_and_how_it_was_had(server: ChatServer) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 200,
        "total_tokens": 1200,
        "prompt_tokens_details": {"cached_tokens": 600},
        "completion_tokens_details": {"reasoning_tokens": 150},
    }
    calls = [call("ping", '{"n":1}', "a"), call("ping", "not json", "b")]
    server.play(
        says("Let me see.", calls=calls, finish="tool_calls", usage=usage, reasoning_content="Thinking.")
    )
    connected = setup(server)
    priced = replace(
        connected, settings=replace(connected.settings, prices={"desk/llama-3": Price(1.0, 10.0, 0.1)})
    )
    turn = respond(priced)
    assert turn.text == "Let me see."
    assert turn.calls == (Call("a", "ping", '{"n":1}'), Call("b", "ping", "not json"))
    assert turn.reasoning == "Thinking."
    assert turn.kind == "calls"
    assert turn.usage == Usage(1000, 200, pytest.approx(0.00246), 600, 150)
    assert turn.exchange is not None
    assert (turn.exchange.finish, turn.exchange.served_by) == ("tool_calls", "served-model")
    assert (turn.exchange.retries, turn.exchange.remarks, turn.exchange.raw) == ((), (), None)


def test_a_price_that_is_not_known_is_not_nothing(server: ChatServer) -> None:
    server.play(says())
    assert respond(setup(server)).usage == Usage(100, 10, None)


@pytest.mark.parametrize(
    "usage", [{}, [], {"prompt_tokens": None, "completion_tokens": 3}, {"prompt_tokens": -1}]
)
def test_usage_that_is_not_told_is_unmetered(server: ChatServer, usage: Any) -> None:
    server.play(says(usage=usage))
    assert respond(setup(server)).usage == Usage(unmetered=1)


def test_thoughts_that_are_counted_apart_are_output_too(server: ChatServer) -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 115,
        "completion_tokens_details": {"reasoning_tokens": 100},
    }
    server.play(says(usage=usage))
    assert respond(setup(server)).usage == Usage(10, 105, None, 0, 100)


MENDED = {
    "arguments that are an object": (
        {"calls": [call("ping", {"n": 1})]},
        ("", (Call("call_1", "ping", '{"n":1}'),)),
    ),
    "arguments that are null": ({"calls": [call("ping", None)]}, ("", (Call("call_1", "ping", ""),))),
    "a call without an id": ({"calls": [call(call_id=None)]}, ("", (Call("", "ping", "{}"),))),
    "a call whose id is a number": ({"calls": [call(call_id=7)]}, ("", (Call("7", "ping", "{}"),))),
    "calls with one id and one index": (
        {"calls": [call("ping", '{"n":1}', index=0), call("ping", '{"n":2}', index=0)]},
        ("", (Call("call_1", "ping", '{"n":1}'), Call("call_1", "ping", '{"n":2}'))),
    ),
    "a function_call of old": (
        {"function_call": {"name": "ping", "arguments": "{}"}},
        ("", (Call("", "ping", "{}"),)),
    ),
    "a custom call": (
        {"calls": [{"id": "c", "type": "custom", "custom": {"name": "ping", "input": "as it is"}}]},
        ("", (Call("c", "ping", "as it is"),)),
    ),
    "content in parts": (
        {
            "content": [
                {"type": "thinking", "thinking": "…"},
                {"type": "text", "text": "Do"},
                {"type": "text", "text": "ne."},
            ]
        },
        ("Done.", ()),
    ),
    "a refusal": ({"content": None, "refusal": "I will not."}, ("I will not.", ())),
    "no content": ({"content": None}, ("", ())),
    "no calls": ({"content": "Done.", "tool_calls": []}, ("Done.", ())),
    "half a character": ({"content": "Done \ud83d"}, ("Done \ufffd", ())),
}


@pytest.mark.parametrize("name", MENDED)
def test_an_odd_answer_is_read_where_its_meaning_is_certain(server: ChatServer, name: str) -> None:
    told, (text, calls) = MENDED[name]
    server.play(says(**{"content": None, **told}))
    turn = respond(setup(server))
    assert (turn.text, turn.calls) == (text, calls)
    assert turn.exchange is not None
    mended = name not in ("no content", "no calls", "a custom call", "arguments that are null")
    assert bool(turn.exchange.remarks) is mended
    assert (turn.exchange.raw is not None) is mended


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"content": "", "reasoning": "Hm."}, "reasoning"),
        ({"content": " \n"}, "empty"),
        ({"content": None, "finish": "length", "reasoning_content": "Hm…"}, "reasoning"),
        ({"content": "Done."}, "text"),
    ],
)
def test_a_turn_says_what_it_has(server: ChatServer, told: dict[str, Any], kind: str) -> None:
    server.play(says(**told))
    turn = respond(setup(server))
    assert turn.kind == kind
    assert turn.exchange is not None
    assert turn.exchange.finish == told.get("finish", "stop")


MALFORMED: dict[str, tuple[Act, str]] = {
    "nothing": (http(200, b""), "it is empty"),
    "no JSON": (http(200, '{"choices": [{"mess'), "it is not JSON from byte 20 on"),
    "NaN": (http(200, '{"choices": NaN}'), "it is not JSON from byte 13 on"),
    "a list": (http(200, []), "it is JSON, but no object"),
    "no choices": (http(200, {"choices": []}), "it has no choices"),
    "choices of another type": (http(200, {"choices": {"0": {}}}), "it has no choices"),
    "no message": (http(200, {"choices": [{"text": "Done."}]}), "its choice has no message"),
    "content that is a number": (says(7), "its content is no text"),
    "a part that is an image": (says([{"type": "image_url"}]), "a part of its content is no text"),
    "calls that are an object": (says(calls={"0": call()}), "its tool_calls are no list"),
    "a call that is a text": (says(calls=["ping()"]), "a tool call is no object"),
    "a call without a function": (says(calls=[{"id": "a"}]), "a tool call has no function"),
    "a page": (http(200, "<html>Log in</html>"), "it is a page, not JSON"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_answer_is_asked_for_again(server: ChatServer, name: str) -> None:
    answer, why = MALFORMED[name]
    server.play(answer, says())
    turn = respond(setup(server))
    assert turn.text == "Done."
    assert turn.exchange is not None
    assert turn.exchange.retries == (f"The answer of “llama-3” is no chat completion: {why}.",)


def test_answers_that_stay_malformed_are_charged_to_the_model_with_what_they_used(server: ChatServer) -> None:
    server.play(says(7))
    error = failure(setup(server))
    assert str(error) == (
        "The answer of “llama-3” is no chat completion: its content is no text. It was asked 4 times."
    )
    assert error.charged_to == "model"
    assert error.exchange is not None
    assert error.exchange.usage == Usage(400, 40)
    assert len(error.exchange.retries) == 3


@pytest.mark.parametrize("name", [None, " "])
def test_a_call_without_a_name_is_of_no_tool_and_its_siblings_are_made(
    server: ChatServer, name: str | None
) -> None:
    server.play(says(calls=[call(name, call_id="a"), call("ping", call_id="b")]))
    turn = respond(setup(server))
    assert [(each.id, each.tool) for each in turn.calls] == [("a", "no-name-given"), ("b", "ping")]
    assert turn.exchange is not None
    assert turn.exchange.remarks == ("A call has no name; it stands here as “no-name-given”.",)


@pytest.mark.parametrize("body", [b"", b"<html>Log in</html>", b'{"choices": [{"mess'])
def test_what_is_no_json_is_charged_to_the_infrastructure(server: ChatServer, body: bytes) -> None:
    server.play(http(200, body))
    assert failure(setup(server, patience=replace(QUICK, attempts=2))).charged_to == "infrastructure"


def test_an_answer_of_bytes_that_are_no_text_is_asked_for_again_and_charged_to_the_infrastructure(
    server: ChatServer,
) -> None:
    server.play(http(200, b'{"choices":[{"message":{"content":"\xff\xfe"}}]}'))
    error = failure(setup(server, patience=replace(QUICK, attempts=2)))
    assert "is no chat completion: it is not UTF-8 from byte 36 on." in str(error)
    assert error.charged_to == "infrastructure"
    assert len(server.asked) == 2


def test_a_key_that_a_server_says_back_is_not_kept(server: ChatServer) -> None:
    server.play(says(f"I saw Bearer {KEY}", calls=[call("ping", json.dumps({"key": KEY}))]))
    turn = respond(setup(server))
    assert KEY not in repr(turn)
    assert turn.text == "I saw Bearer [hidden]"
    assert turn.calls[0].arguments == '{"key": "[hidden]"}'
    assert turn.exchange is not None
    assert "A key stood in it, and is hidden." in turn.exchange.remarks


def test_an_answer_of_unknown_length_is_read_whole(server: ChatServer) -> None:
    server.play(in_chunks(completion("Done.")))
    assert respond(setup(server)).text == "Done."


def test_an_answer_without_end_is_given_up(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollout.models._http.LARGEST", 4 * 2**20)
    server.play(without_end)
    error = failure(setup(server, patience=replace(QUICK, attempts=1, call=20)))
    assert str(error) == "“desk” answered with more than 4 MiB."
    assert error.charged_to == "model"


def test_an_answer_that_a_filter_cut_off_is_charged_to_the_model(server: ChatServer) -> None:
    server.play(says("The way to", finish="content_filter"))
    error = failure(setup(server))
    assert str(error) == "The answer of “llama-3” was cut off by the filter of “desk”."
    assert error.charged_to == "model"
    assert len(server.asked) == 1
    assert error.exchange is not None
    assert error.exchange.usage == Usage(100, 10)


# What passes


PASSING: dict[str, tuple[Act, str]] = {
    "408": (refuses(408, "Slow."), "“desk” answered 408: Slow."),
    "409": (refuses(409, "Locked"), "“desk” answered 409: Locked."),
    "429": (refuses(429, "Rate limit reached"), "“desk” answered 429: Rate limit reached."),
    "500": (refuses(500, "The server had an error"), "“desk” answered 500: The server had an error."),
    "502 with a page": (
        http(502, "<html><title>Bad Gateway</title></html>"),
        "“desk” answered 502: Bad Gateway.",
    ),
    "503 with nothing": (http(503, b""), "“desk” answered 503."),
    "an empty 204": (http(204, b""), "“desk” answered with status 204."),
    "an error in a 200": (
        http(200, {"error": {"code": 429, "message": "Overloaded."}}),
        "“desk” answered 429: Overloaded.",
    ),
    "an error in a 200 without a code": (
        http(200, {"error": "Oops"}),
        "“desk” answered with an error: Oops.",
    ),
    "a hang": (hangs, "“desk” did not answer within 0.3 seconds."),
    "an answer that stalls": (trickles, "“desk” did not answer within 0.3 seconds."),
    "no HTTP": (babbles, "“desk” answered in something that is not HTTP (Bad status line"),
    "a dropped connection": (drops, "“desk” dropped the connection (Server disconnected)."),
    "an answer broken off": (breaks_off, "“desk” dropped the connection (Response payload is not completed"),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_may_pass_is_tried_again_and_told(server: ChatServer, name: str) -> None:
    answer, sentence = PASSING[name]
    server.play(answer, answer, says())
    turn = respond(setup(server))
    assert turn.text == "Done."
    assert turn.exchange is not None
    assert len(turn.exchange.retries) == 2
    assert turn.exchange.retries[0].startswith(sentence.rstrip("."))


@pytest.mark.parametrize("name", PASSING)
def test_what_does_not_pass_is_charged_to_the_infrastructure(server: ChatServer, name: str) -> None:
    answer, sentence = PASSING[name]
    server.play(answer)
    error = failure(setup(server, patience=replace(QUICK, attempts=2)))
    assert str(error).startswith(sentence.rstrip("."))
    assert str(error).endswith("It was asked 2 times.")
    assert error.charged_to == "infrastructure"
    assert not error.hopeless
    assert len(server.asked) == 2


def test_a_server_that_is_not_there_is_tried_three_times(server: ChatServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        address = f"http://127.0.0.1:{gone.getsockname()[1]}/v1"
    connected = Setup(Settings({"desk": ProviderSettings(address)}), {}, 4, replace(QUICK, attempts=8))
    error = failure(connected)
    assert str(error) == "“desk” could not be reached (Connection refused). It was asked 3 times."
    assert error.hint == f"Its address is {address}/chat/completions."
    assert error.charged_to == "infrastructure"


def test_a_certificate_is_trusted_only_where_this_machine_trusts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer([says()], tls=True) as server:
        error = failure(setup(server, patience=replace(QUICK, call=5)))
        assert str(error).startswith("“desk” has no certificate that is trusted here (self")
        assert (error.charged_to, error.hopeless) == ("infrastructure", True)
        assert server.connections == 1
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert respond(setup(server, patience=replace(QUICK, call=5))).text == "Done."


def test_a_server_that_speaks_no_tls_is_not_tried_again(server: ChatServer) -> None:
    connected = setup(server, patience=replace(QUICK, call=5))
    told = replace(connected.settings.providers["desk"], base_url=server.address.replace("http:", "https:"))
    error = failure(replace(connected, settings=Settings({"desk": told})))
    assert str(error).startswith("“desk” could not be reached over TLS (")
    assert (error.charged_to, error.hopeless, server.connections) == ("infrastructure", True, 1)


def test_a_proxy_that_the_environment_names_is_asked(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.play(says())
    monkeypatch.setenv("http_proxy", server.address.removesuffix("/v1"))
    monkeypatch.setenv("no_proxy", "other.test")
    connected = Setup(Settings({"desk": ProviderSettings("http://desk.test/v1")}), {}, 4, QUICK)
    assert respond(connected).text == "Done."
    assert server.asked[0].path == "http://desk.test/v1/chat/completions"


def test_the_time_for_a_turn_bounds_all_attempts(server: ChatServer) -> None:
    server.play(hangs)
    error = failure(
        setup(server, patience=replace(QUICK, total=0.5, call=0.2, attempts=100, first=0.2, longest=0.2))
    )
    assert "The 0.5 seconds for a turn are over." in str(error) or "did not answer" in str(error)
    assert 1 <= len(server.asked) < 10


def waits(
    server: ChatServer, *answers: Act, patience: Patience = QUICK
) -> tuple[list[float], Turn | ModelError]:
    """How long a model would have waited between its attempts."""
    from rollout.models._chat import ChatModel
    from rollout.models._provider import provider

    server.play(*answers)
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    async def run() -> Turn | ModelError:
        here = provider("desk", server.address, {}, key_needed=False)
        model = ChatModel("desk/m", "m", here, Setup(patience=patience), random=Random(1), pause=pause)
        try:
            return await model.respond(request())
        except ModelError as error:
            return error
        finally:
            await model.close()

    return waited, asyncio.run(run())


def test_a_provider_that_says_how_long_to_wait_is_obeyed(server: ChatServer) -> None:
    waited, _ = waits(
        server,
        refuses(429, "Slow down.", retry_after="7"),
        refuses(503, "Later.", retry_after="0.5"),
        refuses(429, "Slow down.", retry_after_ms="1500"),
        says(),
        patience=replace(QUICK, total=100, call=5),
    )
    assert [round(seconds, 1) for seconds in waited] == [7.0, 0.5, 1.5]
    assert all(seconds >= asked for seconds, asked in zip(waited, (7, 0.5, 1.5), strict=True))


def test_a_provider_that_asks_for_too_long_is_not_waited_for(server: ChatServer) -> None:
    waited, error = waits(server, refuses(429, "Come back tomorrow.", retry_after="86400"))
    assert waited == []
    assert isinstance(error, ModelError)
    assert str(error) == (
        "“desk” answered 429: Come back tomorrow. "
        "It asks to be left alone for 86400 seconds, which is too long to wait."
    )
    assert error.charged_to == "infrastructure"


def test_a_provider_that_forbids_another_attempt_is_obeyed(server: ChatServer) -> None:
    waited, error = waits(server, refuses(503, "Never.", x_should_retry="false"))
    assert (waited, str(error)) == ([], "“desk” answered 503: Never.")


def test_a_quota_that_is_used_up_is_not_waited_for(server: ChatServer) -> None:
    waited, error = waits(server, refuses(429, "You exceeded your current quota.", code="insufficient_quota"))
    assert waited == []
    assert isinstance(error, ModelError)
    assert error.hopeless
    assert error.charged_to == "infrastructure"


# What does not pass


REFUSED: dict[str, tuple[Act, str, str, bool]] = {
    "301": (
        http(301, b"", location="https://elsewhere.test"),
        "“desk” sends requests elsewhere (301)",
        "infrastructure",
        True,
    ),
    "401": (
        refuses(401, f"Incorrect API key provided: {KEY}."),
        "“desk” does not accept the key in DESK_KEY: Incorrect API key provided: [hidden].",
        "infrastructure",
        True,
    ),
    "402": (
        http(402, {"error": "Pay first"}),
        "What “desk” may be used for is used up: Pay first.",
        "infrastructure",
        True,
    ),
    "403": (refuses(403, "No."), "“desk” does not let this key use “llama-3”: No.", "infrastructure", True),
    "404": (refuses(404, "No such model"), "“desk” has no “llama-3”: No such model.", "infrastructure", True),
    "405": (
        http(405, b""),
        "“desk” does not take chat completions at http://127.0.0.1:",
        "infrastructure",
        True,
    ),
    "a temperature that is refused": (
        refuses(
            400, "Only the default (1) value is supported.", param="temperature", code="unsupported_value"
        ),
        "“llama-3” does not take temperature = 0.3: Only the default (1) value is supported.",
        "infrastructure",
        True,
    ),
    "a seed that is refused in words": (
        http(422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}),
        "“llama-3” does not take seed = 7: body.seed: Extra inputs are not permitted.",
        "infrastructure",
        True,
    ),
    "max_tokens that is refused": (
        refuses(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."),
        "“llama-3” does not take max_tokens = 100",
        "infrastructure",
        True,
    ),
    "tools that are refused": (
        refuses(400, "Invalid schema for function 'ping'.", param="tools[0].function.parameters"),
        "“llama-3” does not take the tools as they are declared: Invalid schema for function 'ping'.",
        "environment",
        False,
    ),
    "a model without tools": (
        http(400, {"error": "llama-3 does not support tools"}),
        "“llama-3” takes no tools",
        "model",
        True,
    ),
    "a conversation that is too long": (
        refuses(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        "The conversation is longer than “llama-3” can read",
        "model",
        False,
    ),
    "a conversation that is filtered": (
        refuses(400, "The prompt triggered our content management policy.", code="content_filter"),
        "“desk” let nothing of this conversation through its filter",
        "model",
        False,
    ),
    "anything else": (
        refuses(400, "Messages must alternate"),
        "“desk” refused the request (400): Messages must alternate.",
        "model",
        False,
    ),
    "an error in a 200 with its code": (
        http(200, {"error": {"code": "401", "message": "No key."}}),
        "“desk” does not accept the key in DESK_KEY: No key.",
        "infrastructure",
        True,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_said_once_with_a_way_out(server: ChatServer, name: str) -> None:
    answer, sentence, charged_to, hopeless = REFUSED[name]
    server.play(answer)
    error = failure(setup(server), request(Sampling(0.3, seed=7, max_tokens=100)))
    assert str(error).startswith(sentence)
    assert (error.charged_to, error.hopeless) == (charged_to, hopeless)
    assert error.hint
    assert ("--temperature none" in error.hint) == ("take temperature" in sentence)
    assert len(server.asked) == 1


def test_a_key_that_a_server_repeats_is_nowhere(server: ChatServer) -> None:
    server.play(
        http(500, f"Bearer {KEY} is unknown at http://joe:{KEY}@10.0.0.1/"),
        says([{"type": "text", "text": f"key {KEY}"}]),
    )
    turn = respond(setup(server))
    assert turn.exchange is not None
    assert KEY not in json.dumps([turn.exchange.retries, turn.exchange.raw])
    assert "[hidden]" in turn.exchange.retries[0]
    assert KEY not in repr(connect("desk/llama-3", setup(server)).__dict__)
    assert KEY not in repr(setup(server))


def test_a_traced_exchange_is_json(server: ChatServer) -> None:
    server.play(refuses(500, "Oops"), says(calls=[call(arguments={"n": 1})]))
    exchange = respond(setup(server)).exchange
    assert exchange is not None
    assert json.loads(json.dumps(asdict(exchange)))["remarks"]
