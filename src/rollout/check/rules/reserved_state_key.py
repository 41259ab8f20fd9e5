"""The state of a site has a key that is the browser's own.

In the final state, `url` and `title` say which page is open, and `values` what stands in the fields. A key of the
site's state cannot be called so.

Before:

    initialState: {url: /orders/17}

After:

    initialState: {order_url: /orders/17}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.site import OWN_KEYS

CODE = "RL379"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template != "browser":
        return
    for key in OWN_KEYS:
        if key in subject.initial_state:
            yield Finding(
                ("config", subject.state_key, key),
                f"The state of a site cannot have the key {quoted(key)}: it is the browser's own.",
                f"Give it another name, such as {quoted(f'site_{key}')}.",
                at="key",
            )
