"""Puts a provider's refusal into a sentence: what it did not take, whom that is charged to, and the way out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from rollout.models import Blame, ModelError
from rollout.models._provider import Provider
from rollout.models._redaction import redact

_LONGEST = 400
_TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.S | re.I)
_TOO_LONG = re.compile(
    r"context.{0,3}(?:length|window)|maximum.{0,20}tokens|too many tokens|prompt is too long", re.I
)
_FILTERED = re.compile(r"content.{0,3}(?:filter|policy|management)|safety|moderat|usage policies", re.I)
_NO_TOOLS = re.compile(
    r"(?:tools?|function.?call\w*)\b.{0,60}\bnot.{0,20}support|not.{0,20}support.{0,40}\btools?\b", re.I
)
_QUOTA = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance", "credit_exhausted"}
)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A provider's own words, with keys taken out, and the parameter and code that it names."""

    words: str
    param: str = ""
    code: str = ""

    @property
    def is_about_money(self) -> bool:
        """Whether a quota or a balance is used up, which no waiting mends."""
        return self.code in _QUOTA or "exceeded your current quota" in self.words


def read_complaint(body: bytes, secrets: tuple[str, ...]) -> Complaint:
    """What the body of an error says, in any of the forms that are about."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = _TAG.sub(" ", body[:20_000].decode("utf-8", "replace"))
    return _complaint(value, secrets)


def _complaint(value: Any, secrets: tuple[str, ...]) -> Complaint:
    if isinstance(value, list) and value:
        value = value[0]
    error = value.get("error", value) if isinstance(value, dict) else value
    param = code = ""
    words: Any = error
    if isinstance(error, dict):
        words = next((error[key] for key in ("message", "detail", "msg", "error") if error.get(key)), "")
        param, code = str(error.get("param") or ""), str(error.get("code") or error.get("type") or "")
    if isinstance(words, list):
        words = "; ".join(
            f"{'.'.join(map(str, each.get('loc', ())))}: {each.get('msg', '')}"
            if isinstance(each, dict)
            else str(each)
            for each in words
        )
    elif not isinstance(words, str):
        words = orjson.dumps(words, default=str).decode()
    line = "".join(each for each in " ".join(redact(words, secrets).split()) if each.isprintable())
    return Complaint(
        line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…",
        redact(param, secrets)[:80],
        redact(code, secrets)[:80],
    )


def refusal(
    status: int, complaint: Complaint, *, provider: Provider, model: str, sampling: Mapping[str, Any]
) -> ModelError:
    """The error for an answer of ``status`` that no repetition mends. ``sampling`` is what was sent of it."""

    def error(
        sentence: str, hint: str, *, charged_to: Blame = "infrastructure", hopeless: bool = True
    ) -> ModelError:
        said = complaint.words or f"status {status}"
        return ModelError(
            f"{sentence}: {said if said[-1:] in '.!?…' else f'{said}.'}",
            charged_to=charged_to,
            hint=hint,
            hopeless=hopeless,
        )

    name, key = provider.name, " or ".join(provider.key_names)
    if complaint.is_about_money or status == 402:
        return error(f"What “{name}” may be used for is used up", "Look at the account's plan and balance.")
    if 300 <= status < 400:
        return error(
            f"“{name}” sends requests elsewhere ({status})", "Give the address that it really answers at."
        )
    if status == 401:
        way_out = (
            f"Set {key} to a key that it accepts." if key else "It wants a key: name one in api_key_env."
        )
        return error(f"“{name}” does not accept the key{f' in {key}' if key else ''}", way_out)
    if status == 403:
        return error(f"“{name}” does not let this key use “{model}”", "Look at what the account may use.")
    if status in (404, 410):
        base = provider.address.partition("?")[0].removesuffix("/chat/completions")
        if urlsplit(base).path.strip("/") == "":
            return error(
                f"“{name}” has no “{model}”, or no chat completions at {provider.address}",
                f"The address of a server usually ends in /v1: is it {base.rstrip('/')}/v1?",
            )
        return error(
            f"“{name}” has no “{model}”",
            f"Look at the model's name, which was sent as “{model}”, and at the address, {provider.address}.",
        )
    if status in (405, 406, 415):
        return error(
            f"“{name}” does not take chat completions at {provider.address} ({status})",
            "Look at its address.",
        )
    if (refused := _refused_parameter(complaint, sampling)) is not None:
        return error(
            f"“{model}” does not take {refused} = {sampling[refused]!r}",
            "Ask it without: a command takes “--temperature none”, and llm_judge takes “temperature: none”."
            if refused == "temperature"
            else f"Ask it without {refused}, or with a value that it takes.",
        )
    if status == 413 or complaint.code == "context_length_exceeded" or _TOO_LONG.search(complaint.words):
        return error(
            f"The conversation is longer than “{model}” can read",
            "Let it make fewer calls, or let tools answer more briefly.",
            charged_to="model",
            hopeless=False,
        )
    if _NO_TOOLS.search(complaint.words):
        return error(f"“{model}” takes no tools", "Choose a model that calls tools.", charged_to="model")
    if complaint.param.startswith(("tools", "functions")) or complaint.code == "invalid_function_parameters":
        return error(
            f"“{model}” does not take the tools as they are declared",
            "Mend the tool's name or its paramsSchema.",
            charged_to="environment",
            hopeless=False,
        )
    if _FILTERED.search(f"{complaint.code} {complaint.words}"):
        return error(
            f"“{name}” let nothing of this conversation through its filter",
            "Look at what the task asks for.",
            charged_to="model",
            hopeless=False,
        )
    about = f" for {complaint.param}" if complaint.param else ""
    return error(
        f"“{name}” refused the request{about} ({status})",
        "What it says is all there is to go by.",
        charged_to="model",
        hopeless=False,
    )


def _refused_parameter(complaint: Complaint, sampling: Mapping[str, Any]) -> str | None:
    if complaint.param in sampling:
        return complaint.param
    if complaint.param:
        return None
    named = [key for key in sampling if re.search(rf"\b{key}\b", complaint.words)]
    return max(named, key=len) if named else None


__all__ = ["Complaint", "read_complaint", "refusal"]
