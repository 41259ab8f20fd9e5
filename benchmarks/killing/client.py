"""A program of somebody's that uses the Client, and says a line of each thing once it is acknowledged.

client.py push FOLDER SLUG FIRST LAST      pushes version after version
client.py begin SLUG NAME FIRST LAST N     begins run after run
client.py follow RUN                       tells of each rollout, until the run is over
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from killing import desk
from rollout import Client, RolloutError
from rollout.check import check
from rollout.compile import compile_environment
from rollout.source import read_one


def _push(client: Client, folder: str, slug: str, first: str, last: str) -> None:
    for version in range(int(first), int(last) + 1):
        home = desk.write(Path(folder), slug, version)
        compiled = compile_environment(check(read_one(home)).environment())
        pushed = client.push_environment({**compiled.environment, "verifier": compiled.verifier})
        _say("pushed", version, pushed["version"], "unchanged" if pushed["unchanged"] else "changed")


def _begin(client: Client, slug: str, name: str, first: str, last: str, n: str) -> None:
    for number in range(int(first), int(last) + 1):
        begun = client.create_run(slug, f"random:{number}", int(n), name=name.replace("#", str(number)))
        _say("begun", number, begun["runId"])


def _follow(client: Client, run_id: str) -> None:
    for event in client.watch_run(run_id):
        if event.kind == "rollout":
            _say("rollout", event.data["id"])
        elif event.kind == "end":
            _say("end", event.data["status"])


_PROGRAMS: dict[str, Callable[..., None]] = {"push": _push, "begin": _begin, "follow": _follow}


def _say(*words: object) -> None:
    print(*words, flush=True)


def main() -> int:
    """Does one of the three; ends with 3 where that is to be tried again, and with 4 where it is refused."""
    what, *arguments = sys.argv[1:]
    try:
        with Client() as client:
            _PROGRAMS[what](client, *arguments)
    except RolloutError as error:
        print(f"error: {error}", file=sys.stderr)
        # 409: the server was killed while it answered the same request, and does not know what came of it.
        return 3 if error.status in (0, 409) or error.status >= 500 else 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
