"""Finds out by the frames of calls whose doing it is that something is asked for."""

# This runs in the sandbox, under whatever Python is there, before all else.
# mypy: ignore-errors
# ruff: noqa: PTH100

import os
import sys

import rollout_files

_SHOWS_SOURCE, _LOOKS_INTO = ("linecache.py", "rollout_lines.py"), "inspect.py"
# What hands frames of others on to who calls it, by file and function; all of a file where there is no function.
_HANDS_ON = frozenset(
    (
        *((_LOOKS_INTO, None), ("traceback.py", "walk_stack"), ("traceback.py", "walk_tb")),
        *(("base_tasks.py", "_task_get_stack"), ("graph.py", None)),
    )
)


class Callers:
    """Tells callers apart: what is installed, tests, other files as they were laid down, and code that the agent wrote.

    ``keeper`` is the code of what keeps the key.
    """

    def __init__(self, laid, keeper):
        self._homes, self._root, self._keeper = rollout_files.homes_of_python(), laid.root, keeper
        self._tests, self._trusted, self._basename = laid.tests, laid.trusted, os.path.basename
        self._script = os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else ""

    def is_installed(self, name):
        """Whether a file is Python's own or of a package, or is the program that was started."""
        return name.startswith(("<frozen ", *self._homes)) or (
            name == self._script and not name.startswith(self._root)
        )

    def asking(self, frame, past_installed=False):
        """The frame that asks, unless it is installed or as the environment has it. What a text was made code of is
        asked for by whoever did that."""
        text = None
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            if self.is_installed(name) or code is self._keeper:
                if not (past_installed or code is self._keeper or self._hands_on(code)):
                    return None
            elif not name.startswith("<"):
                return None if name in self._trusted else frame
            else:
                text = text or _within(frame)
            frame = frame.f_back
        return text

    def opening(self, frame):
        """The agent's frame that has a file opened, and whether it is a test that does: whichever comes first, however
        many others are between. Where there is neither, it is the runner's doing."""
        text = None
        while frame is not None:
            name = frame.f_code.co_filename
            if self.is_installed(name):
                pass
            elif name in self._tests:
                return None, True
            elif name.startswith("<"):
                text = text or _within(frame)
            elif name not in self._trusted:
                return frame, False
            frame = frame.f_back
        return text, False

    def nearest(self, frame):
        """The first file that is not installed, or None."""
        while frame is not None:
            name = frame.f_code.co_filename
            if not self.is_installed(name) and not name.startswith("<"):
                return name
            frame = frame.f_back
        return None

    def is_import(self, frame):
        """Whether a file is opened by a statement such as “import”, not by what this is made of."""
        while frame is not None and self.is_installed(frame.f_code.co_filename):
            code = frame.f_code
            if code.co_name == "_find_and_load" and code.co_filename == "<frozen importlib._bootstrap>":
                return True
            frame = frame.f_back
        return False

    def shown_by(self, frame):
        """The part of Python that has a line of source read for a message, or for who asks for the source of something;
        None where it is read in any other way."""
        shows = False
        while frame is not None and self.is_installed(frame.f_code.co_filename):
            name = self._basename(frame.f_code.co_filename)
            if shows and name not in _SHOWS_SOURCE:
                return name
            shows = shows or name in _SHOWS_SOURCE
            frame = frame.f_back
        return None

    def _hands_on(self, code):
        name = self._basename(code.co_filename)
        return (name, None) in _HANDS_ON or (name, code.co_name) in _HANDS_ON


def _within(frame):
    # The program that “python -c” is given is nobody's but the command's.
    return frame if frame.f_back is not None else None


def is_of_itself(asked, asking, args):
    """Whether code that asks for a frame gets its own."""
    is_direct = asked is asking or asked.f_code.co_name == "currentframe"
    return is_direct and len(args) == 1 and args[0] is asking
