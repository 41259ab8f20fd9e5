"""What the platform keeps: environments with all their versions, runs, rollouts, keys; in SQLite or PostgreSQL.

The functions of its modules take a connection, and give dataclasses. :class:`Store` does them as transactions.
"""

from __future__ import annotations

from rollout.platform.store.database import FullError, Store, StoreError, UnkeepableError

__all__ = ["FullError", "Store", "StoreError", "UnkeepableError"]
