"""A file is there, but there is nothing in it.

It has no content, or only comments. That is most often a file that was never saved, and an empty `config.yaml` or
`verifier.yaml` would say nothing about what the agent gets or how it is judged. Write the content, or delete the
file. For an object without keys write `{}`, for a list without members `[]`.

Before:

    # verifier.yaml

After:

    # verifier.yaml
    primitives:
      - {name: state, type: ground_truth_match}
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL106"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    way_out = "Write its content, or delete the file"
    if not problem.span.path.endswith(".toml"):
        way_out += "; an empty object is written {}, an empty list []"
    return f"{quoted(problem.span.path)} is empty.", f"{way_out}."


__all__ = ["CODE", "SEVERITY", "describe"]
