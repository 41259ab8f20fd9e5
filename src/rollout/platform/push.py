"""Pushing an environment: what would change there, what stays here, and whether it would undo a change of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rollout.compile import Compiled, compile_environment
from rollout.compile.change import Difference
from rollout.compile.diff import appeared, diff
from rollout.environment import Environment
from rollout.platform.client import Client
from rollout.platform.errors import RolloutError
from rollout.platform.held import Held, held_at
from rollout.platform.pushed import Record

NOTHING = "none"
"""What a push asks for that is only to be where no environment of the slug is yet."""


class PushError(ValueError):
    """An environment that cannot be pushed; the text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


class Standing(StrEnum):
    """How what is here stands to what is held there."""

    NEW = "new"
    UNCHANGED = "unchanged"
    AHEAD = "ahead"
    """It was changed here only, since it was pushed or pulled."""
    UNKNOWN = "unknown"
    """Something else is held, and nothing is known of a push from here."""
    MOVED = "moved"
    """It was changed there since."""


@dataclass(frozen=True, slots=True)
class Push:
    """A push that can be made. ``difference`` goes from what is held to what is here."""

    environment: Environment
    compiled: Compiled
    held: Held | None
    standing: Standing
    difference: Difference
    record: Record | None

    @property
    def slug(self) -> str:
        """The slug."""
        return self.environment.slug


@dataclass(frozen=True, slots=True)
class Done:
    """A push that was made; ``version`` is None where the endpoint does not count them. ``remarks`` are sentences."""

    record: Record
    version: int | None
    tasks_added: int | None
    remarks: tuple[str, ...] = ()


def prepare(client: Client, environment: Environment, record: Record | None) -> Push:
    """Looks at what the endpoint holds. Raises PushError for what cannot be pushed at all, and RolloutError."""
    refuse_code(environment)
    try:
        compiled = compile_environment(environment)
    except ValueError as error:
        raise PushError(str(error), "Mend it; `rollout compile` says the same.") from None
    held = held_at(client, environment.slug)
    if held is None:
        return Push(environment, compiled, None, Standing.NEW, appeared(environment), record)
    difference = diff(held.environment, environment, local=False)
    return Push(environment, compiled, held, _standing(compiled, held, record), difference, record)


def both_sides(client: Client, push: Push) -> tuple[Difference | None, Difference | None]:
    """What was changed there, and what here, since they were one; None where the endpoint has no such version."""
    if push.record is None or push.held is None:
        return None, None
    try:
        base = held_at(client, push.slug, digest=push.record.there)
    except RolloutError:
        return None, None
    # An endpoint without versions answers with what it holds.
    if base is None or base.digest != push.record.there:
        return None, None
    return (
        diff(base.environment, push.held.environment, local=False),
        diff(base.environment, push.environment, local=False),
    )


def carry_out(client: Client, push: Push, *, force: bool = False) -> Done:
    """Sends the environment and its verifier. Raises RolloutError, with status 412 where something else is held by now
    than was looked at, unless ``force``."""
    if push.standing is Standing.UNCHANGED:
        assert push.held is not None
        return Done(Record(push.compiled.digest, push.held.digest), None, 0)
    if not client.answers_more:
        return _as_published(client, push)
    there = NOTHING if push.held is None else push.held.mark
    payload = {**push.compiled.environment, "verifier": push.compiled.verifier}
    said = client.push_environment(payload, instead_of=None if force else there)
    digest = push.compiled.digest
    return Done(Record(digest, digest), said.get("version"), said.get("tasksAdded"))


def push_object(environment: Environment, client: Client | None = None) -> dict[str, Any]:
    """What ``Environment.push`` does: sends it whatever is held, as published, and its verifier with it."""
    if client is None:
        with Client() as own:
            return push_object(environment, own)
    refuse_code(environment)
    compiled = compile_environment(environment)
    # Only an answer tells what the server knows.
    held_at(client, environment.slug)
    if client.answers_more:
        return dict(client.push_environment({**compiled.environment, "verifier": compiled.verifier}))
    said = client.push_environment(compiled.environment)
    if compiled.verifier is not None:
        client.push_verifier(environment.slug, compiled.verifier)
    return dict(said)


def refuse_code(environment: Environment) -> None:
    """Raises PushError for a verifier that judges with Python files of this machine."""
    for primitive in _primitives(environment):
        if primitive.get("type") == "python":
            raise PushError(
                f"“{environment.slug}” is judged by the Python file of its primitive “{primitive.get('name')}”, which "
                "stays on this machine: nobody there could judge.",
                "Judge with other primitives, or run it here with `rollout test`.",
            )


def stays_here(environment: Environment, client: Client) -> Iterator[str]:
    """What the endpoint is not told of, or may not know, in sentences."""
    if number := sum(task.solution is not None for task in environment.tasks):
        solutions = "1 solution stays" if number == 1 else f"{number:,} solutions stay"
        yield f"{solutions} here."
    local = {
        "dialect": environment.dialect,
        "now": environment.now,
        "readOnly": None if environment.read_only else False,
    }
    if said := [key for key, value in local.items() if value is not None]:
        yield f"{_listed(said)} {'stays' if len(said) == 1 else 'stay'} here: rollouts there run without."
    if client.answers_more:
        return
    tools = (environment.config or {}).get("tools")
    for key in ("cases", "vars"):
        named = [
            str(tool.get("name"))
            for tool in (tools if isinstance(tools, list) else ())
            if isinstance(tool, Mapping) and tool.get(key)
        ]
        if named:
            has = "has" if len(named) == 1 else "have"
            yield f"{client.endpoint} may not know “{key}”, which {_listed(named)} {has}."


def _as_published(client: Client, push: Push) -> Done:
    """Environment first, then verifier: another may push between the two, which no such endpoint can be kept from."""
    said = client.push_environment(push.compiled.environment)
    remarks: list[str] = []
    verifier = push.compiled.verifier
    if verifier is not None and (push.held is None or push.held.compiled.verifier != verifier):
        try:
            client.push_verifier(push.slug, verifier)
        except RolloutError as error:
            raise RolloutError(
                error.status,
                f"The environment was pushed, its verifier was not: {error.message}",
                error.body,
                hint="It is judged there as before. Push it again with --force.",
            ) from None
    elif verifier is None and push.held is not None and push.held.compiled.verifier is not None:
        remarks.append(f"It has no verifier here; {client.endpoint} keeps the one it has.")
    held = held_at(client, push.slug)
    digest = push.compiled.digest
    return Done(
        Record(digest, digest if held is None else held.digest), None, said.get("tasksAdded"), tuple(remarks)
    )


def _standing(compiled: Compiled, held: Held, record: Record | None) -> Standing:
    if held.digest == compiled.digest:
        return Standing.UNCHANGED
    if record is None:
        return Standing.UNKNOWN
    if record.there != held.digest:
        return Standing.MOVED
    return Standing.UNCHANGED if record.here == compiled.digest else Standing.AHEAD


def _primitives(environment: Environment) -> list[Mapping[str, Any]]:
    found = (environment.verifier or {}).get("primitives")
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _listed(words: list[str]) -> str:
    quoted = [f"“{word}”" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


__all__ = [
    "Done",
    "Push",
    "PushError",
    "Standing",
    "both_sides",
    "carry_out",
    "prepare",
    "push_object",
    "refuse_code",
    "stays_here",
]
