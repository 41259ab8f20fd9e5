"""The shapes of API keys, tokens and passwords, told apart from words that only look like them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from rollout.source.runs import outline

_EDGE = r"(?<![A-Za-z0-9_-])"


class Shape(NamedTuple):
    """One kind of secret: its name, its pattern, and the least entropy of its body, in bits a character.

    ``of_letters`` is whether the body may have no digit in it.
    """

    name: str
    pattern: re.Pattern[str]
    entropy: float = 3.0
    of_letters: bool = False


class Secret(NamedTuple):
    """A secret that was found: which kind, its first characters, and the offsets of the whole."""

    name: str
    shown: str
    start: int
    end: int


_SHAPES = (
    Shape("an Anthropic API key", re.compile(_EDGE + r"sk-ant-(?P<body>[A-Za-z0-9_-]{20,})")),
    Shape(
        "an OpenAI API key",
        re.compile(_EDGE + r"sk-(?!ant-)(?:[a-z]{3,8}-)?(?P<body>[A-Za-z0-9_-]{20,})"),
        3.5,
    ),
    Shape("a Stripe key", re.compile(_EDGE + r"[sr]k_live_(?P<body>[A-Za-z0-9]{16,})")),
    Shape("a rollout API key", re.compile(_EDGE + r"rk_(?!live_|test_)(?P<body>[A-Za-z0-9_-]{16,})"), 3.2),
    Shape("a GitHub token", re.compile(_EDGE + r"gh[pousr]_(?P<body>[A-Za-z0-9]{36,})")),
    Shape("a GitHub token", re.compile(_EDGE + r"github_pat_(?P<body>[A-Za-z0-9_]{22,})")),
    Shape("a GitLab token", re.compile(_EDGE + r"glpat-(?P<body>[A-Za-z0-9_-]{20,})")),
    Shape("an AWS access key", re.compile(_EDGE + r"(?:AKIA|ASIA)(?P<body>[A-Z0-9]{16})(?![A-Za-z0-9])")),
    Shape("a Google API key", re.compile(_EDGE + r"AIza(?P<body>[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])")),
    Shape("a Slack token", re.compile(_EDGE + r"xox[abeoprs]-(?P<body>[A-Za-z0-9-]{10,})")),
    Shape("a Hugging Face token", re.compile(_EDGE + r"hf_(?P<body>[A-Za-z0-9]{30,})"), 3.5, of_letters=True),
    Shape("an npm token", re.compile(_EDGE + r"npm_(?P<body>[A-Za-z0-9]{36})(?![A-Za-z0-9])")),
    Shape("a PyPI token", re.compile(_EDGE + r"pypi-AgE(?P<body>[A-Za-z0-9_-]{32,})")),
    Shape("a SendGrid key", re.compile(_EDGE + r"SG\.(?P<body>[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,})")),
    Shape(
        "a JSON Web Token",
        re.compile(_EDGE + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.(?P<body>[A-Za-z0-9_-]{20,})"),
    ),
    Shape(
        "a private key",
        # A line break may be written as an escape, where a program text holds the key in a string.
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])+(?P<body>[A-Za-z0-9+/=]{32,})"
        ),
    ),
)
# One look for how any of them begins spares nearly every text the rest.
_BEGINNINGS = re.compile(
    r"[sr]k[-_]|gh[pousr]_|github_pat_|glpat-|A[KS]IA|AIza|xox|hf_|npm_|pypi-|SG\.|eyJ|PRIVATE KEY|://[^\s/]{0,80}:"
)
_LOGIN = re.compile(
    r"(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]{1,20}://(?P<user>[^\s:/@\"'<>{}$]{0,80}):(?P<body>[^\s/@\"'<>{}$]{6,120})@[A-Za-z0-9\[]"
)
_NO_PASSWORDS = frozenset(
    (
        "password",
        "passwd",
        "secret",
        "changeme",
        "change-me",
        "postgres",
        "example",
        "your-password",
        "pgpassword",
    )
)
_DUMMY = re.compile(
    r"example|dummy|placeholder|redacted|your[-_]?(?:api|key|token|secret)|x{6}|\*{3}|0{8}|1234567890", re.I
)

# The longest run of letters and digits among the format's own keys is hiddenGroundTruth, with 17.
_LONG_RUN = "a" * 18


def may_hold_secret(data: bytes) -> bool:
    """Whether it is worth looking for a secret in ``data``: a quick test that nearly all texts fail.

    It sees every kind but one: of Google's keys, which hyphens may break into short runs, it misses one in fifteen.
    """
    found = outline(data)
    if found.has_long_run and _LONG_RUN in found.text:
        return True
    return "@" in found.text and (b"://" in data or b":\\/\\/" in data)


def find_secrets(text: str) -> Iterator[Secret]:
    """The secrets in ``text``, each once, from the left."""
    if len(text) < 16 or not _BEGINNINGS.search(text):
        return
    end = 0
    found = [each for shape in _SHAPES for each in _matches(shape, text)]
    found.extend(_logins(text))
    for secret in sorted(found, key=lambda each: each.start):
        if secret.start >= end:
            end = secret.end
            yield secret


def _matches(shape: Shape, text: str) -> Iterator[Secret]:
    for match in shape.pattern.finditer(text):
        body = match["body"]
        if (
            entropy(body) >= shape.entropy
            and _is_mixed(body, shape.of_letters)
            and not _DUMMY.search(match[0])
        ):
            shown = match[0][: match.start("body") - match.start() + 2]
            yield Secret(shape.name, f"{shown[:24]}…", match.start(), match.end())


def _logins(text: str) -> Iterator[Secret]:
    if "://" not in text:
        return
    for match in _LOGIN.finditer(text):
        password = match["body"]
        if password.lower() in _NO_PASSWORDS or password == match["user"] or _DUMMY.search(password):
            continue
        if password.isalpha() and password.islower() and len(password) < 8:
            continue
        shown = match[0][: match.start("body") - match.start()]
        yield Secret("a password in a URL", f"{shown[:40]}…", match.start(), match.end("body"))


def _is_mixed(body: str, of_letters: bool) -> bool:
    # Words joined by hyphens have no digits, and numbers no letters; a key has both.
    if any(each.isdigit() for each in body):
        return any(each.isalpha() for each in body)
    # Where a key can be without digits, its letters are large and small, and not by the word.
    return of_letters and len(re.findall(r"[a-z][A-Z]", body)) >= 5


def entropy(text: str) -> float:
    """Shannon entropy of the characters of ``text``, in bits a character; 0 for an empty one."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values()) if total else 0.0


__all__ = ["Secret", "entropy", "find_secrets", "may_hold_secret"]
