"""Tells those who follow a run of its changes."""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Changes:
    """Tells those who follow a run in this process that it has changed."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def tell(self, run_id: str) -> None:
        """The run has changed."""
        for event in self._waiting.get(run_id, ()):
            event.set()

    async def wait(self, run_id: str, seconds: float) -> None:
        """Waits for a change, but not longer: another process may be the one that executes the run."""
        event = asyncio.Event()
        waiting = self._waiting.setdefault(run_id, set())
        waiting.add(event)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()
        finally:
            waiting.discard(event)
            if not waiting:
                self._waiting.pop(run_id, None)


__all__ = ["Changes"]
