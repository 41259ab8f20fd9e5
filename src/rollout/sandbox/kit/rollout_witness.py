"""Reports to rollout what a test runner finds, each line signed with a key that is read once and then gone."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH100, PTH109, PTH119, PTH120

import hashlib
import hmac
import json
import os
import sys


def open_report():
    """A function that reports one event, or None where nobody asked, or where another process has the key."""
    folder = os.environ.pop("ROLLOUT_WITNESS", None)
    if not folder:
        return None
    try:
        pipe = os.open(folder + "/key", os.O_RDONLY | os.O_NONBLOCK)
        try:
            key = os.read(pipe, 4096)
        finally:
            os.close(pipe)
        report = os.open(folder + "/report", os.O_WRONLY)
    except OSError:
        return None
    if not key:
        return None
    owner = os.getpid()
    # All that is used later is taken now, before anybody can put something else in its place.
    signed, sha256, dumps, write, getpid = hmac.new, hashlib.sha256, json.dumps, os.write, os.getpid
    state = [b""]

    def tell(**event):
        if getpid() != owner:
            return
        text = dumps(event).encode("ascii")
        mark = signed(key, state[0] + text, sha256).hexdigest().encode("ascii")
        state[0] = mark
        line = mark + b" " + text + b"\n"
        while line:
            line = line[write(report, line) :]

    return tell


def take_path_back():
    """Lets the working folder be imported from, as `python -m` would have it, now that the runner itself is loaded."""
    if os.environ.pop("PYTHONSAFEPATH", None) and "-m" in sys.orig_argv[1:]:
        sys.path.insert(0, os.getcwd())
    kit = os.path.dirname(os.path.abspath(__file__))
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != kit]
    if paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    else:
        os.environ.pop("PYTHONPATH", None)


def seal(*modules):
    """A function that names what has been put in the place of something in these modules and their classes."""
    homes = []
    for module in modules:
        homes.append((module.__name__, module))
        for name, member in vars(module).items():
            if isinstance(member, type) and member.__module__ == module.__name__:
                homes.append((module.__name__ + "." + name, member))
    kept = [(title, home, dict(vars(home))) for title, home in homes]
    missing = object()

    def broken():
        for title, home, before in kept:
            now = vars(home)
            for name, member in before.items():
                if name[:2] != "__" and now.get(name, missing) is not member and type(member) in sealed_types:
                    return title + "." + name
        return None

    return broken


def stranger():
    """The file of a caller that is no part of Python or of what is installed, or None; code under test is one."""
    import sysconfig

    homes = [os.path.dirname(os.path.abspath(__file__)), sysconfig.get_path("stdlib")]
    homes += [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), os.path.dirname(os.__file__)]
    homes += [entry for entry in sys.path if os.path.basename(entry) in ("site-packages", "dist-packages")]
    scripts = os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else ""

    def find():
        frame = getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            known = name == scripts or name.startswith(("<frozen ", *homes))
            # A conftest.py may run tests in its own way; it is the environment's.
            known = known or os.path.basename(name) == "conftest.py"
            if not known and not (frame.f_back is None and frame.f_code.co_name == "<module>"):
                return name
            frame = frame.f_back
        return None

    getframe = sys._getframe
    return find


sealed_types = (type(seal), type, type(len), staticmethod, classmethod, property)
