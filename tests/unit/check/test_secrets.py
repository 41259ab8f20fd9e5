"""What looks like a secret is found, what only looks long is not, and none is shown whole."""

from __future__ import annotations

import json

import pytest

from rollout.check.secrets import BROKEN_UP, entropy, find_secrets, may_hold_secret

BODY = "Qm7Zt4Lx9RbVqWm7Nc2PfYh8Ds4Ga6Ue1XoJk3T"
SECRETS = {
    "an Anthropic API key": "sk-ant-" + "api03-" + BODY,
    "an OpenAI API key": "sk-" + "proj-" + BODY,
    "a rollout API key": "rk_" + BODY[:24],
    "a Stripe key": "sk_" + "live_" + BODY[:24],
    "a GitHub token": "ghp_" + BODY[:36],
    "a GitLab token": "glpat-" + BODY[:20],
    "an AWS access key": "AKIA" + "Q7XN4TRMZP2KWJ5C",
    "a Google API key": "AIza" + BODY[:35],
    "a Slack token": "xoxb-" + "28716409213-" + BODY[:24],
    "a Hugging Face token": "hf_" + BODY[:34],
    "an npm token": "npm_" + BODY[:36],
    "a JSON Web Token": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiI0ODEyIn0." + BODY,
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\n" + BODY + "\n-----END RSA PRIVATE KEY-----",
    "a Groq API key": "gsk_" + BODY + BODY[:13],
    "a Replicate token": "r8_" + BODY[:37],
    "a Together API key": "tgp_v1_" + BODY + "a9Kd",
    "a Fireworks API key": "fw_" + BODY[:24],
    "an xAI API key": "xai-" + BODY + BODY + "Zq",
    "an OpenRouter API key": "sk-or-v1-" + "4be1f0c72a9d83e5" * 4,
    "a Perplexity API key": "pplx-" + BODY + BODY[:9],
    "an NVIDIA API key": "nvapi-" + BODY + BODY[:25],
    "a LangSmith API key": "lsv2_pt_" + "4be1f0c72a9d83e5" * 2 + "_4be1f0c72a",
    "a bearer token": "Authorization: Bearer " + BODY[:32],
    "an AWS secret access key": "aws_secret_access_key = " + BODY[:20] + "/" + BODY[20:38] + "+",
    "a Google client secret": "GOCSPX-" + BODY[:28],
    "a Slack webhook": "https://hooks.slack.com/services/T024BE7LD/B0ZQ8MW1K/" + BODY[:24],
    "a Stripe webhook secret": "whsec_" + BODY[:32],
    "a Telegram token": "7104829365:AA" + BODY[:33],
    "a Shopify token": "shpat_" + "4be1f0c72a9d83e5" * 2,
    "a DigitalOcean token": "dop_v1_" + "4be1f0c72a9d83e5" * 4,
    "a Databricks token": "dapi" + "4be1f0c72a9d83e5" * 2,
    "a PyPI token": "pypi-AgE" + BODY + BODY,
    "a SendGrid key": "SG." + BODY[:22] + "." + BODY + BODY[:4],
    "a password in a URL": "postgres://shop:" + "tr0ub4dor-and-3" + "@db.internal/shop",
}


@pytest.mark.parametrize(("name", "text"), SECRETS.items(), ids=SECRETS)
def test_a_secret_is_found_inside_a_text_and_never_shown_whole(name: str, text: str) -> None:
    found = list(find_secrets(f"Use {text} for it."))
    assert [each.name for each in found] == [name]
    assert len(found[0].shown) < len(text) * 3 / 4
    assert found[0].shown.removesuffix("…") in text


@pytest.mark.parametrize(("name", "text"), SECRETS.items(), ids=SECRETS)
def test_the_quick_look_passes_no_line_with_a_secret(name: str, text: str) -> None:
    data = json.dumps({"instruction": text}).encode()
    assert may_hold_secret(data) or any(beginning in data for beginning in BROKEN_UP)


@pytest.mark.parametrize(
    "text",
    [
        "risk-management-and-task-list-for-desk-2024-with-many-words",
        "sk-learn-pipeline-with-cross-validation-and-grid",
        "sk-your-api-key-goes-here-0000",
        "AKIAIOSFODNN7EXAMPLE",
        "postgres://postgres:postgres@localhost:5432/shop",
        "postgres://${user}:${password}@db.internal/shop",
        "https://shop.example.com:8080/orders?to=jane@example.com",
        "hf_transformersAndTokenizersForEveryone",
        "hf_" + "abcdefghij" * 4,
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "123e4567-e89b-12d3-a456-426614174000",
        "-----BEGIN PRIVATE KEY-----",
        "rk_xxxxxxxxxxxxxxxxxxxxxxxx",
        "gsk_" + "x" * 52,
        "gsk_your_api_key_goes_here",
        "r8_" + "a1" * 10,
        "fw_20240101releasecandidate",
        "fw_" + "0123456789abcdef01234567",
        "Authorization: Bearer ${GROQ_API_KEY}",
        "Authorization: Bearer <token>",
        "Authorization: Bearer your-api-key-goes-here-please",
        "Bearer token-based-authentication-with-scopes-2024",
        "the bearer 2024-certificates/of/registered/shareholders",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "aws_secret_access_key = os.environ['AWS_SECRET_ACCESS_KEY']",
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "dapifunctionsandtheirarguments",
        "ya29.",
        "order 7104829365:AA-12",
        "",
    ],
)
def test_what_only_looks_long_is_let_be(text: str) -> None:
    assert list(find_secrets(text)) == []


def test_a_token_that_chance_left_without_digits_is_found() -> None:
    (found,) = find_secrets("Use hf_" + "QmZtLxRbVqWmNcPfYhDsGaUeXoJkTwBzKv" + ".")
    assert found.name == "a Hugging Face token"
    assert may_hold_secret(b"hf_" + b"QmZtLxRbVqWmNcPfYhDsGaUeXoJkTwBzKv")


def test_a_usual_task_is_not_looked_at_closely() -> None:
    line = b'{"instruction": "Refund O-1.", "hiddenGroundTruth": {"refunds": [{"order_id": "O-1", "amount": 100}]}}'
    assert not may_hold_secret(line)


def test_entropy_is_in_bits_a_character() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abcd") == 2
