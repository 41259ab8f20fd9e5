"""The report of a run: one HTML page that needs nothing from elsewhere, with figures, a table and every transcript.

What models, tools and authors wrote is data in it, in blocks that no browser runs; the page's own script makes text of
it, never markup. A policy in the page's head forbids everything but that one script and one style, by their digests.
"""

from __future__ import annotations


class ReportError(ValueError):
    """A report that cannot be made or written; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint


__all__ = ["ReportError"]
