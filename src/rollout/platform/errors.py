"""What the platform refused, or why it could not be asked."""

from __future__ import annotations

from typing import Any


class RolloutError(Exception):
    """A call of the platform that came to nothing.

    ``status`` is that of the answer, 0 where there was none; ``message`` a sentence, ``hint`` the way out, ``body``
    the answer as it came.
    """

    def __init__(self, status: int, message: str, body: Any = None, *, hint: str | None = None) -> None:
        super().__init__(f"HTTP {status}: {message}" if status else message)
        self.status = status
        self.message = message
        self.body = body
        self.hint = hint


__all__ = ["RolloutError"]
