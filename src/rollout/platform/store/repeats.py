"""Requests that may come twice, by the name that the sender gave them: the second gets the answer of the first."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from rollout.platform.store import tables
from rollout.platform.store.database import AgainError
from rollout.platform.store.ids import now

_repeats = tables.repeats
_KEPT = 24 * 3600 * 1000
_ABANDONED = 120 * 1000


class OtherRequestError(Exception):
    """The name was given to another request before."""


class UnderWayError(Exception):
    """The same request is being answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered."""

    status: int
    body: bytes


def begin(connection: Connection, sender: str, name: str, request: str) -> Answer | None:
    """The answer to a request that was answered before; None where it is to be answered now.

    ``request`` is a hash of all that counts of it. Raises OtherRequestError and UnderWayError. One that was begun two
    minutes ago and never answered is taken for abandoned.
    """
    moment = now()
    connection.execute(delete(_repeats).where(_repeats.c.created_at < moment - _KEPT))
    mine = (_repeats.c.sender == sender) & (_repeats.c.name == name)
    row = connection.execute(select(_repeats).where(mine)).one_or_none()
    if row is None:
        values = {"sender": sender, "name": name, "request": request, "created_at": moment}
        try:
            connection.execute(insert(_repeats).values(**values))
        except IntegrityError:
            raise AgainError from None
        return None
    if row.request != request:
        raise OtherRequestError
    if row.status is not None:
        return Answer(row.status, row.body)
    if row.created_at > moment - _ABANDONED:
        raise UnderWayError
    connection.execute(update(_repeats).where(mine).values(created_at=moment))
    return None


def answered(connection: Connection, sender: str, name: str, answer: Answer) -> None:
    """Keeps the answer, in the transaction that does what was asked for."""
    mine = (_repeats.c.sender == sender) & (_repeats.c.name == name)
    connection.execute(update(_repeats).where(mine).values(status=answer.status, body=answer.body))


def forget(connection: Connection, sender: str, name: str) -> None:
    """Forgets a request that was not carried out, so that it may be sent again."""
    mine = (_repeats.c.sender == sender) & (_repeats.c.name == name)
    connection.execute(delete(_repeats).where(mine, _repeats.c.status.is_(None)))


__all__ = ["Answer", "OtherRequestError", "UnderWayError", "answered", "begin", "forget"]
