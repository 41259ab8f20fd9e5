"""A path of a tool cannot be read.

`fixturePath`, `appendTo`, `stateArray` and the `path` of a change are keys joined by dots, with `[0]` for a place in a
list: `orders.${args.order_id}`, `cart.items[0]`. A change may end in `[]`, which adds to the list. A key that has dots
or brackets in it is quoted: `["a.b"]`.

Before:

    mutates: {path: "order..status", value: shipped}

After:

    mutates: {path: order.status, value: shipped}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.path_template import parse_path_template
from rollout.language.paths import PathError
from rollout.language.placeholders import parse

CODE = "RL325"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        for key, route, text, appending in tool.paths:
            if not text or parse(text).faults:
                # An empty text is a matter of shape, and a malformed placeholder is bad-placeholder's.
                continue
            try:
                parse_path_template(text, appending=appending)
            except PathError as error:
                yield Finding(route, f"{quoted(text)} is no path for “{key}”. {error}", error.hint)
