"""Requests that may come twice, by the name that the sender gave them: the second gets the answer of the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from rollout.platform.store import tables
from rollout.platform.store.database import AgainError
from rollout.platform.store.ids import now

_repeats = tables.repeats
_KEPT = 24 * 3600 * 1000
_ABANDONED = 20 * 1000

SECONDS_BETWEEN = 5.0
"""How often a process says that it still answers a request."""


class OtherRequestError(Exception):
    """The name was given to another request before."""


class UnderWayError(Exception):
    """The same request is being answered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered."""

    status: int
    body: bytes


def begin(
    connection: Connection,
    sender: str,
    name: str,
    request: str,
    *,
    process: str = "",
    is_gone: Callable[[str], bool] = lambda process: False,
) -> Answer | None:
    """The answer to a request that was answered before; None where it is to be answered now, by ``process``.

    ``request`` is a hash of all that counts of it. Raises OtherRequestError, and UnderWayError while it is answered:
    until the process that does so ``is_gone``, or has not said for a while that it still does.
    """
    moment = now()
    connection.execute(delete(_repeats).where(_repeats.c.created_at < moment - _KEPT))
    mine = (_repeats.c.sender == sender) & (_repeats.c.name == name)
    row = connection.execute(select(_repeats).where(mine)).one_or_none()
    # Whoever answers it stands where its answer will.
    taken = {"created_at": moment, "body": process.encode()}
    if row is None:
        try:
            connection.execute(insert(_repeats).values(sender=sender, name=name, request=request, **taken))
        except IntegrityError:
            raise AgainError from None
        return None
    if row.request != request:
        raise OtherRequestError
    if row.status is not None:
        return Answer(row.status, row.body)
    if row.created_at > moment - _ABANDONED and not is_gone((row.body or b"").decode()):
        raise UnderWayError
    as_it_was = (mine, _repeats.c.status.is_(None), _repeats.c.created_at == row.created_at)
    if not connection.execute(update(_repeats).where(*as_it_was).values(**taken)).rowcount:
        raise AgainError
    return None


def still_answering(connection: Connection, sender: str, name: str, process: str) -> None:
    """Says that a process still answers a request."""
    connection.execute(
        update(_repeats)
        .where(
            _repeats.c.sender == sender,
            _repeats.c.name == name,
            _repeats.c.status.is_(None),
            _repeats.c.body == process.encode(),
        )
        .values(created_at=now())
    )


def answered(connection: Connection, sender: str, name: str, answer: Answer) -> None:
    """Keeps the answer, in the transaction that does what was asked for."""
    mine = (_repeats.c.sender == sender) & (_repeats.c.name == name)
    connection.execute(update(_repeats).where(mine).values(status=answer.status, body=answer.body))


def forget(connection: Connection, sender: str, name: str) -> None:
    """Forgets a request that was not carried out, so that it may be sent again."""
    mine = (_repeats.c.sender == sender) & (_repeats.c.name == name)
    connection.execute(delete(_repeats).where(mine, _repeats.c.status.is_(None)))


__all__ = [
    "SECONDS_BETWEEN",
    "Answer",
    "OtherRequestError",
    "UnderWayError",
    "answered",
    "begin",
    "forget",
    "still_answering",
]
