"""What Alembic runs: its steps, on the connection and in the transaction of whoever called it."""

from __future__ import annotations

from alembic import context

from rollout.platform.store.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()
