"""A declared tool has the name of a tool that the template brings along.

The template's own tool is always there (`run_sql`, `read_file`, …), so a call of that name reaches one of the two,
and nobody can tell which. Give the declared tool another name.

Before:

    tools:
      - {name: read_file, kind: mock, response: ""}

After:

    tools:
      - {name: read_manual, kind: mock, response: ""}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import listed, quoted
from rollout.diagnostics import Severity

CODE = "RL322"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    fixed = subject.fixed_tools
    for tool in subject.tools:
        if (name := tool.text("name")) in fixed:
            yield Finding(
                (*tool.route, "name"),
                f"The template {subject.template} already has a tool called {quoted(str(name))}.",
                f"Choose another name; the template's own tools are {listed(sorted(fixed))}.",
            )
