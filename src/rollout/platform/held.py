"""The version of an environment that an endpoint holds, read as any other and compiled as it is here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from rollout.check import check
from rollout.check.report import environment_in
from rollout.compile import Compiled, compile_environment
from rollout.compile.wire import read_wire, says_no_environment
from rollout.environment import Environment
from rollout.platform.client import Client
from rollout.platform.errors import RolloutError
from rollout.source.contract import templates


@dataclass(frozen=True, slots=True)
class Held:
    """``compiled`` is what is made of it here; ``mark`` is the digest by which the endpoint knows it, where it does."""

    environment: Environment
    compiled: Compiled
    mark: str | None

    @property
    def digest(self) -> str:
        """The digest of the compiled bytes."""
        return self.compiled.digest


def held_at(client: Client, slug: str, *, digest: str | None = None) -> Held | None:
    """What the endpoint holds, now or as the version of that digest; None where there is no such environment.

    Raises RolloutError, also for what the endpoint takes for an environment and is none.
    """
    try:
        answer = client.get_environment(slug, digest=digest)
    except RolloutError as error:
        if error.status == 404 and digest is None:
            return None
        raise
    wire = read_wire(orjson.dumps(answer), f"{slug} at {client.endpoint}")
    template = wire.document.value.get("template")
    if template not in templates():
        raise _unreadable(
            client, slug, answer, f"its template is “{template}”, which this version does not know."
        )
    # Whatever its rules would find, it is what is held.
    report = check(wire.document, select=frozenset())
    if says_no_environment(report):
        why = report.diagnostics[0].message if report.diagnostics else "it says nothing."
        raise _unreadable(client, slug, answer, why)
    environment = environment_in(wire.document)
    if environment.slug != slug:
        raise RolloutError(
            0, f"{client.endpoint} was asked for “{slug}” and answered with “{environment.slug}”.", answer
        )
    try:
        compiled = compile_environment(environment)
    except ValueError as error:
        raise RolloutError(0, str(error), answer) from None
    mark = answer.get("digest")
    return Held(environment, compiled, mark if isinstance(mark, str) else None)


def _unreadable(client: Client, slug: str, answer: Any, why: str) -> RolloutError:
    return RolloutError(
        0, f"What {client.endpoint} holds as “{slug}” cannot be read: {why}", answer, hint="Look at it there."
    )


__all__ = ["Held", "held_at"]
