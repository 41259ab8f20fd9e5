"""What a command finds in the sandbox: the system's programs, this Python, and others that are installed elsewhere."""

from __future__ import annotations

import os
import pwd
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

PATHS = "ROLLOUT_SANDBOX_PATHS"
"""The environment variable that names more folders to be seen, read-only, parted as in PATH."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl/openssl.cnf", "localtime")
_PROGRAMS = ("node", "npm", "npx", "pnpm", "yarn", "go", "cargo", "ruby", "java", "deno", "bun")


@cache
def seen() -> tuple[str, ...]:
    """The folders and files of this machine that are seen in the sandbox, read-only, at their own paths."""
    found = [path for path in _SYSTEM if Path(path).exists()]
    found += [f"/etc/{name}" for name in _ETC if Path("/etc", name).exists()]
    wanted = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
    wanted += [str(prefix) for name in _PROGRAMS if (prefix := _prefix(name)) is not None]
    wanted += [str(Path(path).resolve()) for path in os.environ.get(PATHS, "").split(os.pathsep) if path]
    for path in (part for whole in wanted for part in _showable(whole)):
        if not any(Path(path).is_relative_to(other) for other in found):
            found.append(path)
    return tuple(found)


@cache
def search_path() -> str:
    """PATH inside the sandbox: this Python's programs, then those of other installations, then the system's."""
    folders = [str(Path(sys.executable).parent)]
    folders += [path for path in os.environ.get("PATH", "").split(os.pathsep) if _is_seen(path)]
    folders += ["/usr/local/bin", "/usr/bin", "/bin"]
    return os.pathsep.join(dict.fromkeys(folders))


def _is_seen(path: str) -> bool:
    return bool(path) and Path(path).is_absolute() and any(Path(path).is_relative_to(root) for root in seen())


def _prefix(program: str) -> Path | None:
    """The folder that a program is installed in, when it is its own: ``…/node-20`` for ``…/node-20/bin/node``."""
    found = shutil.which(program)
    if found is None:
        return None
    folder = Path(found).resolve().parent
    return folder.parent if folder.name == "bin" else None


def _showable(path: str) -> list[str]:
    """What of a folder may be seen: all of it, its programs and libraries, or nothing."""
    resolved = Path(path).resolve()
    if not resolved.is_dir() or len(resolved.parts) <= 2:
        return []
    # A home, or a folder above one, is never shown, whatever is installed in it.
    if any(home.is_relative_to(resolved) for home in _homes(resolved)):
        return []
    # .cargo or .local hold credentials beside programs; an environment of Python's own may be called .venv.
    if resolved.name.startswith(".") and not (resolved / "pyvenv.cfg").is_file():
        return [str(part) for name in ("bin", "lib") if (part := Path(path, name)).is_dir()]
    return [path]


def _homes(folder: Path) -> Iterator[Path]:
    """The homes of whoever runs this, which HOME need not name, and of the folder's owner."""
    yield Path.home().resolve()
    for number in {os.geteuid(), folder.stat().st_uid}:
        with suppress(KeyError):
            yield Path(pwd.getpwuid(number).pw_dir).resolve()


__all__ = ["PATHS", "search_path", "seen"]
