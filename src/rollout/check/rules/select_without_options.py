"""A select that offers nothing to choose.

No agent can choose from an empty list; where the select is required, its form can never be sent. The same holds for
a start value that is not among the options.

Before:

    - {type: select, name: country, options: []}

After:

    - {type: select, name: country, options: [Norway, Sweden]}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.site import Element, elements, span_of
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity, Span

CODE = "RL374"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for page in subject.pages if subject.template == "browser" else ():
        for element in elements(page):
            if element.value.get("type") == "select":
                yield from _judge(element, span_of(subject, page, element))


def _judge(element: Element, span: Span | None) -> Iterator[Finding]:
    options = element.value.get("options")
    if not isinstance(options, list):
        return
    if not options:
        yield Finding(
            (*element.route, "options"),
            "This select has no options.",
            "List what there is to choose from.",
            span=span,
        )
        return
    values = [option.get("value") if isinstance(option, dict) else option for option in options]
    start = element.text("value")
    if start is not None and "${" not in start and start not in values:
        yield Finding(
            (*element.route, "value"),
            f"{quoted(start)} is not among the options of this select.",
            did_you_mean(start, [value for value in values if isinstance(value, str)], kind="options"),
            span=span,
        )
