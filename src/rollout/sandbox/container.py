"""Docker and Podman: a sandbox where bubblewrap does not work, in an image that you name.

The environment variable ROLLOUT_SANDBOX_IMAGE names an image that is already on the machine and has what the
commands need, such as Python with pytest. Nothing is downloaded.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from rollout.sandbox import Limits
from rollout.sandbox.choice import Start
from rollout.sandbox.folder import INSIDE, SCRIPT, WORK, Folder

IMAGE = "ROLLOUT_SANDBOX_IMAGE"

_USER = "30000:30000"

Try = Callable[[Sequence[str]], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Container:
    """A container engine's program, and the image that commands run in."""

    name: str
    program: str
    image: str

    def start(self, folder: Folder, command: str, variables: dict[str, str], limits: Limits) -> Start:
        """A container without a network, gone when it ends, with limits that the engine enforces."""
        name = f"rollout-{uuid4().hex}"
        arguments = [self.program, "run", "--rm", "--pull=never", f"--name={name}", *_isolation(limits)]
        arguments += [f"--volume={folder.path}:{INSIDE}:ro", f"--workdir={WORK}"]
        for key, value in variables.items():
            # The image knows best where its own programs are.
            arguments += ["--env", f"{key}={value}"] if key != "PATH" else []
        return Start([*arguments, self.image, "/bin/sh", "-c", SCRIPT, "sh", command], name=name)

    async def end(self, start: Start) -> None:
        """Removes the container, which does not end with the client that started it."""
        assert start.name is not None
        process = await asyncio.create_subprocess_exec(
            self.program,
            "rm",
            "--force",
            start.name,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        await process.wait()


def _isolation(limits: Limits) -> list[str]:
    return [
        "--network=none",
        "--read-only",
        "--init",
        f"--user={_USER}",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        f"--pids-limit={limits.processes}",
        f"--memory={limits.memory}",
        f"--memory-swap={limits.memory}",
        f"--ulimit=fsize={limits.file}",
        "--ulimit=core=0",
        f"--shm-size={limits.disk}",
        f"--tmpfs=/tmp:rw,exec,size={limits.disk},mode=1777",
        f"--tmpfs={WORK}:rw,exec,size={limits.disk},mode=0777",
    ]


async def find(name: str, program: str, attempt: Try) -> tuple[Container | None, str]:
    """The engine called ``name`` if it works here, else None and the reason."""
    image = os.environ.get(IMAGE)
    if not image:
        return None, f"{name} needs an image with what the commands need, named by {IMAGE}"
    why = await attempt(
        [program, "run", "--rm", "--pull=never", *_isolation(Limits()), image, "/bin/sh", "-c", ":"]
    )
    if why is not None:
        return None, f"{name} does not work here ({why})"
    return Container(name, program, image), ""


__all__ = ["IMAGE", "Container", "find"]
