"""An environment to the platform's bytes, and back: compile, compare, spread over files, read from the wire.

The arrows are :func:`compile_environment`, :func:`rollout.compile.diff.diff` and :func:`rollout.compile.spread.spread`.
"""

from __future__ import annotations

from rollout.compile.payload import Compiled, compile_environment

__all__ = ["Compiled", "compile_environment"]
