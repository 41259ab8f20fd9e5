"""An environment has no slug, and the name of its folder will not do as one.

The slug names the environment on the platform and in its URL: letters, digits, dots, underscores and hyphens, at most
100 of them. Without a `slug` the folder's name is taken (a single file's name without its ending). Give the slug, or
rename the folder.

Before:

    # Refund agent (new)/environment.yaml
    template: workflow

After:

    # Refund agent (new)/environment.yaml
    slug: refund-agent-new
    template: workflow
"""

from __future__ import annotations

import re

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL139"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    name = problem.facts["name"]
    slug = re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-._").lower()[:100]
    hint = f"Add a slug: {slug}" if slug else "Add a slug of letters, digits and hyphens."
    return f"There is no slug, and the name {quoted(name)} cannot be one.", hint


__all__ = ["CODE", "SEVERITY", "describe"]
