"""The request that a training job came of, and whoever asks its provider."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_INDEX = "ix_training_jobs_asked"


def upgrade() -> None:
    """Makes room for them."""
    for name in ("asked", "process"):
        op.add_column("training_jobs", sa.Column(name, sa.String(length=64), nullable=True))
    op.create_index(_INDEX, "training_jobs", ["asked"], unique=True)


def downgrade() -> None:
    """Takes them away."""
    op.drop_index(_INDEX, table_name="training_jobs")
    for name in ("process", "asked"):
        op.drop_column("training_jobs", name)
