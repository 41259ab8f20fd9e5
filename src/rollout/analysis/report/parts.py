"""What pages are made of: their files, the policy in their head, and the templates with the words for figures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from rollout.analysis.words import number, percent

HERE = Path(__file__).parent


@cache
def asset(path: Path) -> str:
    """The text of a style or script."""
    return path.read_text(encoding="utf-8")


def policy(*, styles: Sequence[str], scripts: Sequence[str] = ()) -> str:
    """What a browser may do with a page: use these styles, run these scripts, and nothing else."""

    def digests(texts: Sequence[str]) -> str:
        return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)

    rules = ["default-src 'none'"]
    if scripts:
        rules.append(f"script-src {digests(scripts)}")
    rules += [
        f"style-src {digests(styles)}",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
    ]
    rules.append("trusted-types rollout" if scripts else "trusted-types 'none'")
    return "; ".join(rules)


def rendered(template: Path, told: dict[str, Any]) -> str:
    """A page's markup from its template, in which all that it is told is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    jinja = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters.update(percent=percent, number=number, amount=lambda value: f"{value:,}")
    return jinja.get_template(template.name).render(told)


__all__ = ["HERE", "asset", "policy", "rendered"]
