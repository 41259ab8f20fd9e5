"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Makes them."""
    op.create_table(
        "environments",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("template", sa.String(length=40), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("task_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environments")),
        sa.UniqueConstraint("slug", name=op.f("uq_environments_slug")),
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("prefix", sa.String(length=16), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.String(length=12), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("rate", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_keys")),
        sa.UniqueConstraint("hash", name=op.f("uq_keys_hash")),
    )
    op.create_table(
        "repeats",
        sa.Column("sender", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("request", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sender", "name", name=op.f("pk_repeats")),
    )
    op.create_index(op.f("ix_repeats_created_at"), "repeats", ["created_at"], unique=False)
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("environment_id", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("parent_id", sa.String(length=32), nullable=True),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=True),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("unscored", sa.Integer(), nullable=False),
        sa.Column("score_sum", sa.Float(), nullable=False),
        sa.Column("usage", sa.JSON(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("key_id", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(["environment_id"], ["environments.id"], name=op.f("fk_runs_environment_id")),
        sa.ForeignKeyConstraint(["key_id"], ["keys.id"], name=op.f("fk_runs_key_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["runs.id"], name=op.f("fk_runs_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index(op.f("ix_runs_created_at_id"), "runs", ["created_at", "id"], unique=False)
    op.create_index(
        op.f("ix_runs_environment_id_created_at_id"),
        "runs",
        ["environment_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_runs_status_created_at_id"), "runs", ["status", "created_at", "id"], unique=False
    )
    op.create_table(
        "sessions",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["keys.id"], name=op.f("fk_sessions_key_id")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_sessions")),
    )
    op.create_index(op.f("ix_sessions_expires_at"), "sessions", ["expires_at"], unique=False)
    op.create_table(
        "versions",
        sa.Column("environment_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=80), nullable=False),
        sa.Column("task_count", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("pushed_at", sa.BigInteger(), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(
            ["environment_id"], ["environments.id"], name=op.f("fk_versions_environment_id")
        ),
        sa.ForeignKeyConstraint(["key_id"], ["keys.id"], name=op.f("fk_versions_key_id")),
        sa.PrimaryKeyConstraint("environment_id", "number", name=op.f("pk_versions")),
        sa.UniqueConstraint("environment_id", "digest", name=op.f("uq_versions_environment_id_digest")),
    )
    op.create_table(
        "rollouts",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("task_index", sa.Integer(), nullable=False),
        sa.Column("trial", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("instruction", sa.Text(), nullable=False),
        sa.Column("split", sa.String(length=20), nullable=False),
        sa.Column("outcome", sa.String(length=12), nullable=False),
        sa.Column("again", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("line", sa.LargeBinary(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_rollouts_run_id")),
        sa.PrimaryKeyConstraint("run_id", "task_index", "trial", name=op.f("pk_rollouts")),
        sa.UniqueConstraint("id", name=op.f("uq_rollouts_id")),
    )
    op.create_index(
        op.f("ix_rollouts_run_id_finished_at"), "rollouts", ["run_id", "finished_at"], unique=False
    )
    op.create_index(
        op.f("ix_rollouts_run_id_outcome_task_index_trial"),
        "rollouts",
        ["run_id", "outcome", "task_index", "trial"],
        unique=False,
    )
    op.create_table(
        "training_jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("provider", sa.String(length=40), nullable=False),
        sa.Column("provider_job_id", sa.Text(), nullable=True),
        sa.Column("base_model", sa.Text(), nullable=False),
        sa.Column("method", sa.String(length=12), nullable=False),
        sa.Column("suffix", sa.Text(), nullable=True),
        sa.Column("hyperparams", sa.JSON(), nullable=False),
        sa.Column("rollout_ids", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("fine_tuned_model", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(["key_id"], ["keys.id"], name=op.f("fk_training_jobs_key_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_training_jobs_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_training_jobs")),
    )
    op.create_index(op.f("ix_training_jobs_run_id"), "training_jobs", ["run_id"], unique=False)


def downgrade() -> None:
    """Takes them away, with all that is in them."""
    op.drop_table("training_jobs")
    op.drop_table("rollouts")
    op.drop_table("versions")
    op.drop_table("sessions")
    op.drop_table("runs")
    op.drop_table("repeats")
    op.drop_table("keys")
    op.drop_table("environments")
