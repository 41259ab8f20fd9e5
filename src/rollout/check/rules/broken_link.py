"""A link, a form or `initialUrl` leads to a page that is not there.

The site of a browser environment is its `pages`; nothing else exists. An agent that follows the link ends on an
error page, and a task behind it cannot be done.

Before:

    initialUrl: /login
    pages:
      - {url: /signin, title: Sign in, elements: []}

After:

    initialUrl: /signin
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.known import names_are_known
from rollout.check.site import is_open, links, urls
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity, Span
from rollout.language.site import find_page
from rollout.source.place import Route

CODE = "RL370"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template != "browser" or not names_are_known(subject, "config", "pages", key="url"):
        return
    known = urls(subject)
    start = subject.config.get("initialUrl")
    if isinstance(start, str):
        yield from _judge(("config", "initialUrl"), start, "", known)
    for page in subject.pages:
        for link in links(subject, page):
            yield from _judge(link.route, link.url, page.text("url") or "", known, link.span)


def _judge(
    route: Route, url: str, base: str, known: frozenset[str], span: Span | None = None
) -> Iterator[Finding]:
    if is_open(url) or find_page(url, base, known) is not None:
        return
    page = url.partition("#")[0].partition("?")[0]
    is_script = "".join(page.split()).lower().startswith("javascript:")
    if is_script and span is not None:
        return  # in HTML a script is what is wrong
    if is_script or "://" in page or page.startswith("mailto:"):
        hint = "The site is closed: only its own pages can be reached."
    else:
        hint = did_you_mean(page, sorted(known), kind="pages") or "Add the page, or mend the URL."
    yield Finding(route, f"There is no page {quoted(url)}.", hint, span=span)
