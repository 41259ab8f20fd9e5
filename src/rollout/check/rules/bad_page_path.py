"""A form or button changes a path that is no path.

`path` names what is changed in the state: `order.status`, `cart[]` to add to a list. A path that cannot be read could
never be written to, so the form would fail each time it is sent.

Before:

    mutates: {path: "cart[", value: kettle}

After:

    mutates: {path: "cart[]", value: kettle}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.site import elements
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.path_template import parse_path_template
from rollout.language.paths import PathError
from rollout.source.place import Route

CODE = "RL378"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for page in subject.pages if subject.template == "browser" else ():
        for element in elements(page):
            mutates, route = element.value.get("mutates"), (*element.route, "mutates")
            if isinstance(mutates, list):
                for index, change in enumerate(mutates):
                    yield from _judge((*route, index), change)
            else:
                yield from _judge(route, mutates)


def _judge(route: Route, change: object) -> Iterator[Finding]:
    path = change.get("path") if isinstance(change, dict) else None
    if not isinstance(path, str) or not path:
        return
    try:
        parse_path_template(path, appending=True)
    except PathError as error:
        yield Finding((*route, "path"), f"{quoted(path)} is no path: {error.message}", error.hint)
    except ValueError:
        return  # the placeholder in it is what is wrong
