"""none: a plain process, for those who asked for it. It has limits, but sees all that you can see."""

from __future__ import annotations

from dataclasses import dataclass

from rollout.sandbox import Limits
from rollout.sandbox.choice import Start
from rollout.sandbox.folder import Folder


@dataclass(frozen=True, slots=True)
class Bare:
    """Runs a command in a process group of its own, over the private folder."""

    name: str = "none"

    def start(self, folder: Folder, command: str, variables: dict[str, str], limits: Limits) -> Start:
        """Limits are set once it is running, so its first moment is without."""
        files = str(folder.path / "files")
        return Start(["/bin/sh", "-c", command], variables=dict(variables), folder=files)

    async def end(self, start: Start) -> None:
        """Its process group has been killed with it; whoever left the group is not followed."""


__all__ = ["Bare"]
