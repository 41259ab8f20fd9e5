"""Takes keys out of texts that come from elsewhere, before they are put on a trace or shown to anybody."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rollout.check.secrets import find_secrets

HIDDEN = "[hidden]"
_BEARER = re.compile(r"(?i)\b(bearer|basic|api[-_ ]?key[\"']?\s*[:=])\s*[\"']?[A-Za-z0-9._~+/=-]{8,}")
# Providers repeat a key that they do not accept, with some of it starred out.
_KEY_LIKE = re.compile(r"\b(?:sk|rk|pk|fw|tgp|key)[-_][A-Za-z0-9_*.-]{6,}")
_LOGIN = re.compile(r"(?<=://)[^\s/@]+@")
# Shorter ones would blot out ordinary words.
_SHORTEST = 6


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` with each of ``secrets``, and all that has the shape of a key, replaced by ``[hidden]``."""
    text = hide(text, secrets)
    text = _LOGIN.sub(f"{HIDDEN}@", text)
    text = _BEARER.sub(lambda match: f"{match[1]} {HIDDEN}", text)
    text = _KEY_LIKE.sub(HIDDEN, text)
    for found in reversed(list(find_secrets(text))):
        text = f"{text[: found.start]}{HIDDEN}{text[found.end :]}"
    return text


def hide(text: str, secrets: Iterable[str]) -> str:
    """``text`` with each of ``secrets``, and nothing else, replaced by ``[hidden]``."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    return text


__all__ = ["HIDDEN", "hide", "redact"]
