"""From files to documents: finds environments, and reads each into values that know their place."""

from __future__ import annotations

from rollout.source.find import SourceError, find
from rollout.source.reading import read, read_one

__all__ = ["SourceError", "find", "read", "read_one"]
