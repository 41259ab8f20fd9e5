"""Two pages have the same URL.

Only one of them can be shown; which one would be an accident of their order.
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Route

CODE = "RL372"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    first: dict[str, Route] = {}
    for page in subject.pages if subject.template == "browser" else ():
        url = page.text("url")
        if url is None:
            continue
        if url in first:
            yield Finding(
                (*page.route, "url"),
                f"There are two pages with the URL {quoted(url)}.",
                "Give each page a URL of its own.",
                see=((first[url], "the first page"),),
            )
        else:
            first[url] = (*page.route, "url")
