"""Which platform is asked, and with which key."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from rollout.platform import credentials
from rollout.settings import FILE, Settings, SettingsError, find_settings, read_settings

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

    Without ``settings``, those of the project that this runs in are read where they count. An address that only
    ``rollout.toml`` names, which came with the project, is sent no key but one that was saved for it. Raises
    EndpointError for what is no endpoint or has no key, and CredentialsError.
    """
    url, chosen_by = which(named, settings)
    if url == LOCAL:
        return Endpoint(url, None, chosen_by)
    given = key or os.environ.get(KEY_VARIABLE, "").strip()
    if given and chosen_by == FILE and not _is_trusted(url):
        raise EndpointError(
            f"{url} is named by {FILE} only, which came with the project, so it is not sent "
            f"{'the key' if key else KEY_VARIABLE}.",
            f"If you trust it, say so: --endpoint {url}, {VARIABLE}={url}, or `rollout login --endpoint {url}`.",
        )
    found = given or _saved(url)
    if not found:
        raise EndpointError(
            f"There is no key for {url}.",
            f"Save one with `rollout login{'' if url == HOSTED else f' --endpoint {url}'}`, set {KEY_VARIABLE}, or use "
            "--endpoint local, which needs none.",
        )
    check_key(found)
    return Endpoint(url, found, chosen_by)


def which(named: str | None = None, settings: Settings | None = None) -> tuple[str, str]:
    """The endpoint that :func:`choose` chooses, and what named it; no key is looked for. Raises EndpointError."""
    if named is not None:
        return normal(named), "given"
    if text := os.environ.get(VARIABLE, "").strip():
        return normal(text), VARIABLE
    if text := (_of_project() if settings is None else settings.endpoint) or "":
        return normal(text), FILE
    if text := credentials.default_endpoint() or "":
        return normal(text), "rollout login"
    return HOSTED, ""


def check_key(key: str) -> None:
    """Raises EndpointError for what can be no key."""
    if not key or not key.isascii() or any(char.isspace() or not char.isprintable() for char in key):
        raise EndpointError(
            "The key has characters that no key has." if key else "The key is empty.",
            "Copy it again, whole and on one line.",
        )


def _of_project() -> str | None:
    path = find_settings(Path.cwd())
    try:
        return None if path is None else read_settings(path).endpoint
    except SettingsError as error:
        place = error.diagnostics[0].span
        raise EndpointError(
            f"“{path}” cannot be used: {error}", f"Mend line {place.line}, or name the endpoint yourself."
        ) from None


def _saved(url: str) -> str | None:
    """The key that was saved for an endpoint, by whichever client and however it is written there."""
    if (key := credentials.key_of(url)) is not None:
        return key
    for name in credentials.endpoints():
        with suppress(EndpointError):
            if normal(name) == url:
                return credentials.key_of(name)
    return None


def _is_trusted(url: str) -> bool:
    """Whether the user has said before that keys may be sent there."""
    return url in (HOSTED, credentials.default_endpoint()) or _saved(url) is not None


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


__all__ = [
    "HOSTED",
    "KEY_VARIABLE",
    "LOCAL",
    "VARIABLE",
    "Endpoint",
    "EndpointError",
    "check_key",
    "choose",
    "normal",
    "which",
]
