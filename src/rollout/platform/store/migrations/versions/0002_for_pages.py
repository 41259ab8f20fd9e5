"""What pages look things up by, and whom a rollout without a grade is charged to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_INDEXES = {
    "ix_rollouts_run_id_task_index_outcome_score": ("rollouts", ["run_id", "task_index", "outcome", "score"]),
    "ix_environments_updated_at_slug": ("environments", ["updated_at", "slug"]),
    "ix_training_jobs_created_at_id": ("training_jobs", ["created_at", "id"]),
}


def upgrade() -> None:
    """Makes it."""
    op.add_column("rollouts", sa.Column("charged_to", sa.String(length=16), nullable=True))
    for name, (table, columns) in _INDEXES.items():
        op.create_index(name, table, columns, unique=False)


def downgrade() -> None:
    """Takes it away."""
    for name, (table, _) in _INDEXES.items():
        op.drop_index(name, table_name=table)
    op.drop_column("rollouts", "charged_to")
