"""A witness: a plugin of a test runner, loaded before any code under test, that reports what became of each test.

An exit status of 0 says little: code under test can end the process with it. A witness reports on a pipe of its own,
and signs every line with a key that only the first reader gets, so that a report cannot be forged by whoever comes
later, cut short, or reordered. It runs inside the test runner, beside the code under test, so nothing in it can be
out of that code's reach for certain. It watches: what the runner is made of, who calls it, and who asks Python or Node
for what leads to it; and its findings have to agree with each other and with the exit status.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

RunnerName = Literal["pytest", "unittest", "node", "jest", "vitest"]

KIT = Path(__file__).parent / "kit"

_OF_PYTHON = (
    "rollout_equal.py",
    "rollout_files.py",
    "rollout_frames.py",
    "rollout_handed.py",
    "rollout_library.py",
    "rollout_lines.py",
    "rollout_programs.py",
    "rollout_texts.py",
    "rollout_watch.py",
    "rollout_witness.py",
)
_FILES: Mapping[str, tuple[str, ...]] = {
    "pytest": (*_OF_PYTHON, "rollout_witness_pytest.py"),
    "unittest": (*_OF_PYTHON, "sitecustomize.py"),
    "node": (
        "witness.cjs",
        "node_callers.cjs",
        "node_children.cjs",
        "node_files.cjs",
        "node_guard.cjs",
        "node_library.cjs",
        "node_reporter.mjs",
        "node_tests.cjs",
    ),
    "jest": ("witness.cjs", "jest_reporter.cjs"),
    "vitest": ("witness.cjs", "vitest_reporter.mjs"),
}


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness for one run of a test runner; ``key`` is used once. ``trusted`` are the files laid down that nobody but
    the environment has written, by path: what they do to the runner is their business, and what is run has to be these.
    Of them, ``tests`` are tests and their helpers, ``guarded`` are not to be written by code under test, and ``secret``
    not to be read by it of its own accord. ``written`` are the files that the agent wrote. ``allowed`` are names that
    code under test may reach for, ``doubtful`` those that honest code may need as well, and ``starters`` the files that
    may start programs.
    """

    runner: RunnerName
    trusted: Mapping[str, str] = field(default_factory=dict)
    tests: Collection[str] = ()
    guarded: Collection[str] = ()
    secret: Collection[str] = ()
    written: Collection[str] = ()
    allowed: Collection[str] = ()
    doubtful: Collection[str] = ()
    starters: Collection[str] = ()
    key: bytes = field(default_factory=lambda: secrets.token_hex(32).encode("ascii"), repr=False)

    def files(self) -> dict[str, str]:
        """What has to be in the folder ``kit`` that the runner loads the witness from."""
        files = {name: (KIT / name).read_text(encoding="utf-8") for name in _FILES[self.runner]}
        digests = {
            path: hashlib.sha256(content.encode("utf-8")).hexdigest()
            for path, content in self.trusted.items()
        }
        watched = {
            "tests": sorted(self.tests),
            "guarded": sorted(self.guarded),
            "secret": sorted(self.secret),
            "written": sorted(self.written),
            "allowed": sorted(self.allowed),
            "doubtful": sorted(self.doubtful),
            "starters": sorted(self.starters),
        }
        return {**files, "trusted.json": json.dumps(digests), "watched.json": json.dumps(watched)}

    def variables(self, shown: str) -> dict[str, str]:
        """The variables that make the runner load it; ``shown`` is where the job's folder is seen."""
        kit = f"{shown}/kit"
        found = {"ROLLOUT_WITNESS": shown}
        if self.runner == "pytest":
            # The working folder comes first on the path of `python -m`, where a file pytest.py would be taken for
            # pytest. The witness puts it back once pytest itself is loaded.
            found |= {"PYTHONPATH": kit, "PYTHONSAFEPATH": "1", "PYTEST_ADDOPTS": "-p rollout_witness_pytest"}
            # Whatever plugins are installed here are no part of the environment.
            found["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        elif self.runner == "unittest":
            found |= {"PYTHONPATH": kit, "PYTHONSAFEPATH": "1"}
        elif self.runner == "node":
            reporters = [f"--test-reporter={kit}/node_reporter.mjs", "--test-reporter-destination=stderr"]
            reporters += ["--test-reporter=spec", "--test-reporter-destination=stdout"]
            found["NODE_OPTIONS"] = " ".join([f"--require={kit}/node_guard.cjs", *reporters])
        return found

    def arguments(self, line: str, shown: str) -> str:
        """What is written after a command line, for a runner that takes its reporters from there only."""
        # npm takes what comes before -- for its own.
        after = " --" if line.split(maxsplit=1)[0] == "npm" and " -- " not in line else ""
        if self.runner == "jest":
            # What an earlier file of tests left in the cache is none of a later one's business.
            return f"{after} --no-cache --reporters={shown}/kit/jest_reporter.cjs --reporters=default"
        if self.runner == "vitest":
            return f"{after} --reporter={shown}/kit/vitest_reporter.mjs --reporter=default"
        return ""


class ForgedError(ValueError):
    """A report with a line in it that the witness did not write; its text is a sentence."""


def read_report(data: bytes, key: bytes) -> list[dict[str, Any]]:
    """The events of a report, in order. Raises ForgedError.

    A line is ``<hex digits> <json>``. The digits are HMAC-SHA256 under ``key`` of those of the line before (nothing for
    the first), and the JSON.
    """
    events: list[dict[str, Any]] = []
    before = b""
    for line in data.split(b"\n"):
        if not line:
            continue
        mark, _, text = line.partition(b" ")
        expected = hmac.new(key, before + text, hashlib.sha256).hexdigest().encode("ascii")
        if not hmac.compare_digest(mark, expected):
            raise ForgedError("Something other than the test runner wrote to its report.")
        before = expected
        try:
            event = json.loads(text)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            raise ForgedError("The report of the test runner cannot be read.")
        events.append(event)
    return events


__all__ = ["KIT", "ForgedError", "RunnerName", "Witness", "read_report"]
