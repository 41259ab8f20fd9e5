"""Two environments of one run have the same slug.

The slug is what an environment is known by: results are kept under it, and pushing one of the two would overwrite the
other. Without a `slug`, it is the name of the folder, which two folders in different places may share. Give one of them
a slug of its own.

Before:

    # desk/refund/environment.yaml
    name: Refund desk

    # shop/refund/environment.yaml
    name: Refund shop

After:

    # shop/refund/environment.yaml
    slug: refund-shop
    name: Refund shop
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL143"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    return (
        f"The slug {quoted(facts['slug'])} is that of another environment too: {facts['first']}.",
        "Change it; results are kept by slug."
        if facts["is_written"]
        else "Give it a “slug” of its own; without one, it is the name of the folder or file.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
