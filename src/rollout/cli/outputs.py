"""Where commands write: nowhere that an environment is read from."""

from __future__ import annotations

import os
from pathlib import Path

from rollout.cli.output import fail
from rollout.source.find import environment_that_reads


def refuse_source(*names: str | Path | None) -> None:
    """Ends the command where something of these names is a source of an environment, or would be taken for one."""
    for name in names:
        home = None if name is None else environment_that_reads(Path(name))
        if home is not None:
            fail(
                f"“{name}” is a file of the environment “{os.path.relpath(home)}”, or would be taken for one.",
                "Name a place that it is not read from.",
            )


__all__ = ["refuse_source"]
