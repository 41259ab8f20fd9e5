"""Environments, and every version that was pushed of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from rollout.compile import Compiled
from rollout.platform.store import tables
from rollout.platform.store.database import AgainError
from rollout.platform.store.ids import new_id, now

_environments, _versions = tables.environments, tables.versions

# What is asked at every request is put together once: that takes longer than the answer.
_FIND = select(_environments).where(_environments.c.slug == bindparam("slug"))
_LOCK = select(_environments.c.id).where(_environments.c.slug == bindparam("slug")).with_for_update()
_BY_ID = select(_environments).where(_environments.c.id.in_(bindparam("ids", expanding=True)))
_DATA = select(_versions.c.data).where(
    _versions.c.environment_id == bindparam("environment"), _versions.c.digest == bindparam("digest")
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An environment, without what it holds. ``version`` counts from 1; times are in milliseconds since 1970."""

    id: str
    slug: str
    name: str
    template: str
    description: str | None
    digest: str
    version: int
    task_count: int
    created_at: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Version:
    """A version of an environment, without what it holds."""

    number: int
    digest: str
    task_count: int
    pushed_at: int


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came of a push: ``before`` is what was held, None where the environment is new."""

    entry: Entry
    before: Entry | None

    @property
    def changed(self) -> bool:
        """Whether another version is held now than before."""
        return self.before is None or self.before.digest != self.entry.digest


class HeldError(Exception):
    """Another version is held than the one that the push was made for; ``held`` is its digest, None where none is."""

    def __init__(self, held: str | None) -> None:
        super().__init__(held)
        self.held = held


def list_all(connection: Connection, *, after: str = "", limit: int | None = None) -> list[Entry]:
    """The environments by slug; those that follow ``after``."""
    query = select(_environments).where(_environments.c.slug > after).order_by(_environments.c.slug)
    return [_entry(row) for row in connection.execute(query.limit(limit))]


def find(connection: Connection, slug: str) -> Entry | None:
    """The environment of that slug."""
    row = connection.execute(_FIND, {"slug": slug}).one_or_none()
    return None if row is None else _entry(row)


def by_id(connection: Connection, ids: set[str]) -> dict[str, Entry]:
    """Environments by their ids."""
    return {row.id: _entry(row) for row in connection.execute(_BY_ID, {"ids": list(ids)})}


def data(connection: Connection, environment_id: str, digest: str) -> bytes | None:
    """The compiled file of a version; None where there is no such version."""
    return connection.execute(_DATA, {"environment": environment_id, "digest": digest}).scalar_one_or_none()


def versions(connection: Connection, environment_id: str) -> list[Version]:
    """All versions, the newest first."""
    columns = (_versions.c.number, _versions.c.digest, _versions.c.task_count, _versions.c.pushed_at)
    query = (
        select(*columns)
        .where(_versions.c.environment_id == environment_id)
        .order_by(_versions.c.number.desc())
    )
    return [Version(*row) for row in connection.execute(query)]


def matching(connection: Connection, environment_id: str, start: str) -> list[str]:
    """The digests of all versions that begin with ``start``, which may be without ``sha256:``."""
    wanted = start.removeprefix("sha256:")
    return [
        version.digest
        for version in versions(connection, environment_id)
        if version.digest.removeprefix("sha256:").startswith(wanted)
    ]


def lock(connection: Connection, slug: str) -> bool:
    """Has whoever else pushes an environment wait until this transaction is over: what is read from here on is what a
    push of it replaces. Whether there was anything to lock: of a new environment there is not."""
    # On SQLite every other writer waits anyway.
    return (
        connection.dialect.name == "sqlite" or connection.execute(_LOCK, {"slug": slug}).first() is not None
    )


def push(
    connection: Connection,
    compiled: Compiled,
    *,
    key_id: str | None = None,
    instead_of: str | None = None,
    checked: bool = False,
) -> Pushed:
    """Holds a version, the newest from now on; does nothing where it is that already.

    With ``checked``, ``instead_of`` is the digest that must be held, None for none. Raises HeldError.
    """
    said = compiled.environment
    slug = said["slug"]
    is_locked = lock(connection, slug)
    before = find(connection, slug)
    if before is not None and not is_locked:
        # It was made a moment ago, when there was no row to lock.
        raise AgainError
    held = None if before is None else before.digest
    if checked and held != instead_of:
        raise HeldError(held)
    if before is not None and held == compiled.digest:
        return Pushed(before, before)
    moment = now()
    shown: dict[str, Any] = {
        "name": said["name"],
        "template": said["template"],
        "description": said.get("description"),
        "digest": compiled.digest,
        "task_count": len(said["tasks"]),
        "updated_at": moment,
    }
    if before is None:
        entry = Entry(id=new_id(), slug=slug, version=1, created_at=moment, **shown)
        try:
            connection.execute(insert(_environments).values(**_row(entry)))
        except IntegrityError:
            # Somebody else's push of it came first; this one is to see it.
            raise AgainError from None
        _hold(connection, entry, compiled, 1, key_id)
        return Pushed(entry, None)
    number = _number_of(connection, before.id, compiled.digest)
    if number is None:
        number = 1 + max(version.number for version in versions(connection, before.id))
        _hold(connection, before, compiled, number, key_id)
    shown["version"] = number
    connection.execute(update(_environments).where(_environments.c.id == before.id).values(**shown))
    after = find(connection, slug)
    assert after is not None
    return Pushed(after, before)


def _number_of(connection: Connection, environment_id: str, digest: str) -> int | None:
    query = select(_versions.c.number).where(
        _versions.c.environment_id == environment_id, _versions.c.digest == digest
    )
    return connection.execute(query).scalar_one_or_none()


def _hold(connection: Connection, entry: Entry, compiled: Compiled, number: int, key_id: str | None) -> None:
    connection.execute(
        insert(_versions).values(
            environment_id=entry.id,
            number=number,
            digest=compiled.digest,
            task_count=len(compiled.environment["tasks"]),
            data=compiled.data,
            pushed_at=now(),
            key_id=key_id,
        )
    )


def _row(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in Entry.__slots__}


def _entry(row: Any) -> Entry:
    return Entry(**{name: getattr(row, name) for name in Entry.__slots__})


__all__ = [
    "Entry",
    "HeldError",
    "Pushed",
    "Version",
    "by_id",
    "data",
    "find",
    "list_all",
    "lock",
    "matching",
    "push",
    "versions",
]
