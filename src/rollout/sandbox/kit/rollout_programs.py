"""What starts programs in Python, which nothing watches, and has it told."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors

import os
import re
import sys

# What starts a program, and the name by which an author allows it. A fork keeps the hook, and so is not among them.
STARTS = {
    "subprocess.Popen": "subprocess",
    "os.system": "os.system",
    "os.exec": "os.exec",
    "os.posix_spawn": "os.posix_spawn",
    "os.spawn": "os.spawn",
    "pty.spawn": "pty",
    "rollout.fork_exec": "multiprocessing",
}
# The program by which Python gives shared memory back.
_TRACKER = re.compile(r"from multiprocessing\.resource_tracker import main;main\(\d+\)")


def is_tracker(arguments, executable):
    """Whether this starts nothing but Python's own program that gives shared memory back."""
    said = [os.fsdecode(each) for each in arguments]
    return said[:1] == [executable] and said[-2:-1] == ["-c"] and _TRACKER.fullmatch(said[-1]) is not None


def announce():
    """Has Python tell its hooks of what subprocess and multiprocessing start programs with, too."""
    import _posixsubprocess
    import subprocess

    start, audit = _posixsubprocess.fork_exec, sys.audit

    def fork_exec(*args):
        audit("rollout.fork_exec", *args[:2])
        return start(*args)

    for home, name in ((_posixsubprocess, "fork_exec"), (subprocess, "_fork_exec")):
        if hasattr(home, name):
            setattr(home, name, fork_exec)
