"""The clock of a database: it stands still, in UTC, so that a query comes to the same rows whenever it is asked.

SQLite's date functions are taken over only where they ask for the current time; ``localtime`` and ``utc`` change
nothing, since a machine's time zone must not decide what is right. ``random()`` draws the same numbers every time.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from random import Random
from typing import Any

from rollout.database import DatabaseError

# Which arguments of a function are times; one that is missing means now.
_TIMES = {
    "date": (0,),
    "time": (0,),
    "datetime": (0,),
    "julianday": (0,),
    "unixepoch": (0,),
    "strftime": (1,),
    "timediff": (0, 1),
}
_SUBSECONDS = ("subsec", "subsecond")
_ZONES = ("localtime", "utc")
_LONGEST_DRAW = 1_000_000
_own = threading.local()


def read_clock(text: str) -> datetime:
    """The moment that an ISO 8601 time says, in UTC; UTC too where it names no zone. Raises DatabaseError."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise DatabaseError(
            f"“{text}” is no time; write it as 2025-05-31, or 2025-05-31T12:00:00Z."
        ) from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def current_moment() -> datetime:
    """The time as it is now, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def stop_clock(connection: sqlite3.Connection, moment: datetime) -> None:
    """Makes ``connection`` believe that it is always ``moment``."""
    seconds = moment.replace(microsecond=0, tzinfo=None)
    millis = moment.microsecond // 1000
    now = seconds.isoformat(" ") + (f".{millis:03}" if millis else "")
    known = {name for (name,) in connection.execute("SELECT DISTINCT name FROM pragma_function_list")}
    for name, places in _TIMES.items():
        if name in known:
            connection.create_function(name, -1, _stopped(name, places, now), deterministic=True)
    for name, value in (
        ("current_timestamp", seconds.isoformat(" ")),
        ("current_date", seconds.date().isoformat()),
        ("current_time", seconds.time().isoformat()),
    ):
        connection.create_function(name, 0, _constant(value), deterministic=True)


def _constant(value: str) -> Callable[[], str]:
    return lambda: value


def _stopped(name: str, places: tuple[int, ...], now: str) -> Callable[..., Any]:
    first = places[0]

    def run(*written: Any) -> Any:
        given = list(written)
        if len(given) == first or (len(given) == first + 1 and _lower(given[first]) in _SUBSECONDS):
            given.insert(first, now)
        for place in places:
            if place < len(given) and _lower(given[place]) == "now":
                given[place] = now
        given = given[: first + 1] + [each for each in given[first + 1 :] if _lower(each) not in _ZONES]
        try:
            return _plain().execute(f"SELECT {name}({','.join('?' * len(given))})", given).fetchone()[0]
        except sqlite3.Error:
            return None

    return run


def _lower(value: Any) -> str | None:
    return value.strip().lower() if isinstance(value, str) else None


def _plain() -> sqlite3.Connection:
    # SQLite's own functions, asked on a connection of the thread's own that holds nothing.
    plain: _Plain | None = getattr(_own, "plain", None)
    if plain is None:
        plain = _own.plain = _Plain()
    return plain.connection


class _Plain:
    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)

    def __del__(self) -> None:
        self.connection.close()


class Dice:
    """Where ``random()`` and ``randomblob()`` draw from; thrown anew for each statement."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._random = Random(0)
        connection.create_function("random", 0, self._number)
        connection.create_function("randomblob", 1, self._blob)

    def shake(self, salt: str) -> None:
        """Starts over, with draws that depend on ``salt`` only."""
        self._random.seed(sha256(salt.encode("utf-8", "replace")).digest())

    def _number(self) -> int:
        return self._random.getrandbits(64) - 2**63

    def _blob(self, size: Any) -> bytes:
        count = int(size) if isinstance(size, int | float) else 1
        if count > _LONGEST_DRAW:
            raise OverflowError("string or blob too big")
        return self._random.randbytes(max(1, count))


__all__ = ["Dice", "current_moment", "read_clock", "stop_clock"]
