"""Keys, and the sessions of browsers that signed in with one. Both are kept as hashes.

A key has 256 bits at random, so one round of SHA-256 keeps it; slow hashes are for what people think up.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from rollout.platform.store import tables
from rollout.platform.store.ids import new_id, now

_keys, _sessions = tables.keys, tables.sessions
_KNOWN = select(_keys).where(_keys.c.hash == bindparam("hash"), _keys.c.revoked_at.is_(None))

BEGINNING = "rk_"
_SHOWN = len(BEGINNING) + 6
SECONDS_OF_SESSION = 14 * 24 * 3600


class Scope(StrEnum):
    """What a key is good for. ``admin`` is for keys and figures of the server; each holds those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Key:
    """A key, without what is secret of it. ``rate`` is a limit of requests a minute."""

    id: str
    name: str
    prefix: str
    scope: Scope
    created_at: int
    used_at: int | None
    revoked_at: int | None
    rate: int | None

    def allows(self, scope: Scope) -> bool:
        """Whether it is good for ``scope``."""
        order = list(Scope)
        return order.index(self.scope) >= order.index(scope)


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is signed in. ``csrf`` is what its forms send along."""

    key: Key
    csrf: str


def create(
    connection: Connection, name: str, scope: Scope = Scope.WRITE, *, rate: int | None = None
) -> tuple[Key, str]:
    """A new key, and the whole of it, which is shown this once."""
    whole = BEGINNING + secrets.token_urlsafe(32)
    key = Key(new_id(), name, whole[:_SHOWN], scope, now(), None, None, rate)
    connection.execute(
        insert(_keys).values(
            id=key.id,
            name=name,
            prefix=key.prefix,
            hash=_hash(whole),
            scope=scope,
            created_at=key.created_at,
            rate=rate,
        )
    )
    return key, whole


def list_all(connection: Connection) -> list[Key]:
    """All keys, revoked ones too, the newest first."""
    return [_key(row) for row in connection.execute(select(_keys).order_by(_keys.c.created_at.desc()))]


def are_there(connection: Connection) -> bool:
    """Whether there is a key that can be used."""
    query = select(func.count()).select_from(_keys).where(_keys.c.revoked_at.is_(None))
    return bool(connection.execute(query).scalar_one())


def known(connection: Connection, whole: str) -> Key | None:
    """The key that ``whole`` is, unless it is revoked."""
    hashed = _hash(whole)
    row = connection.execute(_KNOWN, {"hash": hashed}).one_or_none()
    # What was searched for is a hash, of which nobody can choose the beginning; this costs nothing.
    return _key(row) if row is not None and compare_digest(row.hash, hashed) else None


def used(connection: Connection, key_ids: Iterable[str]) -> None:
    """Notes down that keys were used, to the minute."""
    moment = now()
    connection.execute(update(_keys).where(_keys.c.id.in_(list(key_ids))).values(used_at=moment))


def revoke(connection: Connection, key_id: str) -> Key | None:
    """Makes a key useless, with its sessions; None where there is no such key."""
    connection.execute(
        update(_keys).where(_keys.c.id == key_id, _keys.c.revoked_at.is_(None)).values(revoked_at=now())
    )
    connection.execute(delete(_sessions).where(_sessions.c.key_id == key_id))
    row = connection.execute(select(_keys).where(_keys.c.id == key_id)).one_or_none()
    return None if row is None else _key(row)


def sign_in(connection: Connection, key: Key) -> tuple[Session, str]:
    """A new session, and the token of it that the browser keeps."""
    token, csrf, moment = secrets.token_urlsafe(32), secrets.token_urlsafe(32), now()
    connection.execute(delete(_sessions).where(_sessions.c.expires_at < moment))
    connection.execute(
        insert(_sessions).values(
            hash=_hash(token),
            key_id=key.id,
            csrf=csrf,
            created_at=moment,
            expires_at=moment + SECONDS_OF_SESSION * 1000,
        )
    )
    return Session(key, csrf), token


def session(connection: Connection, token: str) -> Session | None:
    """The session of a token, unless it has run out or its key is revoked."""
    query = (
        select(_sessions.c.csrf, *_keys.c)
        .join(_keys, _keys.c.id == _sessions.c.key_id)
        .where(
            _sessions.c.hash == _hash(token), _sessions.c.expires_at >= now(), _keys.c.revoked_at.is_(None)
        )
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else Session(_key(row), row.csrf)


def sign_out(connection: Connection, token: str) -> None:
    """Ends a session."""
    connection.execute(delete(_sessions).where(_sessions.c.hash == _hash(token)))


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _key(row: Any) -> Key:
    values = {name: getattr(row, name) for name in Key.__slots__}
    return Key(**{**values, "scope": Scope(values["scope"])})


__all__ = [
    "BEGINNING",
    "SECONDS_OF_SESSION",
    "Key",
    "Scope",
    "Session",
    "are_there",
    "create",
    "known",
    "list_all",
    "revoke",
    "session",
    "sign_in",
    "sign_out",
    "used",
]
