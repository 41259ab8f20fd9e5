"""A verifier's primitive names a field that its page does not have.

`element` is the id or the name of an input, text area, checkbox, radio button or select. When no page is named, it
must be on at least one page.

Before:

    - {name: subscribed, type: element_value, page: /settings, element: newsleter, value: true}

After:

    - {name: subscribed, type: element_value, page: /settings, element: newsletter, value: true}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.known import names_are_known
from rollout.check.site import fields, urls
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity

CODE = "RL504"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template != "browser" or not names_are_known(subject, "config", "pages", key="url"):
        return
    for primitive in subject.primitives:
        element, url = primitive.text("element"), primitive.text("page")
        if primitive.value.get("type") != "element_value" or element is None:
            continue
        if url is not None and url not in urls(subject):
            continue  # the page is what is wrong
        pages = [page for page in subject.pages if url is None or page.text("url") == url]
        if not all(subject.is_sound(*page.route, key) for page in pages for key in ("elements", "html")):
            continue
        known = sorted({name for page in pages for name in fields(page)})
        if element not in known:
            where = f"on the page {quoted(url)}" if url is not None else "on any page"
            yield Finding(
                (*primitive.route, "element"),
                f"There is no field {quoted(element)} {where}.",
                did_you_mean(element, known, kind="fields"),
            )
