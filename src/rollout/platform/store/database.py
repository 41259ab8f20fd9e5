"""The database beneath the platform, SQLite or PostgreSQL, and how it is reached."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import orjson
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

P = ParamSpec("P")
T = TypeVar("T")

_SECONDS_TO_WAIT = 30
_READERS = 4
_TRIES = 5


class StoreError(Exception):
    """A database that cannot be used; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint


class FullError(StoreError):
    """A database that has no room left."""

    def __init__(self) -> None:
        super().__init__(
            "The disk that the database is on is full.",
            "Make room on it; what is under way goes on then, and what was refused can be sent again.",
        )


class UnkeepableError(ValueError):
    """A text that the database does not take."""


class AgainError(Exception):
    """Another transaction was in the way: the work is to be done once more, on what is there now."""


class Store:
    """A database, brought up to date when it is opened.

    All work is a function of a connection. It may be done more than once, when another transaction was in the way, so
    it has no effects but on the database.
    """

    def __init__(self, url: str) -> None:
        """Opens the database at ``url``, such as ``sqlite:///rollout.db``. Raises StoreError."""
        self.engine = _engine(_read(url))
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self.is_full = False
        # SQLite has one writer at a time anyway; waiting in line is fairer than asking again and again.
        self._writers = ThreadPoolExecutor(1 if self.is_sqlite else _READERS, "rollout-write")
        self._readers = ThreadPoolExecutor(_READERS, "rollout-read")
        try:
            from rollout.platform.store.migrations import migrate

            migrate(self.engine)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that sees one state of the database, and changes nothing."""
        with _words(self.engine), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction, which is kept when its block ends and undone when that raises."""
        options = {"writes": True}
        with (
            _words(self.engine),
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    def read(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **more: P.kwargs) -> T:
        """What ``work`` finds. Raises StoreError where the database does not answer."""
        with self.reading() as connection:
            return work(connection, *args, **more)

    def write(self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **more: P.kwargs) -> T:
        """Does ``work`` as one transaction. Raises StoreError where the database does not answer, and FullError."""
        for _ in range(_TRIES):
            try:
                with self.writing() as connection:
                    done = work(connection, *args, **more)
            except AgainError:
                continue
            except FullError:
                self.is_full = True
                raise
            self.is_full = False
            return done
        raise StoreError("Too many write the same at once.", "Try it again.")

    async def aread(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **more: P.kwargs
    ) -> T:
        """As :meth:`read`, beside the event loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, lambda: self.read(work, *args, **more))

    async def aglance(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **more: P.kwargs
    ) -> T:
        """As :meth:`aread`, for what looks at a few rows by an index: where the database is a file here, a thread costs
        more than the look, and readers wait for nobody."""
        if self.is_sqlite:
            return self.read(work, *args, **more)
        return await self.aread(work, *args, **more)

    async def awrite(
        self, work: Callable[Concatenate[Connection, P], T], *args: P.args, **more: P.kwargs
    ) -> T:
        """As :meth:`write`, beside the event loop. A transaction that was begun ends, also when nobody waits for it."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writers, lambda: self.write(work, *args, **more))

    def close(self) -> None:
        """Ends what is under way and gives the connections back."""
        self._writers.shutdown()
        self._readers.shutdown()
        self.engine.dispose()


def _read(url: str) -> URL:
    try:
        made = make_url(url)
    except (ArgumentError, ValueError):
        made = None
    if made is None or made.get_backend_name() not in ("sqlite", "postgresql"):
        raise StoreError(
            "That is no address of a database that rollout can use.",
            "Write sqlite:///path/to/rollout.db, or postgresql+psycopg://user:password@host/name.",
        )
    if made.drivername == "postgresql":
        made = made.set(drivername="postgresql+psycopg")
    return made


def _engine(url: URL) -> Engine:
    shared: dict[str, Any] = {
        "json_serializer": lambda value: orjson.dumps(value).decode(),
        "json_deserializer": orjson.loads,
    }
    if url.get_backend_name() == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise StoreError(
                "A database in memory is gone with each connection.", "Write sqlite:///path/to/rollout.db."
            )
        _private(Path(url.database or ""))
        engine = create_engine(
            url,
            pool_size=_READERS + 1,
            max_overflow=_READERS,
            connect_args={"timeout": _SECONDS_TO_WAIT, "check_same_thread": False},
            **shared,
        )
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        return create_engine(
            url,
            pool_pre_ping=True,
            pool_size=2 * _READERS,
            connect_args={"connect_timeout": 10},
            isolation_level="READ COMMITTED",
            **shared,
        )
    except (NoSuchModuleError, ModuleNotFoundError):
        raise StoreError(
            "PostgreSQL cannot be reached from here: psycopg is not installed.",
            "Install it with rollout: pip install 'rolloutdev[server]', in a clone -e '.[server]'",
        ) from None


def _private(path: Path) -> None:
    """Makes the file of a database so that nobody else on this machine can read it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(
            f"The database “{path}” cannot be written: {error.strerror}.",
            "Name another folder with --data, or by ROLLOUT_DATA.",
        ) from None


def _set_up_sqlite(connection: Any, _: Any) -> None:
    # Transactions are begun by the listener below, and not by the driver in the middle of one.
    connection.isolation_level = None
    cursor = connection.cursor()
    for line in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-16000"):
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # One that reads first and writes later would be refused when another has written in between.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _words(engine: Engine) -> Iterator[None]:
    """Says in a sentence that the database does not answer; faults of our own statements stay what they are."""
    try:
        yield
    except DBAPIError as error:
        from sqlalchemy.exc import DatabaseError, DataError, InterfaceError, OperationalError

        state = getattr(error.orig, "sqlstate", None)
        if state in ("40001", "40P01"):
            raise AgainError from error
        if state == "53100" or getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise FullError from error
        if isinstance(error, DataError) and "NUL" in str(error.orig):
            raise UnkeepableError("There is a character in it that cannot be kept: U+0000.") from error
        # A file that is no database is what sqlite3 has no narrower name for.
        if not isinstance(error, OperationalError | InterfaceError) and type(error) is not DatabaseError:
            raise
        why = " ".join(str(error.orig).split())[:200].rstrip(".")
        raise StoreError(f"The database does not answer: {why}.") from error


__all__ = ["AgainError", "FullError", "Store", "StoreError", "UnkeepableError"]
