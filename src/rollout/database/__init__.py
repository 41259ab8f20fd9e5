"""Databases: the SQLite database of a sql environment, built once, copied for whoever uses it, and shut in.

Checking, rollouts and grading see the same database through the same sandbox, so that a gold query that is found sound
is sound when it judges.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DatabaseSpec:
    """What an environment says of its database.

    ``schema`` and ``seed`` are SQL; ``dialect`` is what they are written in (None: SQLite's own). ``now`` is an ISO
    8601 time at which the clock stands still, None for the time at which the database is built. ``read_only`` says
    whether an agent may only query.
    """

    schema: str
    seed: str = ""
    dialect: str | None = None
    now: str | None = None
    read_only: bool = True


class DatabaseError(ValueError):
    """A database that cannot be built, or a query on it that cannot be answered; its text is a sentence."""


__all__ = ["DatabaseError", "DatabaseSpec"]
