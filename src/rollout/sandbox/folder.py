"""The private folder of one job on this machine: the files to be laid down, and what is needed beside them."""

from __future__ import annotations

import os
from pathlib import Path

from rollout.sandbox import Job, SandboxError
from rollout.scratch import scratch

INSIDE = "/run/rollout"
"""Where the folder is seen in a sandbox, read-only."""

WORK = "/project"
"""Where a command works in a sandbox: a copy of the files, in memory."""


SCRIPT = f'umask 022; cp -R {INSIDE}/files/. {WORK} && cd {WORK} && exec /bin/sh -c "$1"'
"""What a shell in a sandbox does first; the command is its argument."""


class Folder:
    """Made by :meth:`lay_down`, gone after :meth:`remove`. ``path`` is what a sandbox is shown."""

    def __init__(self) -> None:
        # The outer folder is for its owner only; the inner one has to be read by whoever runs in the sandbox.
        self._outer = scratch("job")
        self.path = Path(self._outer.name) / "in"

    def lay_down(self, job: Job) -> None:
        """Writes the files. Raises SandboxError for a path that leads out of the folder or stands in another's way."""
        self.path.mkdir()
        self.path.chmod(0o755)
        files = self.path / "files"
        files.mkdir()
        files.chmod(0o755)
        made = {self.path, files}
        for name, content in job.files.items():
            target = files / name
            if Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name or not Path(name).parts:
                raise SandboxError(f"“{name}” is no path inside the working folder.")
            try:
                _make_folders(target.parent, made)
                target.write_text(content, encoding="utf-8", newline="")
            except OSError as error:
                raise SandboxError(f"“{name}” cannot be laid down: {error.strerror}.") from None
            target.chmod(0o755 if content.startswith("#!") else 0o644)
        if job.witness is not None:
            kit = self.path / "kit"
            _make_folders(kit, made)
            for name, content in job.witness.files().items():
                (kit / name).write_text(content, encoding="utf-8")
                (kit / name).chmod(0o644)
        (self.path / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n", encoding="ascii")
        (self.path / "hosts").chmod(0o644)

    def name_user(self, number: int) -> None:
        """Writes who the user of the sandbox is, for programs that ask."""
        for name, line in (
            ("passwd", f"agent:x:{number}:{number}::/tmp:/bin/sh\n"),
            ("group", f"agent:x:{number}:\n"),
        ):
            (self.path / name).write_text(line, encoding="ascii")
            (self.path / name).chmod(0o644)

    def pipe(self, name: str) -> int:
        """A named pipe that whoever runs in the sandbox may write to and read from; opened, without blocking."""
        path = self.path / name
        os.mkfifo(path)
        path.chmod(0o666)
        return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def remove(self) -> None:
        """Removes everything."""
        self._outer.cleanup()


def _make_folders(folder: Path, made: set[Path]) -> None:
    if folder in made:
        return
    _make_folders(folder.parent, made)
    folder.mkdir()
    folder.chmod(0o755)
    made.add(folder)


__all__ = ["INSIDE", "SCRIPT", "WORK", "Folder"]
