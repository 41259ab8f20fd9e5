"""Reads folders as they were at a git revision, into a temporary folder; work tree and index are not touched."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from rollout.compile.extract import Extract

_LFS_HEAD = b"version https://git-lfs.github.com/spec/v1\n"
_LFS_OID = re.compile(rb"^oid sha256:([0-9a-f]{64})$", re.MULTILINE)
_LONGEST_POINTER = 1_024
_MOST_ARGUMENTS = 200
_CONVERTING = ("text", "eol", "crlf", "ident", "filter", "working-tree-encoding")
_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")


class RevisionError(Exception):
    """A revision, or a repository, that cannot be read; ``hint`` is the way out."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One file of a revision: its path in the repository, its git mode, and the id of its content."""

    path: str
    mode: str
    blob: str


class Revision:
    """One commit of the repository that holds a folder.

    Raises RevisionError when git is missing, the folder is in no repository, or there is no such revision.
    """

    def __init__(self, name: str, *, folder: Path | None = None) -> None:
        # In a hook GIT_DIR is set, and the current folder is what git takes for the work tree.
        self._folder = Path() if folder is None or os.environ.get("GIT_DIR") else folder
        self.name = name
        self.root = self._find_root()
        self.commit = self._resolve(name)

    @cached_property
    def files(self) -> list[TreeFile]:
        """All files of the revision, sorted by path; submodules are left out, they are other repositories.

        So are the files that a sparse checkout leaves out of the work tree: there is nothing to compare them with.
        """
        listing = self._git("ls-tree", "-r", "-z", "--full-tree", self.commit)
        found = []
        for record in listing.split(b"\0"):
            head, _, path = record.partition(b"\t")
            if path:
                mode, kind, blob = head.decode("ascii").split(" ")
                if kind == "blob" and os.fsdecode(path) not in self._sparse:
                    found.append(TreeFile(os.fsdecode(path), mode, blob))
        return found

    def submodules(self) -> list[str]:
        """The paths of other repositories inside this one, at the revision or now, sorted."""
        then = self._git("ls-tree", "-r", "-z", "--full-tree", self.commit)
        now = self._git("ls-files", "-z", "--stage", "--full-name", folder=self.root)
        heads = (record.partition(b"\t") for record in (then + now).split(b"\0"))
        return sorted({os.fsdecode(path) for head, _, path in heads if head.startswith(b"160000 ")})

    @cached_property
    def changed_paths(self) -> frozenset[str]:
        """The paths that differ between the revision and the work tree, files that git does not know yet among them.

        Those that git was told to take for unchanged are looked at too.
        """
        with tempfile.TemporaryDirectory(prefix="rollout-index-") as scratch:
            # Comparing refreshes what git knows of files' times; a copy keeps the real index as it is. It has to be as
            # old as the real one: a file changed in the moment the index was written is looked at only for that.
            index = Path(self._folder, os.fsdecode(self._git("rev-parse", "--git-path", "index")[:-1]))
            copy = Path(scratch, "index")
            if index.is_file():
                shutil.copy2(index, copy)
            changed = self._git(
                "diff",
                "--name-only",
                "-z",
                "--no-renames",
                "--no-relative",
                "--no-ext-diff",
                "--no-textconv",
                self.commit,
                "--",
                index=copy,
            )
        unknown = self._git(
            "ls-files", "-z", "--others", "--exclude-standard", "--full-name", folder=self.root
        )
        return frozenset(
            [
                *(os.fsdecode(path) for path in (changed + unknown).split(b"\0") if path),
                *self._changed_unseen(),
            ]
        )

    def ignored_paths(self, places: Sequence[str]) -> set[str]:
        """The files at or below ``places`` that are in the work tree, and that git ignores."""
        found: set[str] = set()
        for start in range(0, len(places), _MOST_ARGUMENTS):
            some = places[start : start + _MOST_ARGUMENTS]
            listing = self._git(
                "--literal-pathspecs",
                "ls-files",
                "-z",
                "--others",
                "--ignored",
                "--exclude-standard",
                "--full-name",
                "--",
                *some,
                folder=self.root,
            )
            found |= {os.fsdecode(path) for path in listing.split(b"\0") if path}
        return found

    def contents(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, bytes]]:
        """Files with their bytes as git keeps them. Raises RevisionError where one is not in this clone."""
        return self._contents(files)

    @cached_property
    def _flags(self) -> dict[str, str]:
        """The files of the index that git does not look at, with its letter for each: ``S`` is skip-worktree."""
        listing = self._git("ls-files", "-z", "-v", "--full-name", folder=self.root)
        records = [os.fsdecode(record) for record in listing.split(b"\0") if record]
        return {record[2:]: record[0] for record in records if record[0] == "S" or record[0].islower()}

    @cached_property
    def _sparse(self) -> set[str]:
        return {
            path
            for path, flag in self._flags.items()
            if flag in "Ss" and not os.path.lexists(self.root / path)
        }

    def _changed_unseen(self) -> Iterator[str]:
        if not self._flags:
            return
        blobs = {file.path: file.blob for file in self.files}
        for path in self._flags.keys() - self._sparse:
            stored = None
            if _is_plain(self.root / path):
                stored = self._git("hash-object", "--", path, folder=self.root).decode("ascii").strip()
            if stored != blobs.get(path):
                yield path

    def extract(self, files: Collection[TreeFile], target: Path) -> Extract:
        """Writes ``files`` below ``target``, an empty folder, as they would be checked out here.

        So line ends, and what else git converts on the way, are no difference by themselves. No path leaves the
        folder, and a symbolic link is made only where it leads to something inside. The content of a Git LFS pointer
        is taken from this machine's store; where it is not there, the file is ``absent``.
        """
        extract = Extract(target)
        links = []
        regular = [file for file in files if extract.takes(file.path)]
        converted = self._converted([file.path for file in regular if file.path in self.changed_paths])
        for file, data in self._contents(regular):
            if file.mode == "120000":
                links.append((file.path, os.fsdecode(data)))
                continue
            try:
                data = self._checked_out(file, data, converted)
            except (RevisionError, OSError):
                extract.absent[file.path] = "cannot be checked out: a filter of git fails"
                continue
            if data.startswith(_LFS_HEAD) and len(data) <= _LONGEST_POINTER:
                stored = self._from_lfs(data)
                if stored is None:
                    extract.absent[file.path] = (
                        "is kept in Git LFS and not on this machine; run “git lfs fetch --all”"
                    )
                    continue
                data = stored
            path = target / file.path
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as stream:
                    stream.write(data)
            except OSError as error:
                extract.absent[file.path] = f"cannot be written here: {error.strerror or error}"
        # Links last: nothing is ever written through one.
        for name, destination in links:
            extract.link(name, destination)
        return extract

    def relative(self, path: Path) -> str | None:
        """``path`` as the repository knows it (posix; ``.`` for its root), or None when it lies outside."""
        absolute = Path(os.path.normpath(Path.cwd() / path))
        # The last part stays as it is: a link in the repository is one of its files.
        real = Path(os.path.realpath(absolute.parent)) / absolute.name if absolute.name else absolute
        for candidate in (real, Path(os.path.realpath(absolute))):
            if candidate == self.root or candidate.is_relative_to(self.root):
                return candidate.relative_to(self.root).as_posix()
        return None

    def _find_root(self) -> Path:
        found = self._run("rev-parse", "--show-toplevel")
        if found.returncode == 0 and found.stdout.strip():
            return Path(os.path.realpath(os.fsdecode(found.stdout.removesuffix(b"\n"))))
        words = found.stderr.decode("utf-8", "replace")
        if "dubious ownership" in words:
            raise RevisionError(
                "Git does not trust this repository: it belongs to another user.",
                "Run “git config --global --add safe.directory PATH” when you do trust it.",
            )
        if "not a git repository" in words:
            where = "This folder" if self._folder == Path() else f"“{self._folder}”"
            raise RevisionError(
                f"{where} is in no git repository.", "Compare two folders: rollout diff BEFORE AFTER."
            )
        raise RevisionError(f"Git found no work tree here: {_last_line(words)}")

    def _resolve(self, name: str) -> str:
        if not name or name.startswith("-") or "\0" in name or "\n" in name:
            raise RevisionError(
                f"“{name}” is no revision.", "Name a branch, a tag or a commit, such as main or HEAD~1."
            )
        found = self._run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        commit = found.stdout.decode("ascii", "replace").strip()
        if found.returncode or not re.fullmatch(r"[0-9a-f]{40,64}", commit):
            raise RevisionError(
                f"There is no revision “{name}” in this repository.", self._revision_hint(name)
            )
        return commit

    def _revision_hint(self, name: str) -> str:
        from difflib import get_close_matches

        listing = self._run("for-each-ref", "--format=%(refname:short)", "--count=500")
        names = listing.stdout.decode("utf-8", "replace").split()
        near = get_close_matches(name, names, n=1)
        if near:
            return f"Did you mean “{near[0]}”?"
        if not names and self._run("rev-parse", "--verify", "--quiet", "HEAD").returncode:
            return "Nothing has been committed yet, so there is nothing to compare with."
        shallow = self._run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
        if shallow:
            return "This clone is shallow; run “git fetch --unshallow”, or fetch the branch."
        return "“git log --oneline” and “git branch --all” list what there is."

    def _converted(self, paths: Sequence[str]) -> set[str]:
        """The files among ``paths`` that git may convert when it checks them out."""
        if not paths:
            return set()
        if self._run("config", "--type=bool", "core.autocrlf").stdout.strip() == b"true":
            return set(paths)
        told = self._git(
            "check-attr",
            "-z",
            "--stdin",
            *_CONVERTING,
            folder=self.root,
            data=b"".join(os.fsencode(path) + b"\0" for path in paths),
        ).split(b"\0")
        given = zip(told[0::3], told[2::3], strict=False)
        return {os.fsdecode(path) for path, value in given if value not in (b"unspecified", b"unset")}

    def _checked_out(self, file: TreeFile, data: bytes, converted: Collection[str]) -> bytes:
        """The bytes that a file has in a work tree here."""
        there = self.root / file.path
        if file.path not in self.changed_paths and _is_plain(there):
            return there.read_bytes()
        if file.path not in converted:
            return data
        return self._git("cat-file", "--filters", f"--path={file.path}", file.blob, folder=self.root)

    def _contents(self, files: Iterable[TreeFile]) -> Iterator[tuple[TreeFile, bytes]]:
        wanted = list(files)
        if not wanted:
            return
        process = subprocess.Popen(
            self._command("cat-file", "--batch"),
            cwd=self._folder,
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None and process.stdout is not None
        with process:
            for file in wanted:
                process.stdin.write(f"{file.blob}\n".encode("ascii"))
                process.stdin.flush()
                head = process.stdout.readline().split()
                if len(head) != 3:
                    process.kill()
                    raise RevisionError(
                        f"The content of “{file.path}” at {self.name} is not in this clone.",
                        "Fetch it: “git fetch” with the history that holds it.",
                    )
                data = process.stdout.read(int(head[2]))
                process.stdout.read(1)
                yield file, data
            process.stdin.close()

    def _from_lfs(self, pointer: bytes) -> bytes | None:
        match = _LFS_OID.search(pointer)
        if match is None:
            return None
        common = os.fsdecode(self._git("rev-parse", "--git-common-dir").removesuffix(b"\n"))
        oid = match[1].decode("ascii")
        stored = Path(self._folder, common, "lfs", "objects", oid[:2], oid[2:4], oid)
        try:
            data = stored.read_bytes()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == oid else None

    def _git(
        self,
        *arguments: str,
        folder: Path | None = None,
        index: Path | None = None,
        data: bytes | None = None,
    ) -> bytes:
        done = self._run(*arguments, folder=folder, index=index, data=data)
        if done.returncode:
            name = next(each for each in arguments if not each.startswith("-"))
            raise RevisionError(f"git {name} failed: {_last_line(done.stderr.decode('utf-8', 'replace'))}")
        return done.stdout

    def _run(
        self,
        *arguments: str,
        folder: Path | None = None,
        index: Path | None = None,
        data: bytes | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                self._command(*arguments),
                cwd=folder or self._folder,
                env=_environment() | ({"GIT_INDEX_FILE": os.fspath(index)} if index else {}),
                input=data or b"",
                capture_output=True,
                check=False,
            )
        except FileNotFoundError as error:
            raise RevisionError("Git is not installed, or not on the PATH.", "Install git.") from error

    @staticmethod
    def _command(*arguments: str) -> list[str]:
        return ["git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments]


def _environment() -> dict[str, str]:
    # Nothing is asked, and the words of errors are the ones we look for.
    ours = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "LANGUAGE": ""}
    ours["GIT_LFS_SKIP_SMUDGE"] = "1"  # Its store is looked into, and nothing is fetched.
    # A hook gets these relative to its own folder, which need not be the one that git is run in here.
    given = {key: os.path.normpath(Path.cwd() / os.environ[key]) for key in _PLACES if os.environ.get(key)}
    return {**os.environ, **given, **ours}


def _is_plain(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _last_line(words: str) -> str:
    lines = [line for line in words.strip().split("\n") if line]
    return (lines[-1] if lines else "it gave no reason").removeprefix("fatal: ").rstrip(".") + "."


__all__ = ["Revision", "RevisionError", "TreeFile"]
