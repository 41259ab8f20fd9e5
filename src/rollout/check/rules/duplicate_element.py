"""Two elements of one page have the same id.

Tool calls and verifiers mean an element by its id. With two of them, a click may land on the wrong one, and
`element_value` may read the wrong one.

Before:

    elements:
      - {type: button, id: save, text: Save draft}
      - {type: button, id: save, text: Publish}

After:

    elements:
      - {type: button, id: save-draft, text: Save draft}
      - {type: button, id: publish, text: Publish}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.site import elements, span_of
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity, Span
from rollout.source.place import Route

CODE = "RL373"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for page in subject.pages if subject.template == "browser" else ():
        first: dict[str, Route | Span] = {}
        for element in elements(page):
            name = element.text("id")
            if name is None:
                continue
            if name in first:
                yield Finding(
                    (*element.route, "id"),
                    f"There are two elements with the id {quoted(name)} on this page.",
                    "Give each element of a page an id of its own.",
                    see=((first[name], "the first element"),),
                    span=span_of(subject, page, element),
                )
            else:
                first[name] = span_of(subject, page, element) or (*element.route, "id")
