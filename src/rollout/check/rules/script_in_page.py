"""A page holds a script, or something else that would run in a real browser.

Pages are read, never run: a `<script>`, a handler such as `onclick`, a `javascript:` link, a frame or a refresh would
do nothing, and the page would not be what its author sees in a browser. What a click is to do is said by `href`, by a
form's `action`, and by `mutates` in a page of elements.

Before:

    <a href="#" onclick="location='/cart'">Cart</a>

After:

    <a href="/cart">Cart</a>
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.site import html_of, html_span
from rollout.check.subject import Subject
from rollout.diagnostics import Severity

CODE = "RL375"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for page in subject.pages if subject.template == "browser" else ():
        html = html_of(page)
        for script in html.scripts if html is not None else ():
            yield Finding(
                (*page.route, "html"),
                f"This page has {script.what}; nothing on a page is run.",
                "Take it out; href, action and mutates say what a click does.",
                span=html_span(subject, page, script.start, script.end),
            )
