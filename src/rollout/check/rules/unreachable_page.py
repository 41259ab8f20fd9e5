"""A page that nothing leads to.

From `initialUrl`, no chain of links, buttons and forms ends at the page. An agent could only open it by typing its
URL, which it has no way to know. Link to it, or take it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.site import is_open, links, target, urls
from rollout.check.subject import Subject
from rollout.check.wording import closest, quoted
from rollout.diagnostics import Severity
from rollout.language.site import find_page

CODE = "RL371"
SEVERITY = Severity.WARNING

_HOST = re.compile(r"[a-z]+://[^/]*", re.IGNORECASE)


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template != "browser" or not subject.is_sound("config", "pages"):
        return
    known = urls(subject)
    leads: dict[str, set[str]] = {}
    for page in subject.pages:
        for link in links(subject, page):
            if is_open(link.url):
                return  # a URL that is filled in at run time may lead anywhere
            # A link that leads nowhere is told of; it was meant to lead to the page that it comes near.
            to = target(link, known) or closest(_HOST.sub("", link.url), known)
            if to is not None:
                leads.setdefault(page.text("url") or "", set()).add(to)
    start = find_page(str(subject.config.get("initialUrl", "")), "", known)
    if start is None:
        return
    reached, ahead = {start}, [start]
    while ahead:
        for url in leads.get(ahead.pop(), ()):
            if url not in reached:
                reached.add(url)
                ahead.append(url)
    for page in subject.pages:
        own = page.text("url")
        if own is not None and own not in reached:
            yield Finding(
                (*page.route, "url"),
                f"Nothing leads to the page {quoted(own)}.",
                "Link to it from a page that can be reached, or remove it.",
            )
