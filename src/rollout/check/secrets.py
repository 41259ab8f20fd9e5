"""The shapes of API keys, tokens and passwords, told apart from words that only look like them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from rollout.check.secret_shapes import SHAPES, Shape
from rollout.source.runs import outline


class Secret(NamedTuple):
    """A secret that was found: which kind, its first characters, and the offsets of the whole."""

    name: str
    shown: str
    start: int
    end: int


# One look for how any of them begins spares nearly every text the rest.
_BEGINNINGS = re.compile(
    r"[sr]k[-_]|gh[pousr]_|github_pat_|gl[a-z]{2,5}[-_]|A[KS]IA|AIza|xox|xapp-|hf_|npm_|pypi-|SG\.|eyJ|PRIVATE KEY"
    r"|://[^\s/]{0,80}:|r8_|tgp_v1_|fw_|xai-|pplx-|nvapi-|lsv2_|GOCSPX-|ya29\.|hooks\.slack|whsec_|:AA|shp[a-z]{2}_"
    r"|do[opr]_v1_|dapi|ntn_|lin_api_|dckr_|hv[sb]\.|sbp_|sb_secret_|sntry|[Bb]earer|BEARER"
    r"|[Ss]ecret_?(?:[Aa]ccess_?)?[Kk]ey|SECRET_?(?:ACCESS_?)?KEY"
)
NAMES = re.compile(r"authorization|aws_?secret_?(?:access_?)?key", re.I)
"""Names whose values are secrets that could not be told from other texts by themselves."""
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

BROKEN_UP = (
    b"AIza",
    b"glpat-",
    b"tgp_v1_",
    b"nvapi-",
    b"GOCSPX-",
    b"ya29.",
    b"dckr_",
    b"hvs.",
    b"earer ",
    b":AA",
)
"""How those begin that may have hyphens inside."""

# The longest run of letters and digits among the format's own keys is hiddenGroundTruth, with 17.
_LONG_RUN = "a" * 18


def may_hold_secret(data: bytes) -> bool:
    """Whether it is worth looking for a secret in ``data``: a quick test that nearly all texts fail.

    Of the kinds that hyphens may break into short runs, such as Google's keys, it misses one in fifteen; for those
    there are ``BROKEN_UP``.
    """
    found = outline(data)
    if found.has_long_run and _LONG_RUN in found.text:
        return True
    if b"aws_secret" in data or b"AWS_SECRET" in data:
        return True
    return "@" in found.text and (b"://" in data or b":\\/\\/" in data)


def find_secrets(text: str) -> Iterator[Secret]:
    """The secrets in ``text``, each once, from the left."""
    if len(text) < 16 or not _BEGINNINGS.search(text):
        return
    end = 0
    found = [each for shape in SHAPES for each in _matches(shape, text)]
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
            and (not shape.is_tangled or _is_tangled(body))
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


def _is_tangled(body: str) -> bool:
    # Words and dates keep to one kind of character for a while; what chance made changes every third or fourth time.
    kinds = ["0" if each.isdigit() else "A" if each.isupper() else "a" for each in body if each.isalnum()]
    changes = sum(one != other for one, other in pairwise(kinds))
    return changes * 4 >= len(kinds)


def entropy(text: str) -> float:
    """Shannon entropy of the characters of ``text``, in bits a character; 0 for an empty one."""
    total = len(text)
    return -sum(n / total * math.log2(n / total) for n in Counter(text).values()) if total else 0.0


__all__ = ["BROKEN_UP", "NAMES", "Secret", "entropy", "find_secrets", "may_hold_secret"]
