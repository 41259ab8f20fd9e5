"""bubblewrap: a sandbox of Linux namespaces, with no network, nothing of this machine but programs, and nothing kept.

Run by root, a command gets a user number of its own that owns nothing here, by the program setpriv; run by anybody
else, it stays that somebody, inside a user namespace.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from rollout.sandbox import Limits
from rollout.sandbox.choice import Start
from rollout.sandbox.folder import INSIDE, SCRIPT, WORK, Folder
from rollout.sandbox.syscalls import seccomp_filter
from rollout.sandbox.toolchain import seen

# User numbers that no distribution gives away, and that a container with 65,536 of them still has.
_FIRST_USER, _USERS = 30_000, 30_000
_NAMED_USER = 1000

_numbers = count(os.getpid() * 97)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """bwrap, and the program that changes the user where root runs it."""

    program: str
    change_user: str | None
    name: str = "bubblewrap"

    def probe(self) -> list[str]:
        """A command line that does nothing, in a sandbox like any other."""
        return [self.program, *self._namespaces(), *_system(), *self._user(_FIRST_USER), "/bin/sh", "-c", ":"]

    def start(self, folder: Folder, command: str, variables: dict[str, str], limits: Limits) -> Start:
        """Pipes are opened for it: bwrap says on one who runs, and waits on the other until that one is limited."""
        user = _NAMED_USER
        if self.change_user is not None:
            user = _FIRST_USER + next(_numbers) % _USERS
        folder.name_user(user)
        arguments = [*self._namespaces(), *_system()]
        for name in ("passwd", "group", "hosts"):
            arguments += ["--ro-bind", str(folder.path / name), f"/etc/{name}"]
        arguments += ["--ro-bind", str(folder.path), INSIDE]
        for path, permissions in _EMPTY.items():
            arguments += ["--perms", permissions, "--size", str(limits.disk), "--tmpfs", path]
        arguments += _shown([path for path in map(Path, seen()) if _is_covered(path)], {})
        arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--clearenv"]
        for name, value in variables.items():
            arguments += ["--setenv", name, value]
        status_read, status_write = os.pipe()
        go_read, go_write = os.pipe()
        hand_on = [status_write, go_read]
        arguments += ["--json-status-fd", str(status_write), "--block-fd", str(go_read)]
        if (rules := seccomp_filter()) is not None:
            rules_read, rules_write = os.pipe()
            os.write(rules_write, rules)
            os.close(rules_write)
            hand_on.append(rules_read)
            arguments += ["--seccomp", str(rules_read)]
        # bwrap is the first process in the sandbox, where its own variables and arguments can be read.
        hand_on.append(told := _as_descriptor(arguments))
        line = [self.program, "--args", str(told), *self._user(user), "/bin/sh", "-c", SCRIPT, "sh", command]
        return Start(line, hand_on, variables={}, status_fd=status_read, go_fd=go_write)

    async def end(self, start: Start) -> None:
        """The kernel ends the rest, since their process namespace has lost its first process."""

    def _namespaces(self) -> list[str]:
        shared = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        if self.change_user is None:
            shared += ["--unshare-user", "--uid", str(_NAMED_USER), "--gid", str(_NAMED_USER)]
        return [*shared, "--hostname", "sandbox", "--chdir", "/", "--die-with-parent", "--new-session"]

    def _user(self, number: int) -> list[str]:
        if self.change_user is None:
            return ["--cap-drop", "ALL", "--"]
        kept = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--"]
        change = [self.change_user, f"--reuid={number}", f"--regid={number}", "--clear-groups"]
        return [*kept, *change, "--inh-caps=-all", "--no-new-privs", "--"]


def candidates(program: str) -> Iterator[Bubblewrap]:
    """The ways to use bwrap here, of which one at most works."""
    # Root in a user namespace is still root to the kernel's own files: it could write /proc/sys, which is the
    # machine's. So root has to become somebody else.
    if os.geteuid() != 0:
        yield Bubblewrap(program, None)
    elif (change_user := shutil.which("setpriv", path="/usr/local/bin:/usr/bin:/bin")) is not None:
        yield Bubblewrap(program, change_user)


_EMPTY = {"/dev/shm": "1777", "/tmp": "1777", WORK: "0777"}
"""The folders that a command finds empty and may write to, with their permissions."""


def _as_descriptor(arguments: list[str]) -> int:
    """A descriptor from which bwrap reads arguments, each ended by a zero. Raises ValueError where one has a zero."""
    if any("\0" in each for each in arguments):
        raise ValueError("embedded null byte")
    descriptor = os.memfd_create("arguments")
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(b"".join(os.fsencode(each) + b"\0" for each in arguments))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _is_covered(path: Path) -> bool:
    # A Python that is installed below /tmp has to be laid over the empty one.
    return any(path.is_relative_to(empty) for empty in _EMPTY)


def _system() -> list[str]:
    parents: dict[Path, None] = {Path("/run"): None, Path("/etc"): None}
    arguments = _shown([path for path in map(Path, seen()) if not _is_covered(path)], parents)
    return [*arguments, "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]


def _shown(paths: list[Path], parents: dict[Path, None]) -> list[str]:
    arguments: list[str] = []
    for path in paths:
        if path.is_symlink() and path.parent == Path("/"):
            arguments += ["--symlink", str(path.readlink()), str(path)]
            continue
        parents |= {each: None for each in reversed(path.parents[:-1]) if str(each) not in _EMPTY}
        arguments += ["--ro-bind", str(path), str(path)]
    # bwrap would make them for itself only.
    made = [word for parent in parents for word in ("--perms", "0755", "--dir", str(parent))]
    return [*made, *arguments]


__all__ = ["Bubblewrap", "candidates"]
