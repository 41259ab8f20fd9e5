"""Which platform is asked, and with which key."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from rollout.platform import credentials
from rollout.settings import Settings

HOSTED = "https://rollout.mv37.org"
"""The hosted platform, as the published client knows it."""

LOCAL = "local"
"""The name of the platform that is part of this program."""

VARIABLE, KEY_VARIABLE = "ROLLOUT_ENDPOINT", "ROLLOUT_API_KEY"


class EndpointError(ValueError):
    """An endpoint that cannot be asked; the text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``url`` without a slash at its end, or ``local``; ``key`` None where there is none, and for ``local``;
    ``chosen_by`` says in words what named it."""

    url: str
    key: str | None = field(default=None, repr=False)
    chosen_by: str = "given"

    @property
    def is_local(self) -> bool:
        """Whether it is this program itself."""
        return self.url == LOCAL

    def page(self, path: str) -> str:
        """The address of one of its pages. ``local`` is shown by ``rollout serve``, and has none of its own."""
        return f"{'' if self.is_local else self.url}{path}"


def choose(named: str | None = None, *, key: str | None = None, settings: Settings | None = None) -> Endpoint:
    """The endpoint that is to be asked: the one named, or else that of ROLLOUT_ENDPOINT, of ``rollout.toml``, of
    ``rollout login``, or the hosted one; with ``key``, or else that of ROLLOUT_API_KEY or the saved one.

    Raises EndpointError for what is no endpoint or has no key, and CredentialsError.
    """
    candidates = (
        (named, "given"),
        (os.environ.get(VARIABLE, "").strip(), VARIABLE),
        (settings.endpoint if settings is not None else None, "rollout.toml"),
        (credentials.default_endpoint(), "rollout login"),
        (HOSTED, ""),
    )
    text, chosen_by = next((text, by) for text, by in candidates if text)
    url = normal(text)
    if url == LOCAL:
        return Endpoint(url, None, chosen_by)
    found = key or os.environ.get(KEY_VARIABLE, "").strip() or credentials.key_of(url)
    if not found:
        raise EndpointError(
            f"There is no key for {url}.",
            f"Save one with `rollout login{'' if url == HOSTED else f' --endpoint {url}'}`, set {KEY_VARIABLE}, or use "
            "--endpoint local, which needs none.",
        )
    if not found.isascii() or any(char.isspace() or not char.isprintable() for char in found):
        raise EndpointError(
            "The key has characters that no key has.", "Copy it again, whole and on one line."
        )
    return Endpoint(url, found, chosen_by)


def normal(text: str) -> str:
    """The one way to write an endpoint, by which its key is kept. Raises EndpointError."""
    text = text.strip()
    if text == LOCAL:
        return LOCAL
    hint = f"Write {LOCAL}, or an address such as {HOSTED} or http://127.0.0.1:8321."
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise EndpointError(f"“{text}” is no address of a platform.", hint) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or any(char.isspace() for char in text):
        raise EndpointError(f"“{text}” is no address of a platform.", hint)
    if parts.username is not None or parts.query or parts.fragment:
        raise EndpointError(
            "An endpoint has no user, no question mark and no number sign.",
            f"{hint} Its key is kept apart from it.",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"http": 80, "https": 443}[parts.scheme]
    place = host if port in (None, default) else f"{host}:{port}"
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))


__all__ = ["HOSTED", "KEY_VARIABLE", "LOCAL", "VARIABLE", "Endpoint", "EndpointError", "choose", "normal"]
