"""Which provider a model's id means, where it is asked, and with which key."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from servers.chat import ChatServer, says

from rollout.models import (
    ConnectError,
    MissingKeyError,
    Request,
    RolloutKey,
    Sampling,
    Setup,
    UnknownModelError,
    connect,
)
from rollout.models._chat import ChatModel
from rollout.models._prices import price_of
from rollout.models._redaction import redact
from rollout.settings import Price, ProviderSettings, Settings

KEYS = {
    "OPENAI_API_KEY": "openai-key",
    "AI_GATEWAY_API_KEY": "gateway-key",
    "TOGETHER_API_KEY": "together-key",
    "FIREWORKS_API_KEY": "fireworks-key",
}


def connected(model_id: str, environ: Mapping[str, str] = KEYS, **providers: ProviderSettings) -> ChatModel:
    model = connect(model_id, Setup(Settings(providers), environ))
    assert isinstance(model, ChatModel)
    return model


@pytest.mark.parametrize(
    ("model_id", "address", "name", "key"),
    [
        ("openai/gpt-4o-mini", "https://api.openai.com/v1", "gpt-4o-mini", "openai-key"),
        (
            "openai/ft:gpt-4o-mini:acme::9",
            "https://api.openai.com/v1",
            "ft:gpt-4o-mini:acme::9",
            "openai-key",
        ),
        (
            "anthropic/claude-haiku-4.5",
            "https://ai-gateway.vercel.sh/v1",
            "anthropic/claude-haiku-4.5",
            "gateway-key",
        ),
        ("gateway/openai/gpt-5", "https://ai-gateway.vercel.sh/v1", "openai/gpt-5", "gateway-key"),
        (
            "together/meta-llama/Llama-3-8b",
            "https://api.together.xyz/v1",
            "meta-llama/Llama-3-8b",
            "together-key",
        ),
        (
            "fireworks/accounts/a/models/b",
            "https://api.fireworks.ai/inference/v1",
            "accounts/a/models/b",
            "fireworks-key",
        ),
        ("desk/llama/3:8b", "http://127.0.0.1:8000/v1", "llama/3:8b", "desk-key"),
    ],
)
def test_an_id_means_a_provider_an_address_and_a_key(
    model_id: str, address: str, name: str, key: str
) -> None:
    desk = ProviderSettings("http://127.0.0.1:8000/v1/", "DESK_KEY")
    model = connected(model_id, {**KEYS, "DESK_KEY": " desk-key\n"}, desk=desk)
    assert model.id == model_id
    assert model.model == name
    assert model.provider.address == f"{address}/chat/completions"
    assert model.provider.headers["Authorization"] == f"Bearer {key}"
    assert key not in repr(model.provider)


def test_a_server_in_the_settings_comes_before_the_gateway() -> None:
    here = connected("anthropic/claude", anthropic=ProviderSettings("http://127.0.0.1:1/v1"))
    assert here.provider.address == "http://127.0.0.1:1/v1/chat/completions"
    assert "Authorization" not in here.provider.headers


def test_the_gateway_takes_the_token_that_its_host_gives() -> None:
    model = connected("xai/grok-4.6", {"VERCEL_OIDC_TOKEN": "oidc-token"})
    assert model.provider.headers["Authorization"] == "Bearer oidc-token"


def test_openai_means_the_server_that_the_environment_names() -> None:
    model = connected("openai/gpt-4o-mini", {"OPENAI_BASE_URL": "http://localhost:11434/v1"})
    assert model.provider.address == "http://localhost:11434/v1/chat/completions"
    assert "Authorization" not in model.provider.headers
    assert model.provider.max_tokens_key == "max_tokens"
    assert model.price is None
    assert connected("openai/gpt-4o-mini").provider.max_tokens_key == "max_completion_tokens"


@pytest.mark.parametrize(
    ("model_id", "wanted"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("together/a/b", "TOGETHER_API_KEY"),
        ("fireworks/a", "FIREWORKS_API_KEY"),
        ("anthropic/claude-haiku-4.5", "AI_GATEWAY_API_KEY or VERCEL_OIDC_TOKEN"),
        ("desk/llama", "DESK_KEY"),
    ],
)
def test_a_missing_key_is_asked_for_by_its_variable(model_id: str, wanted: str) -> None:
    with pytest.raises(MissingKeyError, match=f"wants a key, and {wanted} is not set") as caught:
        connected(model_id, {"OPENAI_API_KEY": " "}, desk=ProviderSettings("http://127.0.0.1:1", "DESK_KEY"))
    assert caught.value.hint.startswith(f"Set {wanted} to the key")


def test_a_misspelt_provider_is_told_from_a_vendor() -> None:
    with pytest.raises(MissingKeyError) as caught:
        connected("opnai/gpt-4o-mini", {})
    assert caught.value.hint.endswith("Did you mean “openai/gpt-4o-mini”?")


@pytest.mark.parametrize(
    "model_id", ["openai", "openai/", "openai:gpt-4o", "together/ ", "gateway/", "gateway/openai"]
)
def test_an_id_that_names_no_model_is_refused(model_id: str) -> None:
    with pytest.raises(UnknownModelError, match="does not say"):
        connected(model_id)


@pytest.mark.parametrize(
    "address", ["", "localhost:8000", "ftp://a/v1", "http://", "http://[::1", "http://a:b/v1"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ConnectError, match="The address of “desk” is no web address") as caught:
        connected("desk/llama", desk=ProviderSettings(address))
    assert "http://…" in caught.value.hint


def test_a_login_in_an_address_becomes_a_header_that_nobody_sees() -> None:
    model = connected("desk/llama", desk=ProviderSettings("http://joe:hunter22@127.0.0.1:9/v1"))
    assert model.provider.address == "http://127.0.0.1:9/v1/chat/completions"
    assert model.provider.headers["Authorization"] == "Basic am9lOmh1bnRlcjIy"
    assert "hunter22" in model.provider.secrets
    assert "hunter22" not in repr(model.provider)


def test_a_header_takes_its_secret_from_the_environment() -> None:
    desk = ProviderSettings("http://127.0.0.1:9/v1", headers={"api-key": "${env.AZURE_KEY}", "X-Team": "a"})
    model = connected("desk/llama", {"AZURE_KEY": "azure-secret"}, desk=desk)
    assert dict(model.provider.headers) == {"api-key": "azure-secret", "X-Team": "a"}
    assert model.provider.secrets == ("azure-secret",)
    with pytest.raises(MissingKeyError, match="The header “api-key” of “desk” wants AZURE_KEY"):
        connected("desk/llama", {}, desk=desk)


@pytest.mark.parametrize("key", ["two\nlines", "typographic–dash"])
def test_a_key_that_no_header_may_have_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ConnectError, match="the key in OPENAI_API_KEY has characters") as caught:
        connected("openai/gpt-4o-mini", {"OPENAI_API_KEY": key})
    assert key not in f"{caught.value}{caught.value.hint}"


def test_the_limit_of_an_answer_goes_by_the_name_that_the_server_knows() -> None:
    desk = {"max_tokens_key": "max_completion_tokens"}
    with ChatServer([says()]) as server:

        async def run() -> None:
            model = connected("desk/llama", desk=ProviderSettings(server.address, **desk))
            await model.respond(Request((), (), Sampling(max_tokens=5), RolloutKey("e", "t")))
            await model.close()

        asyncio.run(run())
        assert server.asked[0].body["max_completion_tokens"] == 5


def test_prices_come_from_the_settings_then_from_the_table_and_else_are_unknown() -> None:
    settings = Settings(prices={"openai/gpt-4o-mini": Price(1, 2)})
    assert price_of("openai/gpt-4o-mini", settings) == Price(1, 2)
    assert price_of("openai/gpt-4o-mini", Settings()) == Price(0.15, 0.6, 0.075)
    assert price_of("openai/gpt-4o-mini-2024-07-18", Settings()) == Price(0.15, 0.6, 0.075)
    assert price_of("openai/gpt-4o-mini", Settings(), listed=False) is None
    assert price_of("openai/gpt-99", Settings()) is None


def test_a_price_counts_kept_tokens_at_their_own_rate() -> None:
    assert Price(1.0, 4.0, 0.1).of(1_000_000, 500_000, 400_000) == pytest.approx(0.6 + 0.04 + 2.0)
    assert Price(1.0, 4.0).of(1_000_000, 0, 400_000) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Incorrect API key provided: sk-abc***xyz.", "Incorrect API key provided: [hidden]"),
        ("Authorization: Bearer abcdefgh12345", "Authorization: Bearer [hidden]"),
        ("see http://joe:pass@host/x", "see http://[hidden]@host/x"),
        ("a secret-of-mine here", "a [hidden] here"),
        ("nothing to hide: sketchy key words", "nothing to hide: sketchy key words"),
    ],
)
def test_keys_are_taken_out_of_texts(text: str, shown: str) -> None:
    assert redact(text, ("secret-of-mine",)) == shown
