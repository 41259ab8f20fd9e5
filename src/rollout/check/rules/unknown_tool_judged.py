"""A verifier's primitive names a tool that the environment does not have.

No call of such a tool can ever succeed: `tool_was_called` never passes, and `tool_not_called` never fails, which is
worse, for it looks like a check and is none.

Before:

    primitives:
      - {name: looked_up, type: tool_was_called, tool: get_ordr}

After:

    primitives:
      - {name: looked_up, type: tool_was_called, tool: get_order}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.grading import named_tools
from rollout.check.known import names_are_known
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity

CODE = "RL501"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template is None or not (
        subject.tools_are_known and names_are_known(subject, "config", "tools")
    ):
        return
    for primitive in subject.primitives:
        for route, name in named_tools(primitive):
            if name not in subject.tool_names:
                yield Finding(
                    route,
                    f"There is no tool {quoted(name)} in this environment.",
                    did_you_mean(name, sorted(subject.tool_names), kind="tools"),
                )
