"""A small git repository for tests, out of reach of the settings of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

SETTINGS = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@north.example",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@north.example",
    "GIT_AUTHOR_DATE": "2025-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2025-01-01T00:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
_REACHES_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")


class Repository:
    """A repository in ``root`` with one branch, ``main``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, data: bytes | None = None) -> str:
        environment = {key: value for key, value in os.environ.items() if key not in _REACHES_ELSEWHERE}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={**environment, **SETTINGS},
            input=data,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def commit(self, files: Mapping[str, str] | None = None) -> str:
        self.write(files or {})
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "Change")
        return self.git("rev-parse", "HEAD")

    def commit_tree(self, entries: list[tuple[str, str, bytes]]) -> str:
        """A commit of (mode, path, content) as git would never check it out, hostile names and all."""
        return self.git("commit-tree", "-m", "Hostile", self._tree(entries))

    def _tree(self, entries: list[tuple[str, str, bytes]]) -> str:
        folders: dict[str, list[tuple[str, str, bytes]]] = {}
        lines: list[bytes] = []
        for mode, path, content in entries:
            first, slash, rest = path.partition("/")
            if slash:
                folders.setdefault(first, []).append((mode, rest, content))
            elif mode == "160000":
                lines.append(f"160000 commit {'1' * 40}\t{first}".encode())
            else:
                blob = self.git("hash-object", "-w", "--stdin", data=content)
                lines.append(f"{mode} blob {blob}\t{first}".encode())
        for name, below in folders.items():
            lines.append(f"040000 tree {self._tree(below)}\t{name}".encode())
        return self.git("mktree", "-z", "--missing", data=b"".join(line + b"\0" for line in lines))
