"""A verifier's primitive names a page that the site does not have.

Before:

    - {name: done, type: page_reached, url: /thanks}

After:

    - {name: done, type: page_reached, url: /orders/thanks}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.known import names_are_known
from rollout.check.site import urls
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity

CODE = "RL503"
SEVERITY = Severity.ERROR

_KEYS = {"page_reached": "url", "element_value": "page"}


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template != "browser" or not names_are_known(subject, "config", "pages", key="url"):
        return
    known = urls(subject)
    for primitive in subject.primitives:
        key = _KEYS.get(str(primitive.value.get("type")))
        url = primitive.text(key) if key else None
        if key is not None and url is not None and url not in known:
            yield Finding(
                (*primitive.route, key),
                f"There is no page {quoted(url)} in this site.",
                did_you_mean(url, sorted(known), kind="pages"),
            )
