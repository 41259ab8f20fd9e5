"""Text that was to be filled in is still there: TODO, FIXME, lorem ipsum, example.com, a `${…}` in an instruction.

The agent reads it as part of its task. At best it is noise; at worst it is the part that says what is to be done.
Write what was meant, or take it out. `jane@example.com` as somebody's address is fine: such domains are reserved for
made-up data. In code that agents are to edit, and in data, a TODO is part of the world. An instruction is given to the
agent as it stands: `${task.input.name}` is filled in by tools and pages only.

Before:

    description: "TODO: say what this tool does"

After:

    description: Refund an order, in full or in part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.foreign import UNFILLED
from rollout.check.subject import Subject
from rollout.check.walk import Leaf, leaves, written
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord
from rollout.source.place import Route

CODE = "RL390"
SEVERITY = Severity.WARNING

_NOTE = re.compile(
    r"\b(?:TODO|FIXME)\b(?!['’]?s\b)"
    # A to-do list or the TODO comments of a program are what a task is about.
    r"(?![ -](?:lists?|items?|comments?|apps?|entr(?:y|ies)|tasks?|markers?|notes?|tags?)\b)"
)
_STRICT_NOTE = re.compile(r"^\W*(?:TODO|FIXME)\b\s*(?:$|[:(\]>-])|[\[<{(](?:TODO|FIXME)\b")
_LOREM = re.compile(r"\blorem\s+ipsum\b", re.IGNORECASE)
_DOMAIN = re.compile(r"(?<![\w@.-])(?:[\w-]+\.)*example\.(?:com|org|net)\b", re.IGNORECASE)

_SPOKEN = frozenset({"name", "description", "title", "instruction"})
"""Keys whose text is read by the agent or by people, whatever the template."""
_DATA = frozenset(
    {"fixtures", "initialMutableState", "initialState", "files", "pages", "response", "value", "mutates"}
)


def check(subject: Subject) -> Iterator[Finding]:
    value = subject.document.value
    if not _may_hold(written(dict(value)).decode("utf-8", "replace")):
        return
    hosts = _hosts(subject)
    for leaf in leaves(value):
        if leaf.at == "key" or not isinstance(leaf.value, str) or str(leaf.route[0]).startswith("x-"):
            continue
        spoken = leaf.route[-1] in _SPOKEN and not _DATA.intersection(map(str, leaf.route[:-1]))
        yield from _judge(subject, leaf, spoken=spoken, hosts=hosts)


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    hosts: list[frozenset[str]] = []

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        instruction = record.value["instruction"]
        if not (
            "TODO" in instruction
            or "example." in instruction
            or "FIXME" in instruction
            or "psum" in instruction
            or "${" in instruction
        ):
            return None
        if not hosts:
            hosts.append(_hosts(subject))
        leaf = Leaf(("tasks", record.index, "instruction"), instruction, "value")
        return list(_judge(subject, leaf, spoken=True, hosts=hosts[0]))

    return judge


def _may_hold(text: str) -> bool:
    return "TODO" in text or "FIXME" in text or "xample." in text or "psum" in text or "${" in text


def _judge(subject: Subject, leaf: Leaf, *, spoken: bool, hosts: frozenset[str]) -> Iterator[Finding]:
    text: str = leaf.value
    if not _may_hold(text) or "files" in leaf.route:
        return
    found = [*_LOREM.finditer(text)]
    if spoken and subject.template != "code-editing":
        found += _NOTE.finditer(text)
    elif not _is_data(leaf.route):
        found += _STRICT_NOTE.finditer(text)
    if spoken:
        found += (each for each in _DOMAIN.finditer(text) if each[0].lower() not in hosts)
        if leaf.route[-1] == "instruction" and subject.template != "code-editing":
            found += UNFILLED.finditer(text)
    for match in sorted(found, key=re.Match.start):
        shown = match[0].strip("[<{(:-> ")
        start = match.start() + match[0].index(shown)
        yield Finding(
            leaf.route,
            f"{quoted(shown)} looks like text that was to be filled in.",
            "Write what was meant, or take it out.",
            span=subject.inside(leaf.route, text, start, start + len(shown)),
        )


def _is_data(route: Route) -> bool:
    return bool(_DATA.intersection(map(str, route)))


_HOST = re.compile(r"https?://([^/:\s?#]+)", re.IGNORECASE)


def _hosts(subject: Subject) -> frozenset[str]:
    """The hosts of a browser environment's own pages: there an example.com is a place, not a gap."""
    if subject.template != "browser":
        return frozenset()
    urls: list[Any] = [subject.config.get("initialUrl"), *(page.value.get("url") for page in subject.pages)]
    return frozenset(match[1].lower() for url in urls if isinstance(url, str) and (match := _HOST.match(url)))
