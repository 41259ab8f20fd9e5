"""Where a model is asked, and with which key: worked out once from the settings and the environment variables."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit, urlunsplit

from rollout.models import ConnectError, MissingKeyError

_VARIABLE = re.compile(r"\$\{env\.([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Provider:
    """A server that speaks the chat-completions protocol, ready to be asked.

    ``address`` is the whole address of its chat completions, without a login. ``headers`` go with every request;
    ``secrets`` are the texts that must never be shown. ``key_names`` are the variables that the key comes from.
    """

    name: str
    address: str
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    key_names: tuple[str, ...] = ()
    max_tokens_key: str = "max_tokens"
    send_reasoning: bool = False


def provider(
    name: str,
    base_url: str,
    environ: Mapping[str, str],
    *,
    key_names: Sequence[str] = (),
    key_needed: bool = True,
    headers: Mapping[str, str] | None = None,
    max_tokens_key: str = "max_tokens",
    send_reasoning: bool = False,
    hint: str = "",
) -> Provider:
    """The provider at ``base_url``, with the key in the first of ``key_names`` that ``environ`` has.

    A login in the URL becomes a header. Raises MissingKeyError, with ``hint`` after the way out, when a needed key is
    in none of them, and ConnectError when the address or a header cannot be used.
    """
    address, login = _address(name, base_url)
    key = next((environ[each].strip() for each in key_names if environ.get(each, "").strip()), None)
    if key is None and key_needed:
        wanted = " or ".join(key_names)
        raise MissingKeyError(
            f"“{name}” wants a key, and {wanted} is not set.",
            f"Set {wanted} to the key, in this shell or where this runs.{f' {hint}' if hint else ''}",
        )
    sent: dict[str, str] = {}
    secrets = [key] if key else []
    if login is not None:
        sent["Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
        secrets += [sent["Authorization"].removeprefix("Basic "), *filter(None, login.split(":", 1)[1:])]
    if key is not None:
        sent["Authorization"] = f"Bearer {key}"
    for header, value in (headers or {}).items():
        filled, found = _fill(name, header, value, environ)
        secrets += found
        sent = {known: each for known, each in sent.items() if known.lower() != header.lower()}
        sent[header] = filled
    for header, value in sent.items():
        if not value.isascii() or any(each < " " for each in value):
            source = (
                f"the key in {' or '.join(key_names)}" if key and key in value else f"the header “{header}”"
            )
            raise ConnectError(
                f"“{name}” cannot be asked: {source} has characters that no header may have.",
                "Look for a line break or a typographic character in it.",
            )
    return Provider(
        name,
        address,
        sent,
        tuple(secret for secret in secrets if secret),
        tuple(key_names),
        max_tokens_key,
        send_reasoning,
    )


def _address(name: str, base_url: str) -> tuple[str, str | None]:
    """The address of the chat completions, and the login that was in the URL."""
    way_out = "Give it as http://… or https://…, as far as the /chat/completions that follows."
    try:
        parts = urlsplit(base_url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise ConnectError(f"The address of “{name}” is no web address.", way_out)
    login = None
    if parts.username is not None:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    path = parts.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path += "/chat/completions"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path, parts.query, "")), login


def _fill(name: str, header: str, value: str, environ: Mapping[str, str]) -> tuple[str, list[str]]:
    found: list[str] = []

    def look_up(match: re.Match[str]) -> str:
        held = environ.get(match[1], "").strip()
        if not held:
            raise MissingKeyError(
                f"The header “{header}” of “{name}” wants {match[1]}, which is not set.",
                f"Set {match[1]}, in this shell or where this runs.",
            )
        found.append(held)
        return held

    return _VARIABLE.sub(look_up, value), found


__all__ = ["Provider", "provider"]
