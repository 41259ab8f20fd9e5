"""Something in the spec looks like a secret: an API key, a token, a private key, a password in a URL.

An environment is pushed, shown to models and to whoever reads a trace, and kept in git for ever. A key that is in it
must be taken for known to everybody: revoke it, and put a made-up value in its place. Where a task needs something
that looks like a key, write one that plainly is none (`sk-example`, `AKIAIOSFODNN7EXAMPLE`).

Before:

    fixtures:
      settings: {payment_key: "sk_live_ and 24 letters and digits"}

After:

    fixtures:
      settings: {payment_key: "sk_live_example"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from rollout.check.finding import Finding
from rollout.check.secrets import BROKEN_UP, NAMES, find_secrets, may_hold_secret
from rollout.check.subject import Subject
from rollout.check.walk import Leaf, leaves, written
from rollout.diagnostics import Severity, Span
from rollout.source.document import TaskRecord
from rollout.source.place import Route

CODE = "RL391"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    value = subject.document.value
    data = written(dict(value))
    if may_hold_secret(data) or any(beginning in data for beginning in BROKEN_UP):
        yield from _findings(value, (), subject)


screen = may_hold_secret


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        if not may_hold_secret(record.line or written(record.value)):
            return None
        return _findings(record.value, ("tasks", record.index), subject)

    return judge


def _findings(value: Any, route: Route, subject: Subject) -> Iterator[Finding]:
    for leaf in leaves(value, route):
        if not isinstance(leaf.value, str):
            continue
        before = _name_of(leaf)
        for secret in find_secrets(before + leaf.value):
            start, end = max(secret.start - len(before), 0), secret.end - len(before)
            is_one_line = "\n" not in leaf.value[start:end]
            span = (subject.inside(leaf.route, leaf.value, start, end, leaf.at) if is_one_line else None) or (
                subject.document.span(leaf.route, leaf.at)
            )
            yield Finding(
                leaf.route,
                f"This looks like {secret.name}: “{secret.shown}”.",
                "Revoke it if it is real: what is in a spec is known to everyone. Write a made-up value instead.",
                at=leaf.at,
                span=_masked(span),
            )


def _name_of(leaf: Leaf) -> str:
    """The key of a value, as it would stand before it in a text, where it says that the value is a secret."""
    key = leaf.route[-1] if leaf.route else None
    return f"{key}: " if leaf.at == "value" and isinstance(key, str) and NAMES.fullmatch(key) else ""


def _masked(span: Span) -> Span:
    """``span`` with a line that does not give the secret away: a diagnostic ends up in logs and in CI pages."""
    end = span.end_column - 1 if span.end_line == span.line else len(span.text)
    hidden = [(span.column + 7, end), *((each.start + 8, each.end) for each in find_secrets(span.text))]
    text = span.text
    for start, stop in hidden:
        text = text[:start] + "•" * (min(stop, len(text)) - start) + text[stop:] if start < stop else text
    return replace(span, text=text)
