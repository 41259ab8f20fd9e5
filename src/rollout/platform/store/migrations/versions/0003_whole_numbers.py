"""Whole numbers that runs were asked for, as whole numbers: ``5.0`` was once kept as it was written."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_LARGEST = 2**53 - 1

_runs = sa.table("runs", sa.column("id", sa.String), sa.column("options", sa.JSON))


def upgrade() -> None:
    """Writes them so."""
    connection = op.get_bind()
    for run_id, options in connection.execute(sa.select(_runs.c.id, _runs.c.options)).all():
        whole = {name: _whole(value) for name, value in options.items()}
        if any(type(whole[name]) is not type(value) for name, value in options.items()):
            connection.execute(sa.update(_runs).where(_runs.c.id == run_id).values(options=whole))


def downgrade() -> None:
    """Leaves them: they say the same."""


def _whole(value: Any) -> Any:
    if not isinstance(value, float) or not value.is_integer():
        return value
    return max(-_LARGEST, min(_LARGEST, int(value)))
