"""Brings a database up to date, by Alembic; its folder ``versions/`` has one file a step."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

NEWEST = "0004"
"""The last step. A database that is there already is not looked at by Alembic, whose import costs half a second."""


def migrate(engine: Engine) -> None:
    """Does the steps that a database lacks, as one transaction. Raises StoreError for one of a newer version."""
    from rollout.platform.store.database import StoreError, _words

    with _words(engine):
        with engine.connect() as connection, connection.begin():
            found = _revision(connection)
        if found == NEWEST:
            return
        known = {
            path.name.partition("_")[0] for path in (Path(__file__).parent / "versions").glob("[0-9]*.py")
        }
        if found is not None and found not in known:
            raise StoreError(
                f"The database was made by a newer version of rollout (its tables are of {found}, and {NEWEST} is the "
                "last that this one knows).",
                "Upgrade: pip install --upgrade rolloutdev",
            )
        _upgrade(engine)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("select version_num from alembic_version")).scalar()


def _upgrade(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if engine.dialect.name != "sqlite":
            # Two servers that start at once take their turns; SQLite's write transaction sees to that itself.
            connection.execute(text("select pg_advisory_xact_lock(728412)"))
        if _revision(connection) != NEWEST:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")


__all__ = ["NEWEST", "migrate"]
