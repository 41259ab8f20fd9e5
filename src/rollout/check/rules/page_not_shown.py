"""A page that cannot be shown: HTML that is too large or nested too deep, or a form inside a form.

Before:

    - type: form
      elements:
        - {type: form, elements: [{type: input, name: code}]}

After:

    - {type: form, elements: [{type: input, name: code}]}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.site import elements
from rollout.check.subject import Subject
from rollout.diagnostics import Severity
from rollout.source.place import Route

CODE = "RL376"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for page in subject.pages if subject.template == "browser" else ():
        text = page.text("html")
        if text is not None:
            from rollout.language.html_page import HtmlError, read_html

            try:
                read_html(text)
            except HtmlError as error:
                yield Finding((*page.route, "html"), str(error), "Split the page, or make it flatter.")
        form: Route | None = None
        for element in elements(page):
            if element.value.get("type") != "form" or element.offsets is not None:
                continue
            if form is not None and element.route[: len(form)] == form:
                yield Finding(
                    (*element.route, "type"),
                    "This form stands inside another form.",
                    "A field belongs to one form only; put the forms one after the other.",
                )
            else:
                form = element.route
