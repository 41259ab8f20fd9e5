"""The tables, as the newest migration leaves them. Times are whole milliseconds since 1970, in UTC."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)


class Words(TypeDecorator[str]):
    """Text that both databases take: PostgreSQL knows no U+0000, and UTF-8 no halves of characters."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: object) -> str | None:
        """The text with U+FFFD for what cannot be kept."""
        if value is None or (value.isascii() and "\0" not in value):
            return value
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

environments = Table(
    "environments",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("slug", Words, nullable=False, unique=True),
    Column("name", Words, nullable=False),
    Column("template", String(40), nullable=False),
    Column("description", Words),
    Column("digest", String(80), nullable=False),
    Column("version", Integer, nullable=False),
    Column("task_count", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index(None, "updated_at", "slug"),
)

versions = Table(
    "versions",
    metadata,
    Column("environment_id", ForeignKey("environments.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("digest", String(80), nullable=False),
    Column("task_count", Integer, nullable=False),
    # The compiled file, canonical bytes, of which `digest` is the digest.
    Column("data", LargeBinary, nullable=False),
    Column("pushed_at", BigInteger, nullable=False),
    Column("key_id", ForeignKey("keys.id")),
    UniqueConstraint("environment_id", "digest"),
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("environment_id", ForeignKey("environments.id"), nullable=False),
    Column("digest", String(80), nullable=False),
    Column("model", Words, nullable=False),
    Column("name", Words),
    Column("parent_id", ForeignKey("runs.id")),
    # What else it was asked to do: n, tasks, sampling, limits.
    Column("options", JSON, nullable=False),
    # What it turned out to be run with, so that it is only gone on with the same.
    Column("inputs", JSON),
    Column("status", String(12), nullable=False),
    Column("total", Integer, nullable=False),
    Column("done", Integer, nullable=False, default=0),
    Column("passed", Integer, nullable=False, default=0),
    Column("failed", Integer, nullable=False, default=0),
    Column("errors", Integer, nullable=False, default=0),
    Column("unscored", Integer, nullable=False, default=0),
    Column("score_sum", Float, nullable=False, default=0.0),
    Column("usage", JSON),
    # Why it ended early, in a sentence.
    Column("reason", Words),
    Column("created_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("ended_at", BigInteger),
    Column("cancel_requested", Boolean, nullable=False, default=False),
    # Whoever executes it, and until when nobody else may.
    Column("owner", String(64)),
    Column("lease_until", BigInteger),
    Column("key_id", ForeignKey("keys.id")),
    Index(None, "created_at", "id"),
    Index(None, "environment_id", "created_at", "id"),
    Index(None, "status", "created_at", "id"),
)

rollouts = Table(
    "rollouts",
    metadata,
    Column("run_id", ForeignKey("runs.id"), primary_key=True),
    Column("task_index", Integer, primary_key=True),
    Column("trial", Integer, primary_key=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("task", Words, nullable=False),
    Column("instruction", Words, nullable=False),
    Column("split", String(20), nullable=False),
    Column("outcome", String(12), nullable=False),
    # Infrastructure kept it from a grade: a run that is gone on with does it again.
    Column("again", Boolean, nullable=False),
    Column("score", Float),
    Column("reason", Words, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("seconds", Float, nullable=False),
    # The line of a run's journal, compressed with zlib.
    Column("line", LargeBinary, nullable=False),
    Column("finished_at", BigInteger, nullable=False),
    # Whom it is charged to that it was not graded.
    Column("charged_to", String(16)),
    Index(None, "run_id", "outcome", "task_index", "trial"),
    Index(None, "run_id", "task_index", "outcome", "score"),
    Index(None, "run_id", "finished_at"),
)

keys = Table(
    "keys",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", Words, nullable=False),
    # What is shown of it; the rest is known to nobody but whom it was given to.
    Column("prefix", String(16), nullable=False),
    Column("hash", String(64), nullable=False, unique=True),
    Column("scope", String(12), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("used_at", BigInteger),
    Column("revoked_at", BigInteger),
    # Requests a minute; none where there is no limit.
    Column("rate", Integer),
)

sessions = Table(
    "sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("key_id", ForeignKey("keys.id"), nullable=False),
    Column("csrf", String(64), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "expires_at"),
)

repeats = Table(
    "repeats",
    metadata,
    # Who sent it ("" without a key), and what they called it.
    Column("sender", String(32), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("request", String(64), nullable=False),
    Column("status", Integer),
    # The answer; until there is one, the name of the process that is about to give it.
    Column("body", LargeBinary),
    Column("created_at", BigInteger, nullable=False),
    Index(None, "created_at"),
)

training_jobs = Table(
    "training_jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run_id", ForeignKey("runs.id"), nullable=False),
    Column("provider", String(40), nullable=False),
    Column("provider_job_id", Words),
    Column("base_model", Words, nullable=False),
    Column("method", String(12), nullable=False),
    Column("suffix", Words),
    Column("hyperparams", JSON, nullable=False),
    Column("rollout_ids", JSON, nullable=False),
    Column("status", String(20), nullable=False),
    Column("fine_tuned_model", Words),
    Column("error", Words),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("key_id", ForeignKey("keys.id")),
    # The request that it came of, where that has a name, and whoever asks the provider.
    Column("asked", String(64)),
    Column("process", String(64)),
    Index(None, "run_id"),
    Index(None, "created_at", "id"),
    Index(None, "asked", unique=True),
)

__all__ = [
    "environments",
    "keys",
    "metadata",
    "repeats",
    "rollouts",
    "runs",
    "sessions",
    "training_jobs",
    "versions",
]
