"""Knows what was laid down for a test run, and tells when it is no longer as it was."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH100, PTH109, PTH110, PTH116, PTH118, PTH119, PTH120, PTH122, PTH123, PTH206

import hashlib
import json
import os
import re
import sys

_KIT = os.path.dirname(os.path.abspath(__file__))
_LOADED_UNASKED = ("conftest.py", "sitecustomize.py", "usercustomize.py", "load_tests.py")
_CODE = (".py", ".pyc", ".pyd", ".so")


def homes_of_python():
    """The beginnings of the paths of all that is installed, Python's own library first."""
    import sysconfig

    homes = [_KIT, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    homes += [os.path.dirname(os.__file__)]
    homes += [entry for entry in sys.path if os.path.basename(entry) in ("site-packages", "dist-packages")]
    here = os.getcwd() + os.sep
    # A folder of the project that is called like one of these is the project's.
    return tuple(
        home + os.sep for home in dict.fromkeys(homes) if home and not (home + os.sep).startswith(here)
    )


class Laid:
    """What was laid down, by absolute paths: ``trusted`` has the digests of files that are as the environment has them.

    Of these, ``tests`` are tests and their helpers, ``guarded`` are not for code under test to write, and ``secret``
    not to read. ``starters`` may start programs, and ``test_modules`` are called as tests are. ``named`` has all parts
    of texts in what the agent wrote, and ``looks`` the lines of it by which code gets nothing of a frame but its own
    code. ``root`` is the project's folder, with a separator.
    """

    def __init__(self):
        digests, said = _read("trusted.json"), _read("watched.json")
        self.root = _root(digests) + os.sep
        self.trusted = {self.root + name: digest for name, digest in digests.items()}
        self.tests, self.guarded, self.secret, written, self.starters = (
            frozenset(self.root + name for name in said.get(kind, ()))
            for kind in ("tests", "guarded", "secret", "written", "starters")
        )
        self.allowed, self.doubtful = (frozenset(said.get(kind, ())) for kind in ("allowed", "doubtful"))
        self._allowed_parts = frozenset(name.rpartition(".")[2] for name in self.allowed)
        self.known = self.trusted.keys() | written
        self.named, self.looks = set(), set()
        for path in written:
            text = _text(path)
            self.named |= _literals(text)
            self.looks |= {(path, number) for number in _looks(text)}
        self.names = frozenset(map(os.path.basename, self.guarded | self.secret))
        # Where a sandbox has what was laid down from.
        self._original = os.path.join(os.path.dirname(_KIT), "files") + os.sep
        self.stems = {}
        for path in self.tests:
            if path.endswith(".py"):
                self.stems.setdefault(os.path.basename(path)[:-3], set()).add(os.path.dirname(path))
        self.test_modules = frozenset(
            stem for stem in self.stems if stem.startswith("test_") or stem.endswith("_test")
        )
        self._before = {path: _signature(path) for path in self.guarded}
        # Files that a test wrote itself.
        self.spared = set()

    def is_allowed(self, what):
        """Whether code under test may reach for this, by its name, its module's, or the last part of its name."""
        root, last = what.partition(".")[0], what.rpartition(".")[2]
        return what in self.allowed or root in self.allowed or last in self._allowed_parts

    def plainly_meant(self, path):
        """The guarded or secret file that a path leads to: as it is, through links, or where it was laid down from."""
        for each in (os.path.abspath(path), os.path.realpath(path)):
            if each.startswith(self._original):
                each = self.root + each[len(self._original) :]
            if each in self.guarded or each in self.secret:
                return each
        return None

    def meant(self, path):
        """The guarded or secret file that is opened by this path: as it is, through links, or where it was laid down
        from; one of the same name where the path is relative to a folder that is not said. None where it is another."""
        if (found := self.plainly_meant(path)) is not None:
            return found
        alike = [each for each in self.secret if os.path.basename(each) == os.path.basename(path)]
        if os.path.exists(path):
            return next((each for each in alike if _is_copy(path, each)), None)
        return alike[0] if alike and not path.startswith(os.sep) else None

    def touched(self):
        """The name of a guarded file that was written, moved or put back since the start, or None.

        Nobody can set the time of a file's last change, so what was put back does not look as before.
        """
        for path, before in self._before.items():
            if path not in self.spared and _signature(path) != before:
                return path[len(self.root) :]
        return None

    def is_other(self, path, source):
        """Whether ``source``, as bytes, is another than what was laid down at ``path``."""
        return path in self.trusted and hashlib.sha256(source).hexdigest() != self.trusted[path]

    def is_impostor(self, path):
        """Whether a file or folder that was not laid down would be taken by the runner for one of the environment's."""
        if not path.startswith(self.root) or path in self.known:
            return False
        folder, name = os.path.split(path)
        stem, end = name.partition(".")[0], os.path.splitext(name)[1]
        if name in _LOADED_UNASKED or end == ".pth":
            return True
        if os.path.basename(folder) == "__pycache__":
            folder = os.path.dirname(folder)
        if end in _CODE or not end:
            home = self.stems.get(stem)
            if home is not None and (folder in home or end == ".pyc"):
                return True
            if stem == "__init__" and folder + ".py" in self.tests:
                return True
            return end == ".py" and (stem.startswith("test_") or stem.endswith("_test"))
        return False

    def is_named(self, path):
        """Whether all parts of a path are words of what the agent wrote."""
        return all(part in self.named for part in path[len(self.root) :].split(os.sep))


def _read(name):
    try:
        with open(os.path.join(_KIT, name), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def _root(names):
    # A command such as “cd part && pytest” starts the runner further down.
    best, most, folder = os.getcwd(), 0, os.getcwd()
    while names:
        count = sum(os.path.exists(os.path.join(folder, name)) for name in names)
        if count > most:
            best, most = folder, count
        if folder == os.path.dirname(folder):
            break
        folder = os.path.dirname(folder)
    return best


def _text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _looks(text):
    for number, line in enumerate(text.split("\n"), 1):
        asked = len(re.findall("frame", line))
        if asked and asked == len(
            re.findall(r"\b(?:_getframe\(0?\)|currentframe\(\))\.f_(?:code|lineno)\b", line)
        ):
            yield number


def _literals(text):
    found = set()
    for _, literal in re.findall(r"""(["'`])(.*?)(?<!\\)\1""", text):
        found.update(re.split(r"[\\/\s]+", literal))
    return found | {each + ".py" for each in found}


def _is_copy(path, original):
    try:
        if os.stat(path).st_size != os.stat(original).st_size:
            return False
        with open(path, "rb") as one, open(original, "rb") as other:
            return one.read() == other.read() != b""
    except OSError:
        return False


def _signature(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_ctime_ns, found.st_size
