"""The kinds of secrets that are known by their shape: a beginning of their own, and how what follows is made."""

from __future__ import annotations

import re
from typing import NamedTuple

_EDGE = r"(?<![A-Za-z0-9_-])"
_END = r"(?![A-Za-z0-9])"
_BOTH_CASES = r"(?=[A-Z0-9]*[a-z])(?=[a-z0-9]*[A-Z])"


class Shape(NamedTuple):
    """One kind of secret: its name, its pattern, and the least entropy of its body, in bits a character.

    ``of_letters`` is whether the body may have no digit in it, ``is_tangled`` whether capitals, small letters and
    digits have to follow each other as they only do by chance, since what is around the body proves little.
    """

    name: str
    pattern: re.Pattern[str]
    entropy: float = 3.0
    of_letters: bool = False
    is_tangled: bool = False


SHAPES = (
    Shape("an Anthropic API key", re.compile(_EDGE + r"sk-ant-(?P<body>[A-Za-z0-9_-]{20,})")),
    Shape("an OpenRouter API key", re.compile(_EDGE + r"sk-or-v1-(?P<body>[A-Za-z0-9]{32,})" + _END)),
    Shape(
        "an OpenAI API key",
        re.compile(_EDGE + r"sk-(?!ant-|or-v1-)(?:[a-z]{3,8}-)?(?P<body>[A-Za-z0-9_-]{20,})"),
        3.5,
    ),
    Shape("a Groq API key", re.compile(_EDGE + r"gsk_(?P<body>[A-Za-z0-9]{48,56})" + _END), 3.5),
    Shape("a Replicate token", re.compile(_EDGE + r"r8_(?P<body>[A-Za-z0-9]{37})" + _END), 3.5),
    Shape("a Together API key", re.compile(_EDGE + r"tgp_v1_(?P<body>[A-Za-z0-9_-]{32,})"), 3.5),
    Shape(
        "a Fireworks API key",
        re.compile(_EDGE + r"fw_(?P<body>" + _BOTH_CASES + r"[A-Za-z0-9]{20,28})" + _END),
        3.5,
    ),
    Shape("an xAI API key", re.compile(_EDGE + r"xai-(?P<body>[A-Za-z0-9]{70,90})" + _END), 3.5),
    Shape("a Perplexity API key", re.compile(_EDGE + r"pplx-(?P<body>[A-Za-z0-9]{40,60})" + _END), 3.5),
    Shape("an NVIDIA API key", re.compile(_EDGE + r"nvapi-(?P<body>[A-Za-z0-9_-]{50,})"), 3.5),
    Shape("a Cerebras API key", re.compile(_EDGE + r"csk-(?P<body>[a-z0-9]{40,60})" + _END), 3.5),
    Shape(
        "a LangSmith API key",
        re.compile(_EDGE + r"lsv2_(?:pt|sk)_(?P<body>[a-f0-9]{32}_[a-f0-9]{10})" + _END),
    ),
    Shape("a Stripe key", re.compile(_EDGE + r"[sr]k_live_(?P<body>[A-Za-z0-9]{16,})")),
    Shape("a rollout API key", re.compile(_EDGE + r"rk_(?!live_|test_)(?P<body>[A-Za-z0-9_-]{16,})"), 3.2),
    Shape("a GitHub token", re.compile(_EDGE + r"gh[pousr]_(?P<body>[A-Za-z0-9]{36,})")),
    Shape("a GitHub token", re.compile(_EDGE + r"github_pat_(?P<body>[A-Za-z0-9_]{22,})")),
    Shape(
        "a GitLab token",
        re.compile(_EDGE + r"gl(?:pat|ptt|rt|dt|ft|cbt|soat|agent|oas)-(?P<body>[A-Za-z0-9_.-]{20,})"),
    ),
    Shape("an AWS access key", re.compile(_EDGE + r"(?:AKIA|ASIA)(?P<body>[A-Z0-9]{16})(?![A-Za-z0-9])")),
    Shape(
        "an AWS secret access key",
        re.compile(
            r"aws_?secret_?(?:access_?)?key[\"'`\\]{0,2}\s{0,9}[:=]\s{0,9}[\"'`\\]{0,2}"
            r"(?P<body>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
            re.I,
        ),
        4.0,
    ),
    Shape(
        "a Google client secret", re.compile(_EDGE + r"GOCSPX-(?P<body>[A-Za-z0-9_-]{28})(?![A-Za-z0-9_-])")
    ),
    Shape("a Google access token", re.compile(_EDGE + r"ya29\.(?P<body>[A-Za-z0-9_-]{40,})"), 3.5),
    Shape("a Google API key", re.compile(_EDGE + r"AIza(?P<body>[A-Za-z0-9_-]{35})(?![A-Za-z0-9_-])")),
    Shape("a Slack token", re.compile(_EDGE + r"xox[abeoprs]-(?P<body>[A-Za-z0-9-]{10,})")),
    Shape("a Slack token", re.compile(_EDGE + r"xapp-\d-[A-Z0-9]{8,}-\d{8,}-(?P<body>[a-f0-9]{32,})")),
    Shape(
        "a Slack webhook",
        re.compile(
            r"hooks\.slack\.com/(?:services|workflows)/T[A-Z0-9]{6,}/[A-Z0-9]{6,}/(?P<body>[A-Za-z0-9]{20,})"
        ),
    ),
    Shape("a Stripe webhook secret", re.compile(_EDGE + r"whsec_(?P<body>[A-Za-z0-9+/]{32,})"), 3.5),
    Shape(
        "a Telegram token",
        re.compile(r"(?<![A-Za-z0-9_:.-])\d{8,10}:(?P<body>AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
        3.5,
    ),
    Shape("a Shopify token", re.compile(_EDGE + r"shp(?:at|ca|pa|ss)_(?P<body>[a-fA-F0-9]{32})" + _END)),
    Shape("a DigitalOcean token", re.compile(_EDGE + r"do[opr]_v1_(?P<body>[a-f0-9]{64})" + _END)),
    Shape("a Databricks token", re.compile(_EDGE + r"dapi(?P<body>[a-f0-9]{32})(?:-\d)?" + _END)),
    Shape("a Notion token", re.compile(_EDGE + r"ntn_(?P<body>[A-Za-z0-9]{40,})" + _END), 3.5),
    Shape("a Linear API key", re.compile(_EDGE + r"lin_api_(?P<body>[A-Za-z0-9]{40})" + _END), 3.5),
    Shape("a Docker token", re.compile(_EDGE + r"dckr_(?:pat|oat)_(?P<body>[A-Za-z0-9_-]{27,})"), 3.5),
    Shape("a Grafana token", re.compile(_EDGE + r"glsa_(?P<body>[A-Za-z0-9]{32}_[a-fA-F0-9]{8})" + _END)),
    Shape("a Vault token", re.compile(_EDGE + r"hv[sb]\.(?P<body>[A-Za-z0-9_-]{24,})"), 3.5),
    Shape("a Supabase key", re.compile(_EDGE + r"(?:sbp_|sb_secret_)(?P<body>[A-Za-z0-9_-]{30,})"), 3.5),
    Shape("a Sentry token", re.compile(_EDGE + r"sntry[su]_(?P<body>[A-Za-z0-9+/=_-]{40,})"), 3.5),
    Shape("a Hugging Face token", re.compile(_EDGE + r"hf_(?P<body>[A-Za-z0-9]{30,})"), 3.5, of_letters=True),
    Shape("an npm token", re.compile(_EDGE + r"npm_(?P<body>[A-Za-z0-9]{36})(?![A-Za-z0-9])")),
    Shape("a PyPI token", re.compile(_EDGE + r"pypi-AgE(?P<body>[A-Za-z0-9_-]{32,})")),
    Shape("a SendGrid key", re.compile(_EDGE + r"SG\.(?P<body>[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,})")),
    Shape(
        "a JSON Web Token",
        re.compile(_EDGE + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.(?P<body>[A-Za-z0-9_-]{20,})"),
    ),
    Shape(
        "a bearer token",
        re.compile(
            r"\bbearer[ \t]{1,4}(?P<body>[A-Za-z0-9._~+/-]{20,400}={0,2})(?![A-Za-z0-9._~+/=-])", re.I
        ),
        3.5,
        is_tangled=True,
    ),
    Shape(
        "a private key",
        # A line break may be written as an escape, where a program text holds the key in a string. All its lines belong
        # to it: up to the end that is marked, or as long as they are such lines.
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])+(?P<body>[A-Za-z0-9+/=]{32,})"
            r"(?:(?:[A-Za-z0-9+/=\s]|\\[nr]){0,16000}?-----END [A-Z0-9 ]{1,40}-----"
            r"|(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]{48,80})*)"
        ),
    ),
)

__all__ = ["SHAPES", "Shape"]
